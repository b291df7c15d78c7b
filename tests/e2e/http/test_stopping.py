"""A server that is asked to stop does so promptly, and those who wait at it go on elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import httpx2
from tests.e2e.http.harness import WAIT, HandshakeSession, Place, Replica, agent, new_token, replica
from tests.e2e.http.proxy import round_robin
from tests.e2e.stdio.harness import data_of, new_place, question, text_of

from sayso.asks.model import Ask


@contextmanager
def two_replicas(**settings: str) -> Iterator[tuple[Place, Replica, Replica]]:
    with new_place(**settings) as place, ExitStack() as running:
        yield place, running.enter_context(replica(place)), running.enter_context(replica(place))


def holder_of(ask: Ask, *replicas: Replica) -> Replica:
    """The replica at which the agent waits."""
    assert ask.wait is not None
    pid = int(ask.wait.process.partition("-")[0])
    return next(each for each in replicas if each.process.pid == pid)


def test_a_modern_call_goes_on_at_another_replica_without_its_agent_noticing() -> None:
    with two_replicas() as (place, one, other), place.person() as person, round_robin(one.port, other.port) as proxy:
        with agent(f"{proxy}/mcp", new_token(place, "a")) as asking:
            call = asking.ask(question("Shall we go on?"))
            ask = person.wait_for_ask("Shall we go on?")
            assert holder_of(ask, one, other).stop() == 0
            person.wait_for_change(ask, lambda now: now.wait is not None and now.wait != ask.wait)
            assert not call.done()
            person.answer(ask, "Yes")
            assert data_of(call.result(WAIT))["ask_id"] == ask.id
            person.wait_until_delivered(ask)
        assert [each.id for each in person.asks()] == [ask.id]


def test_a_handshake_client_is_told_to_come_back_and_does_so_at_another_replica() -> None:
    with two_replicas() as (place, one, other), place.person() as person:
        token = new_token(place, "a")
        with agent(one.mcp, token, "legacy") as asking:
            assert asking.tools()  # else this client would ask for them once it has a result
            call = asking.ask(question("Shall we go on?"))
            ask = person.wait_for_ask("Shall we go on?")
            assert one.stop() == 0
            told = data_of(call.result(WAIT))
        assert (told["outcome"], told["ask_id"]) == ("pending", ask.id)
        assert person.desk.events(ask.id)[-1].detail == "its server stopped"
        with agent(other.mcp, token, "legacy") as asking:
            waiting = asking.call("get_answers", {"ask_id": ask.id, "wait": True})
            person.wait_for_change(ask, lambda now: now.wait is not None)
            person.answer(ask, "Yes")
            (got,) = data_of(waiting.result(WAIT))["answers"]
            assert (got["ask_id"], got["outcome"]) == (ask.id, "answered")


def test_a_strict_profile_tells_a_handshake_client_to_make_the_same_call_again() -> None:
    with two_replicas(profile="auq") as (place, one, other), place.person() as person:
        token = new_token(place, "a")
        with agent(one.mcp, token, "legacy") as asking:
            call = asking.ask(question("Shall we go on?"))
            ask = person.wait_for_ask("Shall we go on?")
            assert one.stop() == 0
            told = call.result(WAIT)
        assert told.is_error
        assert "Make the same call again" in text_of(told)
        with agent(other.mcp, token, "legacy") as asking:
            call = asking.ask(question("Shall we go on?"))
            person.wait_for_change(ask, lambda now: now.wait is not None)
            person.answer(ask, "Yes")
            assert not call.result(WAIT).is_error
        assert [each.id for each in person.asks()] == [ask.id]


def test_open_streams_do_not_hold_up_the_end(http: httpx2.Client) -> None:
    """A stream for notices, which nobody ever ends, and a form that nobody fills in."""
    with new_place() as place, replica(place) as server:
        session = HandshakeSession(http, server.mcp, new_token(place, "a"))
        form = {"name": "question_ask", "arguments": {"question": "Anyone?"}}
        with (
            http.stream("GET", server.mcp, headers=session.headers) as notices,
            session.stream("tools/call", form) as waiting,
        ):
            lines = waiting.iter_lines()
            assert next(line for line in lines if line.startswith("data: {"))
            assert server.stop() == 0
            notices.read()
            rest = list(lines)
        assert not any('"result"' in line for line in rest)
