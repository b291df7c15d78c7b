"""Agents that come over HTTP: the same tools as on stdio, on every version of the protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp.client.session import ClientRequestContext
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
    replica,
    result_of,
)
from tests.e2e.stdio.harness import MODES, data_of, new_place, question

HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
LEFT = {"questions": [question("Whenever you like?")], "nonBlocking": True}
"""An ask that its agent does not wait for."""


async def accept(context: ClientRequestContext, params: types.ElicitRequestParams) -> types.ElicitResult:
    """A person who fills in every form with the same word."""
    assert isinstance(params, types.ElicitRequestFormParams)
    return types.ElicitResult(action="accept", content=dict.fromkeys(params.requested_schema["required"], "Blue"))


def test_an_answer_reaches_the_agent_and_only_then_counts_as_delivered(
    server: Replica, token: str, mode: str, person: Person
) -> None:
    with agent(server.mcp, token, mode) as asking:
        call = asking.ask(question(f"Over HTTP, {mode}?"))
        ask = person.wait_for_ask(f"Over HTTP, {mode}?")
        assert not person.desk.get(ask.id).delivered
        person.answer(ask, "Yes")
        assert data_of(call.result(WAIT))["answers"][0]["selected"] == ["Yes"]
        person.wait_until_delivered(ask)
    assert [event.kind for event in person.desk.events(ask.id)] == ["opened", "answered", "delivered"]


def test_the_asker_is_who_the_token_says(server: Replica, shared_place: Place, name: str, mode: str) -> None:
    token = new_token(shared_place, name, project="/work/shop", user="ada")
    with shared_place.person() as person, agent(server.mcp, token, mode, name="some-client") as asking:
        call = asking.ask(question(f"Who am I to {name}?"))
        ask = person.wait_for_ask(f"Who am I to {name}?")
        call.cancel()
        person.wait_until_unattended(ask)
    asker = ask.asker
    assert (asker.agent, asker.project, asker.owner) == (name, "/work/shop", "ada")
    assert (asker.client, asker.version, asker.host, asker.pid) == ("some-client", "7", "127.0.0.1", 0)


@pytest.mark.parametrize("version", HANDSHAKES)
def test_every_handshake_version_is_served(server: Replica, token: str, http: httpx2.Client, version: str) -> None:
    session = HandshakeSession(http, server.mcp, token, version)
    assert session.version == version
    tools = {tool["name"] for tool in result_of(session.post("tools/list"))["tools"]}
    assert {"ask_user", TOOL, "get_answers", "question_ask"} <= tools
    opened = result_of(session.post("tools/call", {"name": TOOL, "arguments": LEFT}))
    assert opened["structuredContent"]["outcome"] == "pending"


def test_the_modern_version_needs_no_session(server: Replica, token: str, http: httpx2.Client) -> None:
    headers, body = modern_call(TOOL, LEFT)
    response = http.post(server.mcp, headers={**bearer(token), **headers}, json=body)
    assert result_of(response)["structuredContent"]["outcome"] == "pending"
    assert "mcp-session-id" not in response.headers


def test_a_modern_client_without_forms_is_told_which_capability_is_missing(
    server: Replica, token: str, http: httpx2.Client
) -> None:
    headers, body = modern_call("question_ask", {"question": "Anyone?"})
    body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = {}
    response = http.post(server.mcp, headers={**bearer(token), **headers}, json=body)
    assert (response.status_code, response.json()["error"]["code"]) == (400, -32021)


@pytest.mark.parametrize("profile", ["all", "codenomad"])
def test_the_tools_are_those_of_the_profile_as_on_stdio(profile: str) -> None:
    with new_place(profile=profile) as place, replica(place) as server:
        token = new_token(place, "a")
        for mode in MODES:
            with (
                place.agent(mode, program="sayso", form=accept) as on_stdio,
                agent(server.mcp, token, mode, form=accept) as over_http,
            ):
                assert _listed(over_http.tools()) == _listed(on_stdio.tools())
                assert over_http.client.instructions == on_stdio.client.instructions


def _listed(tools: list[types.Tool]) -> list[dict[str, Any]]:
    return [tool.model_dump(mode="json") for tool in tools]


@pytest.mark.parametrize("user", ["ada", ""])
def test_a_client_that_shows_forms_shows_the_question(
    server: Replica, shared_place: Place, name: str, mode: str, user: str, person: Person
) -> None:
    """Nobody else looks, so in both eras the client's own form is used."""
    token = new_token(shared_place, name, user=user)
    with agent(server.mcp, token, mode, form=accept) as asking:
        outcome = data_of(asking.ask(question("Which colour?", "Red", "Blue")).result(WAIT))
        person.wait_until_delivered(person.desk.get(outcome["ask_id"]))
    assert outcome["answers"][0]["selected"] == ["Blue"]
    assert (outcome["answered_by"], outcome["surface"]) == (f"someone at {name}", "client form")


def test_what_question_ask_saves_stays_with_its_agent(
    server: Replica, shared_place: Place, tmp_path: Path, mode: str, name: str
) -> None:
    with_folder = new_token(shared_place, f"{name}-a", project=str(tmp_path))
    without = new_token(shared_place, f"{name}-b", project="/not/on/this/machine")
    with agent(server.mcp, with_folder, mode, form=accept) as asking:
        saved = data_of(asking.call("question_ask", {"question": "Colour?"}).result(WAIT))
        assert Path(saved["saved_to"]).is_relative_to(tmp_path)
        assert data_of(asking.call("question_summary", {}).result(WAIT))["total"] == 1
    with agent(server.mcp, without, mode, form=accept) as other:
        assert data_of(other.call("question_summary", {}).result(WAIT))["total"] == 0
        saved = data_of(other.call("question_ask", {"question": "Colour?"}).result(WAIT))
        assert Path(saved["saved_to"]).is_relative_to(shared_place.state / "agents" / f"{name}-b")
