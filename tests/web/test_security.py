"""Everything that must be refused, with the right status: by hand over HTTP, as an attacker would."""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import re
import select
import socket
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from urllib.parse import urlencode

import pytest
from starlette.routing import Route
from tests.e2e.clients.process import wait_until
from tests.permissions.test_desk import PUSH
from tests.web.house import USER, WAIT, House, Reply, confirm, new_ask, new_house, text

from sayso.asks.mark import mark
from sayso.asks.model import Ask, Asker, State
from sayso.asks.quorum import Demand, Quorum, yeses_of
from sayso.permissions.action import asking
from sayso.web.app import all_routes


@dataclass(frozen=True, kw_only=True)
class Browser:
    """A signed-in browser, by hand."""

    house: House
    cookie: str
    csrf: str
    host: str

    def get(self, path: str) -> Reply:
        return self.house.web.call("GET", path, cookie=self.cookie, host=self.host)

    def post(self, path: str, **more: str) -> Reply:
        return self.house.web.call("POST", path, form={"csrf": self.csrf, **more}, cookie=self.cookie, host=self.host)


@pytest.fixture
def ask(house: House) -> Ask:
    return house.ask(confirm())


@pytest.fixture
def ada(house: House) -> Browser:
    return sign_in(house, USER)


def sign_in(house: House, user: str) -> Browser:
    cookie, host = f"{house.cookie_name}={house.session(user)}", house.host_of(user)
    shown = house.web.call("GET", "/settings", cookie=cookie, host=host)
    assert shown.status == 200
    (csrf,) = set(re.findall(r'name="csrf" value="(\w+)"', shown.text))
    return Browser(house=house, cookie=cookie, csrf=csrf, host=host)


PAGES = ("/", "/history", "/commands", "/settings", "/asks/{ask}", "/asks/{ask}/questions/0")
ACTIONS = ("/asks/{ask}", "/asks/{ask}/draft", "/settings", "/settings/device", "/sign-out")
CALLS = ("/api/me", "/api/asks", "/api/operations", "/api/history", "/api/asks/{ask}", "/api/asks/{ask}/events")

FROM_STRANGERS = ("/sign-in", "/oauth/register", "/oauth/token", "/oauth/revoke")
"""Where nobody is signed in yet, or a program is."""


# Who


@pytest.mark.parametrize("path", PAGES)
def test_without_a_cookie_a_page_is_refused_with_a_way_to_sign_in(house: House, ask: Ask, path: str) -> None:
    reply = house.web.call("GET", path.format(ask=ask.id))
    assert reply.status == 401
    assert "Sign in to Sayso" in reply.text
    assert reply.headers["www-authenticate"].startswith("Bearer")
    assert "May I?" not in reply.text


@pytest.mark.parametrize("path", ACTIONS)
def test_without_a_cookie_an_action_is_refused(house: House, ask: Ask, path: str) -> None:
    assert house.web.call("POST", path.format(ask=ask.id), form={"settle": "answer", "q0": "0"}).status == 401
    assert house.desk.get(ask.id).state is State.PENDING


@pytest.mark.parametrize("path", [*CALLS, "/events"])
def test_without_a_session_a_call_is_refused(house: House, ask: Ask, path: str) -> None:
    for headers in ({}, {"Authorization": "Bearer nonsense"}, {"Authorization": "Basic YTpi"}):
        if path != "/events" or not headers:
            assert house.web.call("GET", path.format(ask=ask.id), headers=headers).status == 401


def test_a_made_up_cookie_is_refused(house: House) -> None:
    for value in ("x", "a" * 5000, '"', "%00"):
        assert house.web.call("GET", "/", cookie=f"{house.cookie_name}={value}").status == 401


@pytest.mark.parametrize("path", ACTIONS)
@pytest.mark.parametrize("csrf", ["", "0" * 64, "ä"])
def test_without_the_sessions_csrf_token_an_action_is_refused(
    house: House, ada: Browser, ask: Ask, path: str, csrf: str
) -> None:
    form = {"csrf": csrf, "settle": "answer", "q0": "0"}
    reply = house.web.call("POST", path.format(ask=ask.id), form=form, cookie=ada.cookie)
    assert reply.status == 403
    assert "This form was not made for your session" in reply.text
    assert house.desk.get(ask.id).state is State.PENDING


def test_each_address_that_changes_something_asks_who_sends_it_and_for_their_csrf_token(
    house: House, ada: Browser, ask: Ask
) -> None:
    form, addresses = {"csrf": "0" * 64}, list(changing(ask))
    assert len(addresses) > 50
    for method, path in addresses:
        by_strangers = house.web.call(method, path, form=form)
        without_token = house.web.call(method, path, form=form, cookie=ada.cookie)
        assert (by_strangers.status, without_token.status) == (401, 403), path


def changing(ask: Ask) -> Iterator[tuple[str, str]]:
    """What a signed-in browser can send to, by method and path. What is named in a path need not be there: it is looked
    for once it is known who asks."""
    for route in all_routes():
        if isinstance(route, Route) and route.path not in FROM_STRANGERS:
            path = re.sub(r"{\w+(:int)?}", lambda name: "1" if name[1] else ask.id, route.path)
            yield from ((method, path) for method in sorted(route.methods or ()) if method not in ("GET", "HEAD"))


def test_the_csrf_token_of_another_session_is_refused(house: House, ada: Browser, ask: Ask) -> None:
    other = sign_in(house, USER)
    form = {"csrf": other.csrf, "settle": "answer", "q0": "0"}
    assert house.web.call("POST", f"/asks/{ask.id}", form=form, cookie=ada.cookie).status == 403


def test_a_browsers_call_of_the_api_needs_its_csrf_token_and_a_scripts_does_not(
    house: House, ada: Browser, ask: Ask
) -> None:
    path, data = f"/api/asks/{ask.id}/reject", {"reason": "no"}
    assert house.web.call("POST", path, data=data, cookie=ada.cookie).status == 403
    assert house.web.call("POST", path, data=data, cookie=ada.cookie, headers={"X-CSRF-Token": ada.csrf}).status == 200
    again = house.ask(confirm())
    bearer = {"Authorization": f"Bearer {house.session()}"}
    assert house.web.call("POST", f"/api/asks/{again.id}/reject", data=data, headers=bearer).status == 200


def test_every_answer_records_who_gave_it_and_where(house: House, ask: Ask) -> None:
    grace = sign_in(house, "grace")
    assert grace.post(f"/asks/{ask.id}", settle="answer", q0="0", shown=mark(ask)).status == 303
    outcome = house.desk.get(ask.id).outcome
    assert outcome is not None
    assert (outcome.person, outcome.surface) == ("grace", "browser")


@pytest.mark.parametrize(
    "path", ["/asks/{ask}", "/asks/{ask}/questions/0", "/api/asks/{ask}", "/api/asks/{ask}/events"]
)
def test_the_ask_of_another_user_is_not_found(house: House, ada: Browser, path: str) -> None:
    theirs = house.hold(new_ask(confirm(), asker=Asker(client="codex", owner="grace"))).ask
    assert house.web.call("GET", path.format(ask=theirs.id), cookie=ada.cookie).status == 404
    missing = house.web.call("GET", path.format(ask="0" * 32), cookie=ada.cookie)
    assert missing.status == 404
    grace = sign_in(house, "grace")
    assert grace.get(path.format(ask=theirs.id)).status == 200


def test_who_has_to_agree_sees_what_anothers_agent_wants_and_can_take_a_yes_back(house: House, ada: Browser) -> None:
    demand = Demand(rule="Bash", place="/etc/sayso/rules.toml:1", people=("ada", "grace"), need=2)
    new = new_ask(confirm("May it?"), asker=Asker(client="codex", owner="cy"))
    ask = house.hold(asking(new, PUSH, quorum=Quorum(demands=(demand,), whose="cy"))).ask
    assert ada.post(f"/asks/{ask.id}", settle="allow-once", digest=ask.digest).status == 303
    shown = ada.get(f"/asks/{ask.id}").text
    assert "Agreed: ada. Awaited: 1 more of grace." in shown
    for path in (f"/asks/{ask.id}", "/", f"/asks/{ask.id}/row"):
        assert "Take my yes back" in ada.get(path).text
        assert "data-allow" not in ada.get(path).text
    assert "You have agreed. Awaited: 1 more of grace." in ada.get("/").text
    assert "data-allow" in sign_in(house, "grace").get("/").text
    assert ada.post(f"/asks/{ask.id}", settle="take-back").status == 303
    assert yeses_of(house.desk.get(ask.id)) == ()
    assert ada.post(f"/asks/{ask.id}", settle="take-back").status == 422
    assert sign_in(house, "eve").get(f"/asks/{ask.id}").status == 404


def test_the_ask_of_another_user_can_neither_be_settled_nor_drafted_nor_listed(house: House, ada: Browser) -> None:
    theirs = house.hold(new_ask(confirm("Only for grace?"), asker=Asker(client="codex", owner="grace"))).ask
    assert ada.post(f"/asks/{theirs.id}", settle="answer", q0="0").status == 404
    assert ada.post(f"/asks/{theirs.id}", settle="reject").status == 404
    assert ada.post(f"/asks/{theirs.id}/draft", q0="0").status == 404
    bearer = {"Authorization": f"Bearer {house.session()}"}
    bodies: dict[str, dict[str, list[str]]] = {"answer": {"answers": []}, "reject": {}}
    for action, data in bodies.items():
        assert house.web.call("POST", f"/api/asks/{theirs.id}/{action}", data=data, headers=bearer).status == 404
    for path in ("/", f"/?sent={theirs.id}", f"/?after={theirs.id}", "/api/asks"):
        assert "Only for grace?" not in house.web.call("GET", path, cookie=ada.cookie).text
    assert house.desk.get(theirs.id).state is State.PENDING


@pytest.mark.parametrize("wrong", ["x", "0" * 31, "0" * 33, "G" * 32, "..%2f..%2fetc", "%00" * 32, "%F0%9F%98%80"])
def test_what_is_no_id_is_not_found(house: House, ada: Browser, wrong: str) -> None:
    for path in (f"/asks/{wrong}", f"/api/asks/{wrong}"):
        assert house.web.call("GET", path, cookie=ada.cookie).status == 404


# Signing in


def test_a_used_link_is_refused(house: House) -> None:
    link = house.accounts.make_link(USER)
    assert redeem(house, link).status == 303
    again = redeem(house, link)
    assert again.status == 403
    assert "This link has been used or is too old." in again.text


def test_looking_at_a_link_does_not_use_it_up(house: House) -> None:
    link = house.accounts.make_link(USER)
    for method in ("GET", "HEAD", "GET"):
        assert house.web.call(method, f"/sign-in?link={link}").status == 200
    assert redeem(house, link).status == 303


def test_the_sign_in_form_is_bound_to_the_browser_it_was_shown_in(house: House) -> None:
    link = house.accounts.make_link(USER)
    token = house.web.call("GET", "/sign-in").cookies[0].split(";")[0].partition("=")[2]
    assert house.web.call("POST", "/sign-in", form={"csrf": token, "link": link}).status == 403
    assert house.web.call("POST", "/sign-in", form={"link": link}, cookie="sayso_form_=").status == 403
    assert redeem(house, link).status == 303


def test_of_two_sign_in_forms_that_were_shown_at_once_either_is_taken(house: House) -> None:
    shown = [house.web.call("GET", "/sign-in").cookies[0].split(";")[0] for _ in range(2)]
    for form in shown:
        sent = {"csrf": form.partition("=")[2], "link": house.accounts.make_link(USER)}
        # A browser keeps cookies by their names.
        jar = dict(one.split("=", 1) for one in shown)
        cookie = "; ".join(f"{name}={value}" for name, value in jar.items())
        assert house.web.call("POST", "/sign-in", form=sent, cookie=cookie).status == 303


def test_nobody_is_led_elsewhere_by_signing_in(house: House) -> None:
    for target in ("//evil.example", "https://evil.example", "/\\evil.example", "evil", "/\tx", "javascript:x"):
        assert redeem(house, house.accounts.make_link(USER), target).headers["location"] == "/"
    assert redeem(house, house.accounts.make_link(USER), "/history?q=1").headers["location"] == "/history?q=1"


def redeem(house: House, link: str, target: str = "/", host: str | None = None) -> Reply:
    form = house.web.call("GET", "/sign-in", host=host).cookies[0].split(";")[0]
    sent = {"csrf": form.partition("=")[2], "link": link, "next": target}
    return house.web.call("POST", "/sign-in", form=sent, cookie=form, host=host)


def test_after_ten_wrong_links_a_minute_no_wrong_one_is_taken_and_a_good_one_still_is() -> None:
    with new_house() as house:
        assert [redeem(house, "guess").status for _ in range(10)] == [403] * 10
        refused = redeem(house, "guess")
        assert refused.status == 429
        assert 0 < int(refused.headers["retry-after"]) <= 61
        assert redeem(house, house.accounts.make_link(USER)).status == 303


def test_a_good_link_that_is_opened_many_times_at_once_counts_as_no_wrong_one() -> None:
    with new_house() as house, ThreadPoolExecutor(max_workers=12) as thumbs:
        link = house.accounts.make_link(USER)
        opened = [reply.status for reply in thumbs.map(lambda _: redeem(house, link), range(12))]
        assert sorted(opened) == [303] + [403] * 11
        assert [redeem(house, "guess").status for _ in range(10)] == [403] * 10
        assert redeem(house, "guess").status == 429
        assert redeem(house, link).status == 403, "it is told that it has been used"


def test_the_session_cookie_is_strict_and_out_of_reach(house: House) -> None:
    (cookie,) = redeem(house, house.accounts.make_link(USER)).cookies
    attributes = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/", "max-age=2592000"} <= attributes


def test_signing_out_ends_the_session_on_the_server(house: House, ada: Browser) -> None:
    reply = ada.post("/sign-out")
    assert reply.status == 303
    assert reply.headers["clear-site-data"] == '"storage"'
    assert house.web.call("GET", "/", cookie=ada.cookie).status == 401


def test_a_revoked_user_is_out_at_once_with_every_session_and_token(house: House) -> None:
    mallory = sign_in(house, "mallory")
    bearer = {"Authorization": f"Bearer {house.session('mallory')}"}
    assert house.web.call("GET", "/api/me", headers=bearer).status == 200
    house.accounts.revoke_user("mallory")
    assert mallory.get("/").status == 401
    assert house.web.call("GET", "/api/me", headers=bearer).status == 401
    assert mallory.post("/settings/device").status == 401


def test_a_browser_that_is_signed_out_elsewhere_is_told_nothing_more_however_busy_the_inbox_is(house: House) -> None:
    secret = house.session()
    cookie = f"{house.cookie_name}={secret}"
    with closing(http.client.HTTPConnection("127.0.0.1", house.web.port, timeout=WAIT)) as line:
        line.request("GET", "/events", headers={"Cookie": cookie, "Host": house.web.host})
        stream = line.getresponse()
        lines = iter(stream.readline, b"")
        house.ask(text("Before?"))
        assert next(each for each in lines if b"Before?" in each)
        house.accounts.end_session(hashlib.sha256(secret.encode()).hexdigest(), USER)
        house.ask(text("After?"))
        rest = list(lines)
    assert b"event: bye\n" in rest
    assert b"After?" not in b"".join(rest)


@pytest.mark.parametrize("way", ["form", "api"])
def test_what_was_begun_before_its_sender_was_shut_out_and_ends_after_is_refused(house: House, way: str) -> None:
    user, ask = f"slow-{way}", house.ask(confirm())
    secret = house.session(user)
    if way == "api":
        path, body, kind = f"/api/asks/{ask.id}/reject", b'{"reason": "no"}', "application/json"
        headers = {"Host": house.web.host, "Authorization": f"Bearer {secret}"}
    else:
        cookie, host = f"{house.cookie_name}={secret}", house.host_of(user)
        shown = house.web.call("GET", f"/asks/{ask.id}", cookie=cookie, host=host).text
        fields = {"settle": "reject", **dict(re.findall(r'name="(csrf|shown)" value="(\w+)"', shown))}
        path, body, kind = f"/asks/{ask.id}", urlencode(fields).encode(), "application/x-www-form-urlencoded"
        headers = {"Host": host, "Cookie": cookie}
    with closing(http.client.HTTPConnection("127.0.0.1", house.web.port, timeout=WAIT)) as line:
        line.putrequest("POST", path, skip_host=True)
        for name, value in {**headers, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            line.putheader(name, value)
        line.endheaders(body[:5])
        begun = time.monotonic()
        assert wait_until(lambda: time.monotonic() - begun > 1, WAIT)
        house.accounts.revoke_user(user)
        line.send(body[5:])
        assert line.getresponse().status == 401
    assert house.desk.get(ask.id).state is State.PENDING


def test_everybody_who_looks_at_a_page_counts_and_nobody_who_has_left(house: House) -> None:
    def tells(user: str, cookie: str, number: int, sight: str) -> None:
        page = house.web.call("GET", "/settings", cookie=cookie, host=house.host_of(user)).text
        form = {"csrf": re.findall(r'name="csrf" value="(\w+)"', page)[0], "tab": "1", "ago": "0"}
        form |= {"number": str(number), "sight": sight}
        assert house.web.call("POST", "/sight", cookie=cookie, form=form, host=house.host_of(user)).status == 204

    def looking() -> list[str]:
        return [each.person for each in house.desk.open_surfaces()]

    with ExitStack() as open_pages:
        cookies = {}
        for user in (USER, "bo"):
            cookies[user] = f"{house.cookie_name}={house.session(user)}"
            line = open_pages.enter_context(
                closing(http.client.HTTPConnection("127.0.0.1", house.web.port, timeout=WAIT))
            )
            line.request("GET", "/events", headers={"Cookie": cookies[user], "Host": house.host_of(user)})
            line.getresponse().readline()
            tells(user, cookies[user], 1, "used")
        assert wait_until(lambda: looking() == [USER, "bo"], WAIT), looking()
        tells(USER, cookies[USER], 2, "hidden")
        assert wait_until(lambda: looking() == ["bo"], WAIT), looking()


def test_an_agents_token_opens_neither_the_inbox_nor_the_api(house: House) -> None:
    bearer = {"Authorization": f"Bearer {house.accounts.add_token('an-agent')}"}
    assert house.web.call("GET", "/api/asks", headers=bearer).status == 401
    assert house.web.call("GET", "/", headers=bearer).status == 401


# From where


FOREIGN = (
    "https://evil.example",
    "null",
    "http://127.0.0.1",
    "http://127.0.0.1:1",
    "http://localhost.evil.example:{port}",
    "http://127.0.0.1.evil.example:{port}",
    "https://127.0.0.1",
    "file://",
    "http://[",
    "",
    "https://{host}",
    "http://{host}/",
    "http://x@{host}",
    "http://127.0.0.1:{port}",
    "http://127.0.0.2:{port}",
)


@pytest.mark.parametrize("origin", FOREIGN)
def test_a_foreign_page_is_refused_whatever_it_calls(house: House, ada: Browser, ask: Ask, origin: str) -> None:
    headers = {"Origin": origin.format(port=house.web.port, host=house.web.host)}
    form = {"csrf": ada.csrf, "settle": "answer", "q0": "0"}
    for path in (f"/asks/{ask.id}", "/sign-in", "/api/me"):
        assert house.web.call("POST", path, form=form, cookie=ada.cookie, headers=headers).status == 403
    for path in ("/", "/events", "/api/asks", "/mcp"):
        assert house.web.call("GET", path, cookie=ada.cookie, headers=headers).status == 403
    assert house.desk.get(ask.id).state is State.PENDING


def test_a_page_that_claims_two_origins_or_another_address_of_loopback_is_refused(house: House) -> None:
    plain = f"127.0.0.1:{house.web.port}"
    ours = f"http://{plain}".encode()
    for origins in ([ours, b"https://evil.example"], [ours, ours], [b"http://127.0.0.2:%d" % house.web.port]):
        lines = b"".join(b"Origin: " + origin + b"\r\n" for origin in origins)
        with socket.create_connection(("127.0.0.1", house.web.port), WAIT) as raw:
            raw.sendall(b"GET /healthz HTTP/1.1\r\nHost: " + plain.encode() + b"\r\n" + lines + b"\r\n")
            assert raw.recv(100).startswith(b"HTTP/1.1 403")
    assert house.web.call("GET", "/healthz", host=plain, headers={"Origin": ours.decode()}).status == 200


def test_our_own_page_is_let_in(house: House, ada: Browser) -> None:
    ask = house.ask(confirm())
    form = {"csrf": ada.csrf, "settle": "answer", "q0": "0", "shown": mark(ask)}
    headers = {"Origin": house.web.address}
    assert house.web.call("POST", f"/asks/{ask.id}", form=form, cookie=ada.cookie, headers=headers).status == 303


@pytest.mark.finding("F-30")
@pytest.mark.parametrize("name", ["127.0.0.1", "127.0.0.2", "localhost", "[::1]"])
def test_a_cookie_counts_for_nothing_under_a_name_that_other_servers_have_too(
    house: House, ada: Browser, ask: Ask, name: str
) -> None:
    host = f"{name}:{house.web.port}"
    form = {"csrf": ada.csrf, "settle": "answer", "q0": "0", "shown": mark(ask)}
    private = house.web.host.partition(":")[0]
    for path in ("/", "/settings", "/events", "/api/me", f"/asks/{ask.id}"):
        reply = house.web.call("GET", path, cookie=ada.cookie, host=host)
        assert reply.status == 401
        assert private not in reply.text + str(reply.headers), "whoever asks does not learn the private name"
        assert house.accounts.private_path(USER) not in reply.text + str(reply.headers), "nor the private path"
    assert house.web.call("POST", f"/asks/{ask.id}", form=form, cookie=ada.cookie, host=host).status == 401
    assert house.desk.get(ask.id).state is State.PENDING


@pytest.mark.finding("F-30")
def test_a_link_at_the_plain_address_leads_below_the_private_path_and_signs_in_there_alone(house: House) -> None:
    link, plain, below = (
        house.accounts.make_link(USER),
        f"127.0.0.1:{house.web.port}",
        house.accounts.private_path(USER),
    )
    assert below not in house.web.call("GET", f"/sign-in?link={link}", host=plain).text
    token = house.web.call("GET", "/asks/1?x=2", host=plain).cookies[0].split(";")[0]
    sent = {"csrf": token.partition("=")[2], "link": link, "next": "/history"}
    signed_in = house.web.call("POST", "/sign-in", form=sent, cookie=token, host=plain)
    assert signed_in.status == 303
    assert signed_in.headers["location"] == f"{below}/history"
    (set_cookie,) = signed_in.cookies
    assert f"Path={below}/;" in f"{set_cookie};"
    cookie = set_cookie.partition(";")[0]
    assert house.web.call("GET", f"{below}/", cookie=cookie, host=plain).status == 200
    assert house.web.call("GET", f"{below}/api/me", cookie=cookie, host=plain).status == 200
    assert house.web.call("GET", "/", cookie=cookie, host=plain).status == 401
    assert house.web.call("GET", f"{below[:-1]}/", cookie=cookie, host=plain).status == 404
    assert house.web.call("GET", f"{below}/", cookie=cookie).status == 404, "the private name needs none"


@pytest.mark.finding("F-30")
def test_a_cookie_counts_for_nothing_at_the_address_of_another_person(house: House, ada: Browser, ask: Ask) -> None:
    grace, plain = sign_in(house, "grace"), f"127.0.0.1:{house.web.port}"
    assert ada.host != grace.host
    for path in ("/", f"/asks/{ask.id}", "/api/me"):
        assert house.web.call("GET", path, cookie=ada.cookie, host=grace.host).status == 401
    below = house.accounts.private_path("grace")
    assert house.web.call("GET", f"{below}/", cookie=ada.cookie, host=plain).status == 401
    assert house.web.call("GET", f"{below}/", cookie=grace.cookie, host=plain).status == 200


@pytest.mark.finding("F-30")
def test_a_name_or_path_that_we_did_not_sign_is_nobodys(house: House, ada: Browser) -> None:
    first, last = ada.host.partition("-")[2][0], ada.host.partition(".")[0][-1]
    for wrong in (
        ada.host.replace(f"sayso-{first}", f"sayso-{'b' if first == 'a' else 'a'}", 1),
        ada.host.replace(f"{last}.", f"{'b' if last == 'a' else 'a'}.", 1),
        ada.host.replace("sayso-", "sayso-a", 1),
        ada.host.replace("sayso-", "x.sayso-", 1),
    ):
        assert house.web.call("GET", "/", cookie=ada.cookie, host=wrong).status == 421


@pytest.mark.finding("F-30")
def test_a_link_that_is_opened_at_the_address_of_another_leads_to_its_own_and_is_used_there(house: House) -> None:
    house.accounts.add_user("grace")
    plain, theirs = f"127.0.0.1:{house.web.port}", house.accounts.private_path("grace")
    link, before = house.accounts.make_link("grace"), "?next=/history&link="
    here = house.web.call("GET", f"/sign-in{before}{link}")
    assert f"http://{house.host_of('grace')}/sign-in?link={link}&amp;next=%2Fhistory" in here.text
    below = house.web.call("GET", f"{house.accounts.private_path(USER)}/sign-in{before}{link}", host=plain)
    assert f"http://{plain}{theirs}/sign-in?link={link}&amp;next=%2Fhistory" in below.text
    assert redeem(house, link).status == 200, "nor is it used up by its button there"
    assert redeem(house, link, host=house.host_of("grace")).status == 303
    assert "Go there" not in house.web.call("GET", f"/sign-in?link={link}").text


@pytest.mark.finding("F-30")
def test_at_the_name_and_the_path_that_all_people_shared_once_a_link_leads_on(house: House, ada: Browser) -> None:
    name, path = _shared_once(house)
    host, plain = f"{name}:{house.web.port}", f"127.0.0.1:{house.web.port}"
    assert house.web.call("GET", "/", cookie=ada.cookie, host=host).status == 401
    link = house.accounts.make_link(USER)
    assert f"http://{ada.host}/sign-in?link={link}" in house.web.call("GET", f"/sign-in?link={link}", host=host).text
    moved = house.web.call("GET", f"{path}/history", cookie=ada.cookie, host=plain)
    assert (moved.status, moved.headers["location"]) == (303, "/history")
    assert house.web.call("GET", "/history", cookie=ada.cookie, host=plain).status == 401


def _shared_once(house: House) -> tuple[str, str]:
    """The name and the path of everybody in version 0.1.0."""
    with closing(sqlite3.connect(house.place.database)) as connection:
        (key,) = connection.execute("SELECT value FROM meta WHERE key = 'csrf_key'").fetchone()
    name, path = (hmac.new(bytes.fromhex(key), text, hashlib.sha256).digest() for text in (b"host name", b"path"))
    letters = [base64.b32encode(digest).decode().lower() for digest in (name[:10], path[:15])]
    return f"sayso-{letters[0]}.localhost", f"/{letters[1]}"


@pytest.mark.finding("F-30")
def test_a_wrong_link_at_the_plain_address_tells_nothing(house: House) -> None:
    plain = f"localhost:{house.web.port}"
    token = house.web.call("GET", "/sign-in?link=guess", host=plain).cookies[0].split(";")[0]
    sent = {"csrf": token.partition("=")[2], "link": "guess"}
    refused = house.web.call("POST", "/sign-in", form=sent, cookie=token, host=plain)
    assert refused.status == 403
    assert house.web.host.partition(":")[0] not in refused.text
    assert house.accounts.private_path(USER) not in refused.text + str(refused.headers)


@pytest.mark.finding("F-30")
def test_a_program_with_a_token_is_let_in_at_the_plain_address(house: House) -> None:
    bearer = {"Authorization": f"Bearer {house.session()}"}
    assert house.web.call("GET", "/api/me", headers=bearer, host=f"127.0.0.1:{house.web.port}").status == 200


REBOUND = (
    "evil.example",
    "evil.example:{port}",
    "127.0.0.1.evil.example",
    "localhost.evil.example:{port}",
    "192.168.1.7:{port}",
    "0.0.0.0:{port}",
    "[2001:db8::1]:{port}",
    "localhost:port",
    "127.0.0.1:99999",
    "evil.example@127.0.0.1:{port}",
    "@127.0.0.1",
    "127.0.0.1:{port}/evil.example",
)


@pytest.mark.parametrize("host", REBOUND)
def test_a_name_that_is_not_ours_is_refused(house: House, ada: Browser, ask: Ask, host: str) -> None:
    called = host.format(port=house.web.port)
    for path in ("/", "/api/asks", f"/asks/{ask.id}", "/static/app.js", "/mcp", "/healthz"):
        reply = house.web.call("GET", path, cookie=ada.cookie, host=called)
        assert reply.status == 421
        assert "does not answer to the name" in reply.text
    headers = {"Origin": f"http://{called}"}
    assert house.web.call("POST", "/sign-in", form={}, host=called, headers=headers).status == 421


@pytest.fixture(scope="module")
def behind_a_proxy() -> Iterator[House]:
    with new_house(web_url="https://inbox.example.org", web_hosts="inner.example") as house:
        yield house


def test_behind_a_proxy_its_name_is_ours_and_only_its_own_scheme_may_call(behind_a_proxy: House) -> None:
    web = behind_a_proxy.web
    assert web.link.startswith("https://inbox.example.org/sign-in?link=")
    for host in ("inbox.example.org", "inner.example", "localhost"):
        assert web_call(behind_a_proxy, host) == 401
    assert web_call(behind_a_proxy, "other.example") == 421
    assert web_call(behind_a_proxy, "inbox.example.org", "https://inbox.example.org") == 401
    assert web_call(behind_a_proxy, "inbox.example.org", "http://inbox.example.org") == 403
    assert web_call(behind_a_proxy, "inbox.example.org", "https://inner.example") == 403


def web_call(house: House, host: str, origin: str = "") -> int:
    return house.web.call("GET", "/", host=host, headers={"Origin": origin} if origin else {}).status


# What browsers are told


@pytest.mark.parametrize(
    "path", ["/", "/sign-in", "/nowhere", "/static/app.js", "/api/openapi.json", "/manifest.webmanifest"]
)
def test_every_response_carries_the_headers_that_protect(house: House, ada: Browser, path: str) -> None:
    headers = house.web.call("GET", path, cookie=ada.cookie).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert "server" not in headers


def test_pages_are_not_kept_and_static_files_are(house: House, ada: Browser) -> None:
    assert house.web.call("GET", "/", cookie=ada.cookie).headers["cache-control"] == "no-store"
    page = house.web.call("GET", "/", cookie=ada.cookie).text
    (script,) = re.findall(r'src="(static/app\.js\?v=\w+)"', page)
    assert "immutable" in house.web.call("GET", f"/{script}").headers["cache-control"]


def test_no_page_holds_a_script_or_style_of_its_own(house: House, ada: Browser, ask: Ask) -> None:
    for path in ("/", f"/asks/{ask.id}", "/history", "/settings", "/sign-in"):
        page = house.web.call("GET", path, cookie=ada.cookie).text
        assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", page)


def test_behind_tls_cookies_are_for_tls_only(behind_a_proxy: House) -> None:
    reply = behind_a_proxy.web.call("GET", "/sign-in", host="inbox.example.org")
    assert "secure" in reply.cookies[0].lower()
    assert behind_a_proxy.cookie_name.startswith("__Host-sayso_")
    assert reply.headers["strict-transport-security"].startswith("max-age=")


def test_a_body_that_is_too_large_is_refused(house: House, ada: Browser, ask: Ask) -> None:
    huge = b"csrf=" + b"x" * (17 * 1024 * 1024)
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    assert house.web.call("POST", f"/asks/{ask.id}", body=huge, headers=headers, cookie=ada.cookie).status == 413
    many = {f"f{number}": "" for number in range(20_001)}
    assert house.web.call("POST", f"/asks/{ask.id}", form=many, cookie=ada.cookie).status == 413


@pytest.mark.parametrize("path", ["/sign-in", "/claude/relay-question?p=1"])
def test_a_stranger_may_send_little_and_all_strangers_together_not_much_more(house: House, path: str) -> None:
    plain, size = f"127.0.0.1:{house.web.port}", 60 * 1024
    kind = "application/json" if "relay" in path else "application/x-www-form-urlencoded"
    body = b"x" * (65 * 1024)
    assert house.web.call("POST", path, body=body, headers={"Content-Type": kind}, host=plain).status == 413
    head = f"POST {path} HTTP/1.1\r\nHost: {plain}\r\nContent-Type: {kind}\r\nContent-Length: {size}\r\n\r\n"
    with ExitStack() as opened:
        raws = [opened.enter_context(socket.create_connection(("127.0.0.1", house.web.port), WAIT)) for _ in range(160)]
        for raw in raws:
            raw.sendall(head.encode() + b"x" * (size - 1))
        ready, _, _ = select.select(raws, [], [], WAIT)
        assert ready[0].recv(100).startswith(b"HTTP/1.1 503")
        assert redeem(house, house.accounts.make_link(USER)).status == 303


def test_a_form_of_another_type_is_refused(house: House, ada: Browser, ask: Ask) -> None:
    for sent in ("text/plain", "application/json"):
        reply = house.web.call(
            "POST", f"/asks/{ask.id}", body=b"csrf=x", headers={"Content-Type": sent}, cookie=ada.cookie
        )
        assert reply.status == 415


def test_a_form_with_files_needs_its_token_as_any_other(house: House, ada: Browser, ask: Ask) -> None:
    for body in (b"", b"csrf=x", b'--x\r\nContent-Disposition: form-data; name="csrf"\r\n\r\nx\r\n--x--\r\n'):
        sent = {"Content-Type": "multipart/form-data; boundary=x"}
        reply = house.web.call("POST", f"/asks/{ask.id}", body=body, headers=sent, cookie=ada.cookie)
        assert reply.status == (400 if body == b"csrf=x" else 403)


@pytest.mark.finding("F-30")
def test_pages_and_scripts_name_no_address_from_the_root(house: House, ada: Browser, ask: Ask) -> None:
    """Below a private path such a link would lead out of it."""
    for path in ("/", f"/asks/{ask.id}", "/commands", "/talk", "/history", "/settings", "/nowhere"):
        page = house.web.call("GET", path, cookie=ada.cookie).text
        assert re.findall(r'(?:href|src|action|data-\w+)="/[^"]*"', page) == ['href="/"'], "the base alone"
    for name in ("app.js", "talk.js", "drafts.js", "guard.js", "worker.js"):
        assert not re.search(r"""["'`]/\w""", house.web.call("GET", f"/static/{name}").text)
