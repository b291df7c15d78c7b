"""A server that is asked to stop does so promptly; those who wait at it go on elsewhere, or here once it is back."""

from __future__ import annotations

import json
import secrets
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.e2e.clients.driver import ClientProgram, ServerAddress
from tests.e2e.clients.kinds import CLIENTS, OLDER_PROTOCOL
from tests.e2e.http.harness import TOOL, WAIT, HandshakeSession, Place, Replica, agent, new_token, number, replica
from tests.e2e.http.proxy import patient, round_robin
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


@pytest.mark.finding("F-86")
@pytest.mark.timeout(400)
def test_calls_of_every_handshake_client_go_on_after_their_server_was_killed_and_restarted(
    http: httpx2.Client, tmp_path: Path
) -> None:
    kinds = [*(kind for kind in CLIENTS if not kind.modern), OLDER_PROTOCOL]
    with new_place() as place, replica(place) as server, place.person() as person, ExitStack() as open_:
        token = new_token(place, "a")
        address = open_.enter_context(patient(server.port))
        at = ServerAddress(url=f"{address}/mcp", headers={"Authorization": f"Bearer {token}"})
        waiting = {}
        for kind in kinds:
            program = open_.enter_context(ClientProgram(kind, tmp_path / kind.id))
            program.connect(at, elicitation=None)
            call = program.call_start(TOOL, {"questions": [question(f"Is {kind.id} there?")]})
            waiting[kind.id] = program, call, person.wait_for_ask(f"Is {kind.id} there?")
        # Whoever has a question open is told how to come back before anybody else is served.
        assert number(http, server, 'sayso_calls_open{tool="ask_user_questions"}') == len(kinds)
        # What a client has not read when its connection breaks, it throws away, and does not know how to come back.
        for program, _, _ in waiting.values():
            assert program.list_tools()
        server.kill()
        server.start_again()
        for program, call, ask in waiting.values():
            person.wait_for_change(ask, _is_held_again(ask), 2 * WAIT)
            person.answer(ask, "Yes")
            structured = program.wait_result(call).structured
            assert (structured["ask_id"], structured["answers"][0]["selected"]) == (ask.id, ["Yes"])
            assert "given_earlier" not in structured
            person.wait_until_delivered(ask)
        assert len(person.asks()) == len(kinds)


def _is_held_again(ask: Ask) -> Any:
    return lambda now: now.wait is not None and now.wait != ask.wait


@pytest.mark.finding("F-86")
def test_a_modern_client_of_a_server_that_stops_is_told_that_its_question_is_open() -> None:
    """There is nobody else to go on with, and it comes again at once."""
    with new_place() as place, replica(place) as server, place.person() as person:
        with agent(server.mcp, new_token(place, "a")) as asking:
            assert asking.tools()
            call = asking.ask(question("Shall we go on?"))
            ask = person.wait_for_ask("Shall we go on?")
            left = data_of(asking.call("ask_user", {"question": "And this?", "nonBlocking": True}).result(WAIT))
            fetching = asking.call("get_answers", {"ask_id": left["ask_id"], "wait": True})
            person.wait_for_change(person.desk.get(left["ask_id"]), lambda now: now.wait is not None)
            assert server.stop() == 0
            told, fetched = data_of(call.result(WAIT)), data_of(fetching.result(WAIT))
        assert (told["outcome"], told["ask_id"]) == ("pending", ask.id)
        # Called again at once its client would say ECONNREFUSED, and no more.
        for each in (told, fetched):
            assert "if your next call fails, make it again after a while" in each["stopping"]
        assert [each.id for each in person.asks()] == [ask.id, left["ask_id"]]


@pytest.mark.finding("F-86")
def test_a_stopping_server_hands_over_before_it_closes_and_sends_those_who_call_again_to_its_successor(
    http: httpx2.Client,
) -> None:
    with new_place() as place, replica(place) as server, place.person() as person:
        session = HandshakeSession(http, server.mcp, new_token(place, "a"))
        asked = {"name": TOOL, "arguments": {"questions": [question("Shall we go on?")]}}
        long = {"name": TOOL, "arguments": {"questions": [question(secrets.token_hex(4000))]}}
        with session.stream("tools/call", asked) as waiting:
            ask = person.wait_for_ask("Shall we go on?")
            server.process.send_signal(signal.SIGTERM)
            assert [each["result"]["structuredContent"]["outcome"] for each in _answers(waiting)] == ["pending"]
        # Nobody takes longer to call again than a program does.
        short_id, long_id = (_last_event(session.post("tools/call", each)) for each in (asked, long))
        assert server.process.wait(WAIT) == 0
        server.start_again()
        with http.stream("GET", server.mcp, headers={**session.headers, "Last-Event-ID": short_id}) as resumed:
            person.wait_for_change(ask, _is_held_again(ask))
            person.answer(ask, "Yes")
            (answer,) = _answers(resumed)
        assert (answer["id"], answer["result"]["structuredContent"]["ask_id"]) == (1, ask.id)
        told = http.get(server.mcp, headers={**session.headers, "Last-Event-ID": long_id})
        (refused,) = _answers(told)
        assert (refused["id"], "Make the same call again" in refused["error"]["message"]) == (1, True)
        assert [each.id for each in person.asks()] == [ask.id]


def _answers(stream: httpx2.Response) -> list[dict[str, Any]]:
    """What is no form and no sign of life."""
    told = [json.loads(line[len("data: ") :]) for line in stream.iter_lines() if line.startswith("data: {")]
    return [each for each in told if "method" not in each]


def _last_event(stream: httpx2.Response) -> str:
    """The id by which a client comes back to a stream that told it nothing else."""
    assert (stream.status_code, _answers(stream)) == (200, [])
    return [line[len("id: ") :] for line in stream.iter_lines() if line.startswith("id: ")][-1]
