"""Calls with a configured limit: what the agent is told, what becomes of the ask, and that a late answer arrives."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from tests.e2e.stdio.harness import MODES, WAIT, Agent, Person, Place, data_of, new_place, question, text_of

from sayso.asks.model import State

LIMIT = 1.0


@pytest.fixture(scope="module")
def hasty_place() -> Iterator[Place]:
    with new_place(ask_timeout=f"{LIMIT}s") as place:
        yield place


@pytest.fixture(scope="module", params=MODES)
def hasty(request: pytest.FixtureRequest, hasty_place: Place) -> Iterator[Agent]:
    """An agent whose calls wait one second."""
    with hasty_place.agent(request.param) as agent:
        yield agent


@pytest.mark.requirement("A-32", "A-33", "A-34", "A-45")
def test_a_call_that_nobody_answers_ends_after_the_configured_time(hasty: Agent, hasty_place: Place) -> None:
    begun = time.monotonic()
    result = hasty.ask(question("Is anybody there?")).result(WAIT)
    assert time.monotonic() - begun >= LIMIT
    assert result.is_error
    assert "Timeout" in text_of(result)
    assert "within 1 seconds" in text_of(result)
    assert data_of(result)["outcome"] == "timed_out"
    ask_id = data_of(result)["ask_id"]
    assert hasty_place.show(ask_id)["status"] == "timed_out"
    line = hasty.log.wait_for(ask_id)
    assert "Session failed: timed out" in line
    assert f"callId={data_of(result)['call_id']}" in line


def test_a_late_answer_is_handed_over_by_the_next_identical_call(hasty: Agent, hasty_place: Place) -> None:
    asked = question(f"Late, on {hasty.client.protocol_version}?")
    timed_out = data_of(hasty.ask(asked).result(WAIT))
    done = hasty_place.run("answer", timed_out["ask_id"], "Yes")
    assert done.returncode == 0, done.stderr
    late = data_of(hasty.ask(asked).result(WAIT))
    assert late["answers"][0]["selected"] == ["Yes"]
    assert late["late"] is True
    assert late["ask_id"] == timed_out["ask_id"]


def test_calling_again_after_a_timeout_asks_the_same_ask_and_not_a_second_one(hasty: Agent, hasty_place: Place) -> None:
    text = f"Once more, on {hasty.client.protocol_version}?"
    first = data_of(hasty.ask(question(text)).result(WAIT))
    with hasty_place.person() as person:
        again = hasty.ask(question(text))
        ask = person.wait_for_ask(text)
        assert ask.id == first["ask_id"]
        person.answer(ask, "No")
        assert data_of(again.result(WAIT))["outcome"] == "answered"
        person.wait_until_delivered(ask)
        assert [event.after for event in person.desk.events(ask.id) if event.kind != "delivered"] == [
            State.PENDING,
            State.TIMED_OUT,
            State.PENDING,
            State.ANSWERED,
        ]


def test_an_answer_in_time_is_not_called_late(hasty: Agent, hasty_place: Place) -> None:
    with hasty_place.person() as person:
        text = f"In time, on {hasty.client.protocol_version}?"
        call = hasty.ask(question(text))
        person.answer(person.wait_for_ask(text), "Yes")
        assert data_of(call.result(WAIT))["late"] is False


def test_without_a_configured_limit_a_call_has_none(agent: Agent, person: Person) -> None:
    call = agent.ask(question("For how long?"))
    ask = person.wait_for_ask("For how long?")
    person.answer(ask, "Yes")
    call.result(WAIT)
    assert ask.timeout_ms is None
    assert ask.wait is not None
    assert ask.wait.until is None
