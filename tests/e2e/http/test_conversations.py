"""Several conversations on one token: each gets the answers to its own questions, and no other's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx2
import pytest
from tests.e2e.http.harness import (
    WAIT,
    Agent,
    HandshakeSession,
    Person,
    Replica,
    agent,
    bearer,
    modern_call,
    result_of,
)
from tests.e2e.stdio.harness import data_of

from sayso.asks.model import Ask

pytestmark = pytest.mark.finding("F-84")


@pytest.fixture
def proceed(name: str) -> dict[str, Any]:
    return {"question": f"Proceed with {name}?", "options": ["Yes", "No"]}


@contextmanager
def two(server: Replica, token: str, mode: str) -> Iterator[tuple[Agent, Agent]]:
    with ExitStack() as open_:
        yield (
            open_.enter_context(agent(server.mcp, token, mode)),
            open_.enter_context(agent(server.mcp, token, mode)),
        )


def left(told: dict[str, Any], person: Person) -> Ask:
    assert told["outcome"] == "pending"
    return person.desk.get(told["ask_id"])


def test_a_living_conversation_does_not_get_anothers_yes_and_the_person_sees_its_question(
    server: Replica, token: str, mode: str, person: Person, proceed: dict[str, Any]
) -> None:
    with two(server, token, mode) as (a, b):
        first = left(data_of(a.call("ask_user", {**proceed, "nonBlocking": True}).result(WAIT)), person)
        person.answer(first, "Yes")
        nothing = data_of(b.call("get_answers", {}).result(WAIT))
        assert nothing["answers"] == []
        assert ("asked with your token, by you or in another conversation" in nothing["message"]) == (mode == "auto")
        call = b.call("ask_user", proceed)
        second = person.wait_for_ask(proceed["question"])
        assert second.id != first.id
        person.answer(second, "No")
        assert data_of(call.result(WAIT))["ask_id"] == second.id
        (got,) = data_of(a.call("get_answers", {"ask_id": first.id}).result(WAIT))["answers"]
        assert (got["ask_id"], got["outcome"]) == (first.id, "answered")


def test_a_conversation_that_its_client_names_gets_its_own_in_every_request(
    server: Replica, token: str, person: Person, http: httpx2.Client, proceed: dict[str, Any]
) -> None:
    def asked(thread: str, **more: Any) -> dict[str, Any]:
        headers, body = modern_call("ask_user", {**proceed, **more})
        body["params"]["_meta"]["threadId"] = thread
        told = http.post(server.mcp, headers={**bearer(token), **headers}, json=body)
        data: dict[str, Any] = result_of(told)["structuredContent"]
        return data

    first = left(asked("thread-1", nonBlocking=True), person)
    person.answer(first, "Yes")
    assert left(asked("thread-2", nonBlocking=True), person).id != first.id
    assert asked("thread-1")["ask_id"] == first.id


def test_the_answer_of_a_session_that_was_ended_reaches_the_next(
    server: Replica, token: str, person: Person, http: httpx2.Client, proceed: dict[str, Any]
) -> None:
    def asked(session: HandshakeSession) -> dict[str, Any]:
        call = {"name": "ask_user", "arguments": {**proceed, "nonBlocking": True}}
        data: dict[str, Any] = result_of(session.post("tools/call", call))["structuredContent"]
        return data

    one, other, third = (HandshakeSession(http, server.mcp, token) for _ in range(3))
    first = left(asked(one), person)
    person.answer(first, "Yes")
    assert left(asked(other), person).id != first.id
    assert http.delete(server.mcp, headers=one.headers).status_code == 200
    assert asked(third)["ask_id"] == first.id
