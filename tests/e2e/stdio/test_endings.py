"""How a wait ends without an answer: signals, end of input, a cancel. The ask stays, and so does the way back to it."""

from __future__ import annotations

import signal

from mcp.shared.exceptions import MCPError
from tests.e2e.clients.kinds import LEGACY, MODERN
from tests.e2e.stdio.harness import WAIT, Agent, Person, Place, data_of, question

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
