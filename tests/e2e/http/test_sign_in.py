"""Agents that sign in by OAuth: the SDK's own client in both eras, and each step by hand where it can go wrong."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
from tests.e2e.http.harness import TOOL, WAIT, Person, Place, Replica, bearer, modern_call
from tests.e2e.http.signing_in import CALLBACK, NAME, Clicker, Program, Wallet, fields_of, signed_in, told_by
from tests.e2e.stdio.harness import question

from sayso.waiting_room import IN_A_CROWD, MOST_WAITING

MARK = re.compile(r"\b[A-Z0-9]{3}-[A-Z0-9]{3}\b")


@pytest.fixture(scope="module")
def clicker(shared_place: Place, server: Replica) -> Iterator[Clicker]:
    clicker = Clicker(shared_place, server)
    yield clicker
    clicker.close()


@pytest.fixture
def program(server: Replica, http: httpx2.Client) -> Program:
    return Program(server, http)


def is_let_in(http: httpx2.Client, server: Replica, token: str, **headers: str) -> bool:
    named, body = modern_call("get_answers", {})
    return http.post(server.mcp, headers={**bearer(token), **named, **headers}, json=body).status_code == 200


def test_a_client_that_knows_the_address_alone_signs_in_by_a_click_and_asks(
    clicker: Clicker, person: Person, mode: str
) -> None:
    subject = f"Who let {mode} in?"

    async def ask_and_hear() -> None:
        async with signed_in(clicker, wallet, mode) as client:
            call = asyncio.create_task(client.call_tool(TOOL, {"questions": [question(subject)]}))
            ask = await asyncio.to_thread(person.wait_for_ask, subject)
            assert ask.asker.agent.startswith("tester-sayso#")
            assert ask.asker.owner, "a question of somebody's agent is for them"
            await asyncio.to_thread(person.answer, ask, "Yes")
            answered = (await call).structured_content
            assert answered is not None
            assert answered["answers"][0]["selected"] == ["Yes"]
        assert wallet.tokens
        # With what it has kept it comes in again, and nobody is asked.
        async with signed_in(clicker, wallet, mode) as client:
            assert (await client.list_tools()).tools

    wallet = Wallet()
    asyncio.run(ask_and_hear())


def test_a_refused_client_learns_where_to_sign_in(server: Replica, http: httpx2.Client) -> None:
    refused = http.post(server.mcp, json={})
    where = f"{server.address}/.well-known/oauth-protected-resource/mcp"
    assert refused.headers["www-authenticate"] == f'Bearer realm="sayso", resource_metadata="{where}"'
    about = http.get(where).json()
    assert (about["resource"], about["authorization_servers"]) == (server.mcp, [server.address])
    assert http.get(f"{server.address}/.well-known/oauth-protected-resource").json() == about
    offered = http.get(f"{server.address}/.well-known/oauth-authorization-server").json()
    assert (offered["issuer"], offered["code_challenge_methods_supported"]) == (server.address, ["S256"])
    assert offered["authorization_response_iss_parameter_supported"] is True
    assert offered["client_id_metadata_document_supported"] is False, "nothing is fetched unless a person allows it"
    by_name = http.get(where.replace("127.0.0.1", "localhost")).json()
    assert by_name["resource"] == server.mcp.replace("127.0.0.1", "localhost")
    other = http.get(f"{server.address}/.well-known/openid-configuration")
    assert (other.status_code, other.headers["content-type"]) == (404, "application/json")


def test_the_page_says_who_wants_what_and_cannot_be_framed(
    clicker: Clicker, server: Replica, http: httpx2.Client
) -> None:
    hostile = Program(server, http, client_name='<b>Sayso</b>\u202e"Admin"\n\nAllow all')
    shown = clicker.look_at_waiting(hostile.address())
    for expected in ("&lt;b&gt;Sayso", "localhost:41999", server.mcp, "may not</strong> answer or allow anything"):
        assert expected in shown.text
    for hidden in ("<b>Sayso", "\u202e"):
        assert hidden not in shown.text
    policy = shown.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    assert "form-action 'self' http://localhost:41999;" in policy
    clicker.say(shown, "no")


def test_an_agreed_client_gets_its_state_back_and_the_name_of_the_server(
    clicker: Clicker, server: Replica, program: Program
) -> None:
    told = clicker.connect(program.address())
    assert {**told, "code": "…"} == {"to": CALLBACK, "state": "a state & more", "iss": server.address, "code": "…"}
    refused = clicker.connect(program.address(state="other"), said="no")
    assert (refused["error"], refused["state"], refused["iss"]) == ("access_denied", "other", server.address)


def test_a_request_that_was_decided_is_not_asked_again_however_often_its_page_is_loaded(
    clicker: Clicker, program: Program, http: httpx2.Client
) -> None:
    no, yes = program.address(state="no"), program.address(state="yes")
    shown = clicker.look_at_waiting(no)
    clicker.say(shown, "no")
    code = clicker.connect(yes)["code"]
    assert "was answered with no" in http.get(no).text
    assert "was answered with yes" in http.get(yes).text
    assert not MARK.search(clicker.get("/settings").text), "nothing waits for anybody"
    assert clicker.say(shown, "connect").status_code == 409
    assert clicker.get(shown.url.path).status_code == 404
    assert program.redeem(code).status_code == 200


def test_the_page_of_a_request_hears_what_was_decided(clicker: Clicker, program: Program, http: httpx2.Client) -> None:
    address = program.address(state="heard")
    shown = clicker.look_at_waiting(address)
    with ThreadPoolExecutor(1) as threads:
        heard = threads.submit(http.get, f"{clicker.server.address}{shown.url.path}/said")
        clicker.say(shown, "connect")
        assert heard.result(WAIT).json() == {"said": "connect"}
    assert http.get(f"{clicker.server.address}/oauth/waiting/nobody/said").json() == {"said": "nothing"}


def test_nobody_agrees_but_the_person_on_their_own_page(
    clicker: Clicker, server: Replica, shared_place: Place, program: Program
) -> None:
    shown = clicker.look_at_waiting(program.address())
    form = fields_of(shown)
    assert clicker.post("/oauth/decide", {**form, "csrf": "x", "said": "connect"}).status_code == 403
    assert clicker.post("/oauth/decide", {**form, "said": "connect"}, Origin="http://evil.example").status_code == 403
    assert clicker.post("/oauth/decide", {**form, "sealed": "x", "said": "connect"}).status_code == 403
    assert clicker.post("/oauth/decide", {**form, "said": ""}).status_code == 400
    other = Clicker(shared_place, server)
    theirs = fields_of(other.get(shown.url.path))
    assert other.post("/oauth/decide", {**form, "csrf": theirs["csrf"], "said": "connect"}).status_code == 403
    other.close()
    assert httpx2.post(f"{server.address}/oauth/decide", data={**form, "said": "connect"}).status_code == 401
    assert clicker.say(shown, "connect").status_code == 303
    assert clicker.say(shown, "connect").status_code == 409, "an answer counts once"


def test_who_waits_stays_when_others_come_and_a_person_sends_all_away_at_once(
    clicker: Clicker, server: Replica, program: Program, http: httpx2.Client
) -> None:
    everyone = fields_of(clicker.look_at_waiting(program.address(state="everyone")))
    assert clicker.post("/oauth/waiting", {"csrf": everyone["csrf"]}).status_code == 303
    honest = program.address(state="honest")
    mark = MARK.search(http.get(honest).text)
    assert mark
    flood = [http.get(program.address(state=f"flood-{number}")) for number in range(MOST_WAITING)]
    assert [each.status_code for each in flood] == [200] * (MOST_WAITING - 1) + [503]
    assert "programs wait already to be let in" in flood[-1].text
    assert 0 < int(flood[-1].headers["retry-after"]) <= IN_A_CROWD // 1000
    assert mark[0] in clicker.look_at_waiting(honest).text, "it is still the one that waits"
    assert clicker.post("/oauth/waiting", {"csrf": "x"}).status_code == 403
    assert httpx2.post(f"{server.address}/oauth/waiting", data={"csrf": "x"}).status_code == 401
    assert clicker.post("/oauth/waiting", {"csrf": everyone["csrf"]}).status_code == 303
    assert not MARK.search(clicker.get("/settings").text)
    assert http.get(program.address(state="after")).status_code == 200


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"code_challenge": None}, "PKCE is needed"),
        ({"code_challenge_method": "plain"}, "PKCE is needed"),
        ({"code_challenge_method": None}, "PKCE is needed"),
        ({"redirect_uri": "http://localhost:41999/other"}, "Redirect URI"),
        ({"redirect_uri": "http://localhost.evil.example/callback"}, "Redirect URI"),
        ({"redirect_uri": "https://localhost:41999/callback"}, "Redirect URI"),
        ({"redirect_uri": "http://localhost:9; script-src 'none'; @localhost:9/callback"}, "Redirect URI"),
        (
            {"redirect_uri": "http://localhost:9/callback\n; report-uri http://localhost:9"},
            "redirect_uri has characters",
        ),
        ({"redirect_uri": "http://evil.example\\@localhost:41999/callback"}, "redirect_uri has characters"),
        ({"response_type": 'co"de'}, "response_type has characters"),
        ({"resource": "https://other.example/mcp"}, "alone"),
        ({"response_type": "token"}, "not allowed"),
        ({"client_id": "made-up"}, "does not exist"),
        ({"client_id": "https://claude.ai/oauth/metadata"}, "does not exist"),
    ],
)
def test_what_is_not_allowed_is_told_to_the_person_and_sent_nowhere(
    program: Program, http: httpx2.Client, changed: dict[str, str | None], why: str
) -> None:
    answered = http.get(program.address(**changed))
    assert (answered.status_code, why in answered.text) == (403, True), answered.text
    assert "location" not in answered.headers


def test_a_program_on_ones_own_machine_may_come_back_at_any_port(clicker: Clicker, program: Program) -> None:
    told = clicker.connect(program.address(redirect_uri="http://localhost:5/callback"))
    assert told["to"] == "http://localhost:5/callback"
    assert program.redeem(told["code"]).json()["error"] == "invalid_grant", "it is the port that it named which counts"
    assert program.redeem(told["code"], redirect_uri="http://localhost:5/callback").status_code == 200


@pytest.mark.parametrize(
    "about",
    [
        {"redirect_uris": []},
        {"redirect_uris": "https://a.example"},
        {"redirect_uris": ["http://other.example/callback"]},
        {"redirect_uris": ["javascript:alert(1)"]},
        {"redirect_uris": ["https://a.example/#x"]},
        {"redirect_uris": ["https://a@b.example/"]},
        {"redirect_uris": ["https://a.example/\\@b"]},
        {"redirect_uris": [CALLBACK] * 11},
        {"redirect_uris": [CALLBACK], "client_name": 7},
        {"redirect_uris": [CALLBACK], "grant_types": ["implicit"]},
        [1],
        "text",
    ],
)
def test_a_registration_that_does_not_fit_is_refused_with_the_field(
    server: Replica, http: httpx2.Client, about: object
) -> None:
    refused = http.post(f"{server.address}/oauth/register", json=about)
    assert refused.status_code == 400
    assert refused.json()["error"] in ("invalid_client_metadata", "invalid_request")


@pytest.mark.parametrize("uri", ["com.app:/cb", "cursor://anysphere.cursor-mcp/cb"])
def test_a_program_is_answered_at_a_scheme_of_its_own(
    clicker: Clicker, server: Replica, http: httpx2.Client, uri: str
) -> None:
    program = Program(server, http, redirect_uris=[uri])
    assert program.registered["redirect_uris"] == [uri]
    told = clicker.connect(program.address(redirect_uri=uri))
    assert told["to"] == uri
    assert program.redeem(told["code"], redirect_uri=uri).status_code == 200


@pytest.mark.parametrize("uri", ["intent://x", "ms-msdt:/id", "javascript:alert(1)", "https://a.example/#x"])
def test_an_address_that_is_refused_is_named_with_what_is_allowed(
    server: Replica, http: httpx2.Client, uri: str
) -> None:
    refused = http.post(f"{server.address}/oauth/register", json={"redirect_uris": [uri]})
    assert refused.status_code == 400
    said = refused.json()["error_description"]
    assert uri in said
    assert "or the scheme of a program of its own (such as com.example.app:/callback)" in said


def test_a_registration_is_told_what_holds_and_leaves_nothing_behind(
    server: Replica, http: httpx2.Client, shared_place: Place
) -> None:
    wants = {"token_endpoint_auth_method": "client_secret_post", "grant_types": ["authorization_code"], "scope": "all"}
    registered = Program(server, http, **wants).registered
    assert (registered["token_endpoint_auth_method"], registered["scope"]) == ("none", "agent")
    assert "client_secret" not in registered
    assert http.post(f"{server.address}/oauth/register", content=b"x" * 70_000).status_code == 413
    assert http.post(f"{server.address}/oauth/register", content=b"[" * 60_000).status_code == 400
    for page in ("https://evil.example", "null"):
        assert http.post(f"{server.address}/oauth/register", json={}, headers={"Origin": page}).status_code == 403


def test_a_code_is_good_once_and_for_its_client_and_verifier_alone(
    clicker: Clicker, server: Replica, http: httpx2.Client, program: Program
) -> None:
    code = clicker.connect(program.address())["code"]
    other = Program(server, http, client_name="Another")
    assert other.redeem(code, code_verifier=program.verifier).json()["error"] == "invalid_grant"
    assert program.redeem(code, code_verifier=other.verifier).json()["error"] == "invalid_grant"
    assert program.redeem(code, code_verifier="").json()["error"] == "invalid_request"
    assert program.redeem(code, resource="https://other.example/mcp").json()["error"] == "invalid_target"
    got = program.redeem(code)
    assert (got.status_code, got.headers["cache-control"]) == (200, "no-store")
    tokens = got.json()
    assert (tokens["token_type"], tokens["expires_in"], tokens["scope"]) == ("Bearer", 3600, "agent")
    assert is_let_in(http, server, tokens["access_token"])
    assert program.redeem(code).json()["error"] == "invalid_grant"
    assert not is_let_in(http, server, tokens["access_token"]), "a code that is used twice ends what came of it"


def test_a_parameter_with_characters_that_no_error_may_name_is_refused(program: Program) -> None:
    for name, reply in (
        ("grant_type", program.token(grant_type='"\n\u202e')),
        ("code", program.redeem("\\")),
        ("token", program.revoke("€")),
    ):
        assert (reply.status_code, reply.json()["error"]) == (400, "invalid_request"), reply.text
        assert reply.json()["error_description"].startswith(f"{name} has characters")


def test_tokens_count_for_the_name_they_were_made_for_and_at_mcp_alone(
    clicker: Clicker, server: Replica, http: httpx2.Client, program: Program
) -> None:
    tokens = program.connected(clicker)
    access = tokens["access_token"]
    assert is_let_in(http, server, access)
    assert not is_let_in(http, server, access, Host=f"localhost:{server.port}")
    assert not is_let_in(http, server, tokens["refresh_token"])
    for path in ("/api/me", "/api/asks", "/api/log"):
        assert http.get(f"{server.address}{path}", headers=bearer(access)).status_code == 401
    answering = http.post(f"{server.address}/api/asks/{'0' * 32}/answer", headers=bearer(access), json={"answers": []})
    allowing = http.post(f"{server.address}/api/asks/{'0' * 32}/allow", headers=bearer(access), json={"digest": "x"})
    assert (answering.status_code, allowing.status_code) == (401, 401)
    elsewhere = bearer(access, X_Forwarded_For="203.0.113.9")
    assert http.get(f"{server.address}/metrics", headers=elsewhere).status_code == 401


def test_what_was_agreed_to_at_one_name_brings_no_token_at_another(
    clicker: Clicker, server: Replica, http: httpx2.Client, program: Program
) -> None:
    code = clicker.connect(program.address())["code"]
    own, other = f"127.0.0.1:{server.port}", f"localhost:{server.port}"
    http.headers["Host"] = other
    assert program.redeem(code).json()["error"] == "invalid_grant"
    http.headers["Host"] = own
    refresh = program.redeem(code).json()["refresh_token"]
    http.headers["Host"] = other
    assert program.refresh(refresh).json()["error"] == "invalid_grant"
    http.headers["Host"] = own
    assert program.refresh(refresh).status_code == 200


def test_a_refreshed_token_takes_the_place_of_the_old_one(
    clicker: Clicker, server: Replica, http: httpx2.Client, program: Program
) -> None:
    first = program.connected(clicker)
    other = Program(server, http, client_name="Another")
    assert other.refresh(first["refresh_token"]).json()["error"] == "invalid_grant"
    assert program.refresh(first["refresh_token"], resource="https://o.example/").json()["error"] == "invalid_target"
    second = program.refresh(first["refresh_token"]).json()
    assert is_let_in(http, server, second["access_token"])
    assert program.refresh(first["refresh_token"]).status_code == 200, "a reply may get lost"
    assert program.refresh(second["refresh_token"]).status_code == 200
    assert program.refresh("saysor_made-up").json()["error"] == "invalid_grant"
    assert program.token(grant_type="password", username="ada").json()["error"] == "unsupported_grant_type"


def test_a_client_that_gives_its_token_up_is_out(
    clicker: Clicker, server: Replica, http: httpx2.Client, program: Program
) -> None:
    tokens = program.connected(clicker)
    assert Program(server, http).revoke(tokens["access_token"]).status_code == 200
    assert is_let_in(http, server, tokens["access_token"]) is False
    assert program.revoke("unknown").status_code == 200


def test_a_person_sees_who_is_connected_and_ends_it_at_once(
    clicker: Clicker, server: Replica, http: httpx2.Client, program: Program, person: Person
) -> None:
    access = program.connected(clicker)["access_token"]
    shown = clicker.get("/settings").text
    assert NAME in shown
    connection = shown.partition('name="connection" value="')[2].partition('"')[0]
    headers, body = modern_call(TOOL, {"questions": [question("Am I still there?")]})
    del body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]["elicitation"]
    with http.stream("POST", server.mcp, headers={**bearer(access), **headers}, json=body) as waiting:
        ask = person.wait_for_ask("Am I still there?")
        csrf = fields_of(clicker.get("/settings"))["csrf"]
        ended = clicker.post("/settings/connections", {"csrf": csrf, "connection": connection})
        assert told_by(ended)["disconnected"] == "1"
        waiting.read()
    person.wait_until_unattended(ask)
    assert not is_let_in(http, server, access)
    again = clicker.post("/settings/connections", {"csrf": csrf, "connection": connection})
    assert again.status_code == 404


def test_nothing_of_it_is_in_the_log(clicker: Clicker, server: Replica, program: Program) -> None:
    tokens = program.connected(clicker)
    program.refresh(tokens["refresh_token"])
    assert not [
        secret for secret in (*tokens.values(), program.verifier) if len(str(secret)) > 20 and str(secret) in server.log
    ]
