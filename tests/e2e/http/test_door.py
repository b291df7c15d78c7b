"""Who is let in at /mcp, and what those hear who are not."""

from __future__ import annotations

import httpx2
import pytest
from mcp.shared.exceptions import MCPError
from tests.e2e.clients.process import wait_until
from tests.e2e.http.harness import (
    TOOL,
    WAIT,
    HandshakeSession,
    Person,
    Place,
    Replica,
    agent,
    bearer,
    modern_call,
    new_token,
    number,
    result_of,
)
from tests.e2e.stdio.harness import data_of, question

from sayso.mcp_server.http import LARGEST_REQUEST

LISTING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


def ask_of(name: str) -> dict[str, object]:
    return {"questions": [question(f"A question of {name}?")]}


@pytest.mark.parametrize(
    ("authorization", "challenge", "said"),
    [
        (None, "", "A token is needed"),
        ("Basic YTpi", "", "A token is needed"),
        ("Bearer sayso_made-up", ', error="invalid_token"', "not known, has run out or was revoked"),
        ("Bearer saysoa_made-up", ', error="invalid_token"', "not known, has run out or was revoked"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_without_a_known_token_nobody_is_let_in(
    server: Replica, http: httpx2.Client, authorization: str | None, challenge: str, said: str, method: str
) -> None:
    headers = {"Authorization": authorization} if authorization else {}
    refused = http.request(method, server.mcp, headers=headers, json=LISTING if method == "POST" else None)
    where = f"{server.address}/.well-known/oauth-protected-resource/mcp"
    expected = f'Bearer realm="sayso", resource_metadata="{where}"{challenge}'
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, expected)
    assert said in refused.json()["error"]["message"]
    assert "sayso token add" in refused.json()["error"]["message"]


def test_a_client_without_a_token_is_told_what_to_do(server: Replica, mode: str) -> None:
    with pytest.raises(BaseExceptionGroup) as failed, agent(server.mcp, "nonsense", mode):
        pass
    assert failed.group_contains(MCPError, match="sayso token add NAME")


def test_a_session_cookie_of_a_browser_is_no_token(server: Replica, shared_place: Place, http: httpx2.Client) -> None:
    secret = shared_place.run("web", "--api-token").stdout.strip()
    assert secret
    assert http.post(server.mcp, headers=bearer(secret), json=LISTING).status_code == 401


def test_a_revoked_token_is_out_at_once(server: Replica, shared_place: Place, http: httpx2.Client, name: str) -> None:
    token = new_token(shared_place, name)
    headers, body = modern_call("get_answers", {})
    assert http.post(server.mcp, headers={**bearer(token), **headers}, json=body).status_code == 200
    assert shared_place.run("token", "revoke", name).returncode == 0
    refused = http.post(server.mcp, headers={**bearer(token), **headers}, json=body)
    assert (refused.status_code, "revoked" in refused.text) == (401, True)


def test_a_revoked_token_ends_what_it_has_open(
    server: Replica, shared_place: Place, name: str, mode: str, person: Person
) -> None:
    token = new_token(shared_place, name)
    with agent(server.mcp, token, mode) as asking:
        call = asking.call(TOOL, ask_of(name))
        ask = person.wait_for_ask(f"A question of {name}?")
        shared_place.run("token", "revoke", name)
        assert isinstance(call.exception(WAIT), MCPError)
        person.wait_until_unattended(ask)


def test_a_call_whose_token_is_revoked_is_told_so_on_its_open_stream(
    server: Replica, shared_place: Place, http: httpx2.Client, name: str
) -> None:
    session = HandshakeSession(http, server.mcp, new_token(shared_place, name))
    with session.stream("tools/call", {"name": TOOL, "arguments": ask_of(name)}) as told:
        # It has begun: the call waits.
        assert told.status_code == 200
        shared_place.run("token", "revoke", name)
        said = "".join(told.iter_text())
    assert '"error"' in said
    assert "This token was revoked." in said


def test_a_revoked_token_ends_its_session(server: Replica, shared_place: Place, http: httpx2.Client, name: str) -> None:
    """The session is gone, not just out of reach, and its stream for notices ends."""
    before = number(http, server, "sayso_sessions_open")
    session = HandshakeSession(http, server.mcp, new_token(shared_place, name))
    assert number(http, server, "sayso_sessions_open") == before + 1
    with http.stream("GET", server.mcp, headers=session.headers) as notices:
        assert notices.status_code == 200
        shared_place.run("token", "revoke", name)
        notices.read()
    assert wait_until(lambda: number(http, server, "sayso_sessions_open") == before, WAIT)


def test_an_agent_cannot_use_the_session_of_another(
    server: Replica, shared_place: Place, http: httpx2.Client, name: str
) -> None:
    session = HandshakeSession(http, server.mcp, new_token(shared_place, f"{name}-a"))
    theirs = {**session.headers, **bearer(new_token(shared_place, f"{name}-b"))}
    for method in ("GET", "POST", "DELETE"):
        refused = http.request(method, server.mcp, headers=theirs, json=LISTING if method == "POST" else None)
        assert refused.status_code == 404
    assert result_of(session.post("tools/list"))["tools"]


def test_an_agent_cannot_bring_back_the_state_of_another(
    server: Replica, shared_place: Place, http: httpx2.Client, name: str
) -> None:
    """With a form to show, the first round ends with a sealed state; only its own agent may come back with it."""
    mine, other = (new_token(shared_place, f"{name}-{which}") for which in "ab")
    headers, body = modern_call(TOOL, ask_of(name))
    first = result_of(http.post(server.mcp, headers={**bearer(mine), **headers}, json=body))
    assert first["resultType"] == "input_required"
    headers, body = modern_call(TOOL, ask_of(name), requestState=first["requestState"])
    refused = http.post(server.mcp, headers={**bearer(other), **headers}, json=body)
    assert refused.status_code == 400
    assert "error" in refused.json()


def test_a_state_that_was_tampered_with_is_refused(server: Replica, token: str, http: httpx2.Client, name: str) -> None:
    headers, body = modern_call(TOOL, ask_of(name))
    state = result_of(http.post(server.mcp, headers={**bearer(token), **headers}, json=body))["requestState"]
    changed = state[:-1] + ("A" if state[-1] != "A" else "B")
    headers, body = modern_call(TOOL, ask_of(name), requestState=changed)
    assert http.post(server.mcp, headers={**bearer(token), **headers}, json=body).status_code == 400


def test_an_agent_cannot_fetch_the_answer_of_another(
    server: Replica, shared_place: Place, name: str, mode: str, person: Person
) -> None:
    with agent(server.mcp, new_token(shared_place, f"{name}-a"), mode) as asking:
        call = asking.call(TOOL, ask_of(name))
        ask = person.wait_for_ask(f"A question of {name}?")
        with agent(server.mcp, new_token(shared_place, f"{name}-b"), mode) as other:
            stolen = other.call("get_answers", {"ask_id": ask.id}).result(WAIT)
            assert stolen.is_error
            assert "No ask of this project" in str(stolen.content)
        person.answer(ask, "Yes")
        assert data_of(call.result(WAIT))["answers"][0]["selected"] == ["Yes"]


def test_a_page_of_another_site_cannot_call(server: Replica, token: str, http: httpx2.Client) -> None:
    foreign = http.post(server.mcp, headers=bearer(token, Origin="https://evil.example"), json=LISTING)
    assert foreign.status_code == 403


def test_a_name_that_is_not_ours_is_not_answered(server: Replica, token: str, http: httpx2.Client) -> None:
    rebound = http.post(server.mcp, headers=bearer(token, Host=f"evil.example:{server.port}"), json=LISTING)
    assert rebound.status_code == 421


def test_a_request_that_is_too_large_is_not_read(server: Replica, token: str, http: httpx2.Client) -> None:
    headers, body = modern_call(TOOL, {"questions": [question("x" * LARGEST_REQUEST)]})
    assert http.post(server.mcp, headers={**bearer(token), **headers}, json=body).status_code == 413
