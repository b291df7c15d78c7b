"""A program wants to connect, and a person agrees in a real browser: the page it opens, the inbox, and back to it."""

from __future__ import annotations

import base64
import hashlib
import http.server
import json
import signal
import threading
from collections.abc import Callable, Iterator
from typing import ClassVar
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect
from tests.e2e.browser.conftest import PHONE, SignIn
from tests.e2e.browser.test_accessibility import check_looks
from tests.web.house import House

pytestmark = pytest.mark.usefixtures("read_quickly")

VERIFIER = "v" * 64


class Callback(http.server.BaseHTTPRequestHandler):
    came: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        self.came.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<h1>Back in the program</h1>")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def callback() -> Iterator[str]:
    """Where a program on this machine waits for the browser to come back."""
    Callback.came.clear()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Callback) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/callback"
        server.shutdown()


def wanted(house: House, callback: str, returns_to: str = "") -> str:
    """The address that the program opens, by the plain name that it knows."""
    plain = f"127.0.0.1:{house.web.port}"
    about = {"redirect_uris": [callback], "client_name": "Claude Code <i>(sayso)</i>"}
    client = house.web.call("POST", "/oauth/register", data=about, host=plain).data["client_id"]
    challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
    asked = {"response_type": "code", "client_id": client, "redirect_uri": returns_to or callback, "state": "s"}
    return f"http://{plain}/oauth/authorize?" + urlencode(
        {**asked, "code_challenge": challenge, "code_challenge_method": "S256"}
    )


@pytest.mark.parametrize("script", [True, False])
def test_a_program_is_let_in_from_the_inbox_and_disconnected_again(
    house: House, sign_in: SignIn, callback: str, script: bool
) -> None:
    inbox: Page = sign_in(java_script_enabled=script)
    opened = inbox.context.new_page()
    opened.goto(wanted(house, callback))
    expect(opened.get_by_role("heading", name="Go on in your inbox")).to_be_visible()
    mark = opened.locator("p.mark").inner_text()
    assert house.host_of() not in opened.content(), "the private address is told to nobody"
    if script:
        expect(inbox.locator("[data-connecting]")).to_contain_text(mark)
    else:
        inbox.goto("/settings")
    inbox.get_by_role("link", name="Look at it").first.click()
    expect(inbox.get_by_role("heading", name="Let this program ask you?")).to_be_visible()
    expect(inbox.locator("strong.mark")).to_have_text(mark)
    expect(inbox.locator(".facts")).to_contain_text("Claude Code <i>(sayso)</i>")
    inbox.get_by_role("button", name="Connect", exact=True).click()
    expect(inbox.get_by_role("heading", name="Back in the program")).to_be_visible()
    told = parse_qs(urlsplit(Callback.came[0]).query)
    assert (told["state"], told["iss"]) == (["s"], [f"http://127.0.0.1:{house.web.port}"])
    if not script:
        opened.reload()
    expect(opened.get_by_role("heading", name="Connected")).to_be_visible()
    form = {"grant_type": "authorization_code", "code": told["code"][0], "code_verifier": VERIFIER}
    named = parse_qs(urlsplit(opened.url).query)
    form |= {"client_id": named["client_id"][0], "redirect_uri": callback}
    plain = f"127.0.0.1:{house.web.port}"
    access = house.web.call("POST", "/oauth/token", form=form, host=plain).data["access_token"]
    assert let_in(house, access)
    inbox.goto(f"{house.web.address}/settings")
    inbox.get_by_role("button", name="Disconnect").first.click()
    expect(inbox.get_by_text("Disconnected. It is let in no more.")).to_be_visible()
    assert not let_in(house, access)


def test_every_program_that_waits_is_named_outlives_the_server_and_hears_at_once_and_for_good_what_was_decided(
    own_house: House, sign_in_to: Callable[..., Page], callback: str
) -> None:
    inbox = sign_in_to(own_house, **PHONE)
    pages = [inbox.context.new_page() for _ in range(2)]
    for page in pages:
        page.goto(wanted(own_house, callback).replace("state=s", f"state={pages.index(page)}"))
    marks = [page.locator("p.mark").inner_text() for page in pages]
    banner = inbox.locator("[data-connecting]")
    expect(banner).to_contain_text("2 programs want to connect")
    for mark in marks:
        expect(banner).to_contain_text(f"({mark})")
    own_house.web.stop(signal.SIGKILL)
    own_house.restart()
    inbox.goto("/")
    expect(banner).to_contain_text(marks[1])
    inbox.get_by_role("link", name="Look at them").tap()
    waiting = inbox.locator("#connections ~ p", has_text=marks[0])
    waiting.get_by_role("link", name="Look at it").tap()
    expect(inbox.locator("strong.mark")).to_have_text(marks[0])
    inbox.get_by_role("button", name="No", exact=True).tap()
    expect(inbox.get_by_role("heading", name="Back in the program")).to_be_visible()
    expect(pages[0].get_by_role("heading", name="Not connected")).to_be_visible()
    pages[0].reload()
    expect(pages[0].get_by_text("answered with no")).to_be_visible()
    inbox.goto("/")
    expect(banner).to_contain_text(f"({marks[1]}) wants to connect.")
    inbox.goto("/settings")
    inbox.get_by_role("button", name="Send it away").tap()
    expect(pages[1].get_by_text("sent away")).to_be_visible()


def test_both_pages_on_the_way_are_for_everyone(house: House, sign_in: SignIn, callback: str) -> None:
    inbox: Page = sign_in()
    opened = inbox.context.new_page()
    opened.goto(wanted(house, callback))
    check_looks(opened)
    inbox.get_by_role("link", name="Look at it").first.click()
    expect(inbox.get_by_role("heading", name="Let this program ask you?")).to_be_visible()
    check_looks(inbox)
    inbox.get_by_role("button", name="No", exact=True).click()
    expect(inbox.get_by_role("heading", name="Back in the program")).to_be_visible()
    expect(opened.get_by_role("heading", name="Not connected")).to_be_visible()
    check_looks(opened)


def test_an_address_that_would_add_to_the_page_s_policy_is_refused_and_nothing_of_the_inbox_leaks(
    house: House, sign_in: SignIn, callback: str
) -> None:
    inbox: Page = sign_in()
    evil = callback.removesuffix("/callback")
    opened = inbox.context.new_page()
    for sly in (
        f"{evil}; style-src-elem 'none'; report-uri {evil.replace('/', chr(92))}\r ; @{evil[7:]}/callback",
        f"{evil} https://evil.example/callback",
        f"{evil};report-uri {evil}/callback",
        f"{evil}/callback\n; report-uri {evil}",
        f"{evil}\\@{evil[7:]}/callback",
    ):
        reply = opened.goto(wanted(house, callback, sly))
        assert reply
        assert reply.status == 403
        assert "form-action 'self';" in reply.headers["content-security-policy"] + ";"
        assert evil not in reply.headers["content-security-policy"]
        expect(opened.get_by_text("asked for something that is not allowed")).to_be_visible()
    inbox.goto("/settings")
    expect(inbox.get_by_role("heading", name="Connected agents")).to_be_visible()
    expect(inbox.get_by_role("button", name="Send it away")).to_have_count(0)
    assert Callback.came == []
    # An honest program's page lets the form lead to that program and nowhere else.
    opened.goto(wanted(house, callback))
    with inbox.expect_response(lambda reply: "/oauth/waiting/" in reply.url) as shown:
        inbox.get_by_role("link", name="Look at it").first.click()
    policy = [each.strip() for each in shown.value.headers["content-security-policy"].split(";")]
    assert [each for each in policy if each.startswith("form-action")] == [f"form-action 'self' {evil}"]
    assert not [each for each in policy if each.startswith("report")]
    expect(inbox.get_by_role("heading", name="Let this program ask you?")).to_be_visible()
    elsewhere, probe = evil.replace("127.0.0.1", "localhost"), inbox.context.new_page()
    probe.goto(shown.value.url)
    blocked = probe.evaluate(
        """(where) => new Promise((told) => {
          addEventListener("securitypolicyviolation", (event) => told(event.effectiveDirective));
          const form = document.createElement("form");
          Object.assign(form, { method: "post", action: where });
          document.body.append(form);
          form.submit();
        })""",
        elsewhere,
    )
    assert blocked == "form-action"
    assert Callback.came == []
    probe.close()
    inbox.get_by_role("button", name="No", exact=True).click()
    expect(inbox.get_by_role("heading", name="Back in the program")).to_be_visible()
    assert [parse_qs(urlsplit(each).query)["error"] for each in Callback.came if "?" in each] == [["access_denied"]]


def let_in(house: House, access: str) -> bool:
    listing = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    headers = {"Authorization": f"Bearer {access}", "Content-Type": "application/json", "Accept": "application/json"}
    told = house.web.call("POST", "/mcp", body=listing, headers=headers, host=f"127.0.0.1:{house.web.port}")
    return told.status != 401


def test_a_page_that_waits_asks_again_where_its_connection_has_died_without_a_word(
    house: House, sign_in: SignIn, callback: str
) -> None:
    page = sign_in()
    page.clock.install()
    held: list[Route] = []
    page.route("**/said", lambda route: held.append(route))
    with page.expect_request("**/said"):
        page.goto(wanted(house, callback))
    with page.expect_request("**/said"):
        page.clock.fast_forward(40_000)
        page.clock.fast_forward(10_000)
    page.unroute_all()
