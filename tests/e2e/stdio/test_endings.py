"""How a wait ends without an answer: signals, end of input, a cancel. The ask stays, and so does the way back to it."""

from __future__ import annotations

import json
import signal

from mcp.shared.exceptions import MCPError
from tests.e2e.clients.kinds import LEGACY, MODERN
from tests.e2e.stdio.harness import WAIT, Agent, Person, Place, data_of, question

from sayso.asks.happening import NOT_READ
from sayso.asks.model import Ask, State

ENDED_BY = {MODERN: ("auto", signal.SIGTERM), LEGACY: ("legacy", signal.SIGINT)}
"""For an agent of each protocol: how another one like it connects, and the signal that ends its server."""


def is_answered_and_handed_over(agent: Agent, person: Person, ask: Ask) -> None:
    """Answer the unattended ask, and let an identical call of another server receive it."""
    person.answer(ask, "Yes")
    outcome = data_of(agent.ask(question(ask.questions[0].text)).result(WAIT))
    assert (outcome["ask_id"], outcome["answers"][0]["selected"]) == (ask.id, ["Yes"])
    person.wait_until_delivered(ask)


def test_a_signal_ends_the_server_and_leaves_the_ask_open(agent: Agent, person: Person, shared_place: Place) -> None:
    mode, number = ENDED_BY[agent.client.protocol_version]
    text = f"What about {number.name}?"
    with shared_place.agent(mode) as doomed:
        call = doomed.ask(question(text))
        ask = person.wait_for_ask(text)
        doomed.server.send_signal(number)
        doomed.server.wait(WAIT)
        assert isinstance(call.exception(WAIT), MCPError)
    assert doomed.exit_code == 0
    unattended = person.desk.get(ask.id)
    assert (unattended.state, unattended.wait) == (State.PENDING, None)
    assert f"Stopping on {number.name}" in doomed.log.whole()
    assert "Traceback" not in doomed.log.whole()
    is_answered_and_handed_over(agent, person, ask)


def test_the_end_of_input_ends_the_server_and_leaves_the_ask_open(
    agent: Agent, person: Person, shared_place: Place
) -> None:
    text = f"Is it over, on {agent.client.protocol_version}?"
    with shared_place.pipe() as pipe:
        pipe.connect(agent.client.protocol_version)
        pipe.begin("tools/call", name="ask_user_questions", arguments={"questions": [question(text)]})
        ask = person.wait_for_ask(text)
        pipe.close_input()
        assert pipe.process.wait(WAIT) == 0
    unattended = person.desk.get(ask.id)
    assert (unattended.state, unattended.wait) == (State.PENDING, None)
    is_answered_and_handed_over(agent, person, ask)


def test_an_answer_that_a_client_leaves_unread_when_it_goes_is_handed_to_the_next(
    agent: Agent, person: Person, shared_place: Place
) -> None:
    texts = [f"Did you read {number}, on {agent.client.protocol_version}?" for number in range(3)]
    with shared_place.pipe() as pipe:
        assert agent.client.client_info
        pipe.client = {"name": agent.client.client_info.name, "version": "1"}
        pipe.connect(agent.client.protocol_version)
        asks, calls = [], []
        for text in texts:
            calls.append(pipe.begin("tools/call", name="ask_user_questions", arguments={"questions": [question(text)]}))
            asks.append(person.wait_for_ask(text))
        for ask in asks:
            person.answer(ask, "Yes")
            person.wait_until_delivered(ask)
            if ask is asks[0]:
                pipe.response(calls[0])
    assert person.desk.get(asks[0].id).delivered
    for text, ask in zip(texts[1:], asks[1:], strict=True):
        owed = person.desk.get(ask.id)
        assert (owed.delivered, person.desk.events(ask.id)[-1].detail) == (False, NOT_READ)
        assert data_of(agent.ask(question(text)).result(WAIT))["ask_id"] == ask.id


def test_a_client_that_only_closes_its_input_reads_what_is_left(
    agent: Agent, person: Person, shared_place: Place
) -> None:
    text = f"Do you still listen, on {agent.client.protocol_version}?"
    with shared_place.pipe() as pipe:
        pipe.connect(agent.client.protocol_version)
        pipe.begin("tools/call", name="ask_user_questions", arguments={"questions": [question(text)]})
        ask = person.wait_for_ask(text)
        person.answer(ask, "Yes")
        person.wait_until_delivered(ask)
        pipe.close_input()
        assert pipe.process.wait(WAIT) == 0
        assert ask.id in json.dumps(pipe.rest())
    assert person.desk.get(ask.id).delivered


def test_a_cancelled_call_leaves_the_ask_open_and_not_cancelled(agent: Agent, person: Person) -> None:
    text = f"Never mind, on {agent.client.protocol_version}?"
    call = agent.ask(question(text))
    ask = person.wait_for_ask(text)
    assert call.cancel()
    unattended = person.wait_until_unattended(ask)
    assert unattended.state is State.PENDING
    (_, event) = person.desk.events(ask.id)
    assert (event.kind, event.detail) == ("unattended", "the client let go of the call")
    line = agent.log.wait_for(ask.id)
    assert "Session failed: the client let go" in line
    is_answered_and_handed_over(agent, person, ask)


def test_a_person_is_told_that_the_agent_no_longer_waits(agent: Agent, person: Person, shared_place: Place) -> None:
    text = f"Are you waiting, on {agent.client.protocol_version}?"
    call = agent.ask(question(text))
    ask = person.wait_for_ask(text)
    assert shared_place.show(ask.id)["attended"] is True
    assert call.cancel()
    person.wait_until_unattended(ask)
    seen = shared_place.show(ask.id)
    assert (seen["status"], seen["attended"]) == ("pending", False)
    is_answered_and_handed_over(agent, person, ask)
