"""Nothing is lost when a server dies: the ask outlives it, its answer waits, and nobody is asked twice."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError
from tests.e2e.stdio.harness import ANEW, MODES, WAIT, Agent, Person, Place, data_of, new_place, question

from sayso.asks.model import Ask, State


@pytest.fixture(params=["sqlite", "postgresql"])
def lasting_place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """A machine whose store is of each kind, and whose servers are started as agents start them."""
    settings = {"store": request.getfixturevalue("postgres_address")} if request.param == "postgresql" else {}
    with new_place(**settings) as place:
        place.launcher = ANEW
        yield place


def kill(agent: Agent, *calls: Future[types.CallToolResult]) -> None:
    """Kill its server while calls wait."""
    agent.server.kill()
    for call in calls:
        assert isinstance(call.exception(WAIT), MCPError)


def is_handed_over(agent: Agent, person: Person, ask: Ask, answer: str) -> None:
    """An identical call gets what was answered before it was made."""
    outcome = data_of(agent.ask(question(ask.questions[0].text)).result(WAIT))
    assert outcome["answers"][0]["selected"] == [answer]
    assert (outcome["ask_id"], outcome["late"]) == (ask.id, False)
    person.wait_until_delivered(ask)


def test_servers_meet_at_a_new_store_and_what_they_were_asked_outlives_them(lasting_place: Place) -> None:
    place = lasting_place
    with ExitStack() as open_:
        # Each is the first to open the store, and each must make the tables or find them made.
        modern, legacy = (open_.enter_context(place.agent(mode)) for mode in MODES)
        texts = ["Will it last?", "Will it, with a handshake?", "Is it taken up?", "Has it heard?"]
        calls = [agent.ask(question(text)) for agent, text in zip((modern, legacy, modern, modern), texts, strict=True)]
        person = open_.enter_context(place.person())
        lasting, shaken, taken_up, unheard = asks = [person.wait_for_ask(text) for text in texts]
        place.suspend(modern)
        person.answer(unheard, "Yes")
        kill(modern, calls[0], *calls[2:])
        kill(legacy, calls[1])
        assert not person.desk.get(unheard.id).delivered
        for ask in (lasting, shaken):
            answered = place.run("answer", ask.id, "Yes")
            assert answered.returncode == 0, answered.stderr
            assert "not waiting now" in answered.stderr

        modern_again, legacy_again = (open_.enter_context(place.agent(mode)) for mode in MODES)
        is_handed_over(modern_again, person, lasting, "Yes")
        is_handed_over(legacy_again, person, shaken, "Yes")
        is_handed_over(modern_again, person, unheard, "Yes")
        call = legacy_again.ask(question(taken_up.questions[0].text))
        person.wait_for_change(taken_up, lambda now: now.wait is not None and now.wait != taken_up.wait)
        person.answer(taken_up, "No")
        assert data_of(call.result(WAIT))["answers"][0]["selected"] == ["No"]

        assert {each.id for each in person.asks()} == {ask.id for ask in asks}, "nobody was asked twice"
        for ask in (lasting, shaken):
            kinds = [event.kind for event in person.desk.events(ask.id)]
            assert kinds == ["opened", "unattended", "answered", "attended", "delivered"]
    assert [agent.exit_code for agent in (modern, legacy)] == [128 + signal.SIGKILL] * 2


def test_neither_another_question_nor_another_client_is_given_the_answer_that_waits(
    agent: Agent, person: Person, shared_place: Place
) -> None:
    text = f"Whose answer is it, on {agent.client.protocol_version}?"
    with shared_place.agent(name="somebody else") as doomed:
        doomed.ask(question(text))
        lost = person.wait_for_ask(text)
        doomed.server.kill()
        doomed.server.wait(WAIT)
    person.answer(lost, "Yes")
    calls = [agent.ask(question(text)), agent.ask(question(text, "No", "Yes"))]
    for _ in calls:
        person.answer(person.wait_for_ask(text), "No")
    for call in calls:
        outcome = data_of(call.result(WAIT))
        assert (outcome["answers"][0]["selected"], outcome["ask_id"] == lost.id) == (["No"], False)
    assert not person.desk.get(lost.id).delivered


def test_asks_stay_in_sight_after_others_have_looked_and_left(agent: Agent, shared_place: Place) -> None:
    """Whoever closes the store last tidies its log away; a server that still writes must count as one of them."""
    for look in range(3):
        with shared_place.person() as person:
            call = agent.ask(question(f"Look number {look}?"))
            ask = person.wait_for_ask(f"Look number {look}?")
            assert shared_place.show(ask.id)["status"] == State.PENDING
            person.answer(ask, "Yes")
            call.result(WAIT)
