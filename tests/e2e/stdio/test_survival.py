"""Nothing is lost when a server dies: the ask outlives it, its answer waits, and nobody is asked twice."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from mcp.shared.exceptions import MCPError
from tests.e2e.stdio.harness import WAIT, Agent, Person, Place, data_of, new_place, question

from sayso.asks.model import Ask, State


@pytest.fixture(params=["sqlite", "postgresql"])
def lasting_place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """A machine whose store is of each kind."""
    settings = {"store": request.getfixturevalue("postgres_address")} if request.param == "postgresql" else {}
    with new_place(**settings) as place:
        yield place


def ask_and_kill(place: Place, mode: str, person: Person) -> Ask:
    """An agent asks, and its server is killed while the call waits."""
    with place.agent(mode) as agent:
        call = agent.ask(question("Will it last?"))
        ask = person.wait_for_ask("Will it last?")
        agent.server.kill()
        assert isinstance(call.exception(WAIT), MCPError)
    assert agent.exit_code == 128 + signal.SIGKILL
    return ask


def is_the_only_one(ask: Ask, person: Person) -> bool:
    return [each.id for each in person.asks()] == [ask.id]


def test_an_answer_given_while_no_server_runs_is_handed_to_the_next_identical_call(
    lasting_place: Place, mode: str
) -> None:
    with lasting_place.person() as person:
        ask = ask_and_kill(lasting_place, mode, person)
        answered = lasting_place.run("answer", ask.id, "Yes")
        assert answered.returncode == 0, answered.stderr
        assert "not waiting now" in answered.stderr
        with lasting_place.agent(mode) as agent:
            outcome = data_of(agent.ask(question("Will it last?")).result(WAIT))
            person.wait_until_delivered(ask)
        assert outcome["answers"][0]["selected"] == ["Yes"]
        assert (outcome["ask_id"], outcome["late"]) == (ask.id, False)
        assert is_the_only_one(ask, person)
        kinds = [event.kind for event in person.desk.events(ask.id)]
        assert kinds == ["opened", "unattended", "answered", "attended", "delivered"]


def test_an_identical_call_to_a_new_server_takes_up_the_open_ask(lasting_place: Place) -> None:
    with lasting_place.person() as person:
        ask = ask_and_kill(lasting_place, "auto", person)
        with lasting_place.agent("legacy") as agent:
            call = agent.ask(question("Will it last?"))
            person.wait_for_change(ask, lambda now: now.wait is not None and now.wait != ask.wait)
            person.answer(ask, "No")
            assert data_of(call.result(WAIT))["answers"][0]["selected"] == ["No"]
        assert is_the_only_one(ask, person)


def test_an_answer_that_a_dying_server_never_passed_on_is_not_lost(lasting_place: Place) -> None:
    with lasting_place.person() as person:
        with lasting_place.agent() as agent:
            call = agent.ask(question("Has it heard?"))
            ask = person.wait_for_ask("Has it heard?")
            agent.server.suspend()
            person.answer(ask, "Yes")
            agent.server.kill()
            assert isinstance(call.exception(WAIT), MCPError)
        assert not person.desk.get(ask.id).delivered
        with lasting_place.agent() as agent:
            outcome = data_of(agent.ask(question("Has it heard?")).result(WAIT))
            person.wait_until_delivered(ask)
        assert outcome["answers"][0]["selected"] == ["Yes"]
        assert is_the_only_one(ask, person)


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


def test_servers_that_meet_at_a_new_store_all_find_it_ready(lasting_place: Place) -> None:
    """Each is the first to open the store, and each must make the tables or find them made."""
    with lasting_place.agent("auto") as first, lasting_place.agent("legacy") as second:
        calls = [agent.ask(question(f"Who is {number}?")) for number, agent in enumerate((first, second))]
        with lasting_place.person() as person:
            for number, call in enumerate(calls):
                person.answer(person.wait_for_ask(f"Who is {number}?"), "Yes")
                assert data_of(call.result(WAIT))["outcome"] == "answered"
