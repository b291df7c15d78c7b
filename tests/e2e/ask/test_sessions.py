"""Several sessions of one agent in one project: each gets the answers to its own questions, and no other's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.e2e.ask.house import asks_named
from tests.e2e.clients.events import Json
from tests.e2e.stdio.harness import WAIT, Agent, Person, Place, data_of, new_place, text_of
from tests.running.processes import eventually

from sayso.asks.model import State
from sayso.processes import name_of

PROCEED: Json = {"question": "Proceed?", "options": ["Yes", "No"]}

pytestmark = pytest.mark.finding("F-84")


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """A machine on each kind of store, where the person has an inbox open."""
    store = {"store": request.getfixturevalue("postgres_address")} if request.param == "postgres" else {}
    with new_place(**store) as place:
        yield place


@contextmanager
def session(place: Place, mode: str = "auto", name: str = "") -> Iterator[Agent]:
    named = {"CLAUDE_CODE_SESSION_ID": name} if name else {}
    with place.agent(mode, program="sayso", environment=named) as agent:
        yield agent


def ask_and_leave(agent: Agent) -> str:
    """Ask and be told that there is no answer yet; the id of the ask."""
    told = data_of(agent.call("ask_user", {**PROCEED, "nonBlocking": True}).result(WAIT))
    assert told["outcome"] == "pending"
    return str(told["ask_id"])


@pytest.mark.parametrize("names", [("", ""), ("s-1", "s-2")], ids=["nameless", "named"])
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_living_session_does_not_get_anothers_yes_and_the_person_sees_its_question(
    place: Place, mode: str, names: tuple[str, str]
) -> None:
    with session(place, mode, names[0]) as a, session(place, mode, names[1]) as b, place.person() as person:
        person.desk.show_up("test", "ada")
        first = ask_and_leave(a)
        person.answer(person.desk.get(first), "Yes")
        assert data_of(b.call("get_answers", {}).result(WAIT))["answers"] == []
        call = b.call("ask_user", PROCEED)
        second = person.wait_for_ask("Proceed?")
        assert second.id != first
        person.answer(second, "No")
        told = data_of(call.result(WAIT))
        assert told["ask_id"] == second.id
        assert "late_answers" not in told
        (got,) = data_of(a.call("get_answers", {}).result(WAIT))["answers"]
        assert (got["ask_id"], got["outcome"]) == (first, "answered")
        assert len(asks_named(person, "Proceed?")) == 2


def answered_after_its_session(place: Place, person: Person) -> str:
    """The id of an ask whose session was gone when it was answered."""
    person.desk.show_up("test", "ada")
    with session(place, name="s-1") as gone:
        first = ask_and_leave(gone)
    person.answer(person.desk.get(first), "Yes")
    return first


def test_the_answer_of_a_session_that_is_gone_reaches_the_next_and_says_whose_it_was(place: Place) -> None:
    with place.person() as person:
        first = answered_after_its_session(place, person)
        with session(place, name="s-2") as b:
            told = data_of(b.call("ask_user", PROCEED).result(WAIT))
        assert (told["ask_id"], told["outcome"]) == (first, "answered")
        assert "for another session, not you, which has ended: this is what it asked at" in told["given_earlier"]


def test_the_next_session_is_told_that_the_yes_was_to_the_question_of_another(place: Place) -> None:
    with place.person() as person:
        first = answered_after_its_session(place, person)
        with session(place, name="s-2") as b:
            call = b.call("ask_user", {"question": "Something else?"})
            person.answer(person.wait_for_ask("Something else?"), "Other")
            mentioned = data_of(call.result(WAIT))["late_answers"]
            assert f"of another session, which has ended, have arrived ({first})" in mentioned
            assert "of yours" not in mentioned
            got = b.call("get_answers", {}).result(WAIT)
        told = "Proceed?\nAnother session, not you, asked this"
        assert told in text_of(got)
        assert told in data_of(got)["message"]


def test_a_killed_server_leaves_its_answer_to_its_clients_next(place: Place) -> None:
    with place.person() as person:
        person.desk.show_up("test", "ada")
        with session(place) as a:
            first = ask_and_leave(a)
            a.server.kill()
            a.server.wait(WAIT)
        person.answer(person.desk.get(first), "Yes")
        with session(place) as b:
            (got,) = data_of(b.call("get_answers", {}).result(WAIT))["answers"]
        assert got["ask_id"] == first


def test_a_resumed_session_takes_up_its_question_from_another_server(place: Place) -> None:
    with session(place, name="s-1") as a, session(place, name="s-1") as b, place.person() as person:
        person.desk.show_up("test", "ada")
        first = ask_and_leave(a)
        person.answer(person.desk.get(first), "Yes")
        assert data_of(b.call("ask_user", PROCEED).result(WAIT))["ask_id"] == first


def test_the_hook_of_another_session_does_not_tell_the_answer(place: Place) -> None:
    def told_to(session_id: str) -> str:
        event = {"hook_event_name": "PostToolUse", "cwd": str(place.project), "session_id": session_id}
        return place.run("hook", given=json.dumps(event)).stdout

    named = {"CLAUDE_CODE_SESSION_ID": "s-1"}
    with place.agent(program="sayso", environment=named, name="claude-code") as a, place.person() as person:
        person.desk.show_up("test", "ada")
        person.answer(person.desk.get(ask_and_leave(a)), "Yes")
        assert told_to("s-2") == ""
        # On a busy machine a step may be over before its hook has an answer. That is for the next step, then.
        eventually(lambda: "Proceed?" in told_to("s-1"))


@pytest.mark.parametrize("asks_again", [False, True], ids=["idle", "asks again"])
def test_what_a_resumed_session_asked_goes_to_no_other(place: Place, asks_again: bool) -> None:
    with place.person() as person:
        person.desk.show_up("test", "ada")
        with session(place, name="s-1") as a:
            first = ask_and_leave(a)
        with session(place, name="s-1") as resumed, session(place, name="s-2") as b:
            if asks_again:
                assert ask_and_leave(resumed) == first
            else:
                resumed.call("question_summary", {}).result(WAIT)
            person.answer(person.desk.get(first), "Yes")
            assert data_of(b.call("get_answers", {}).result(WAIT))["answers"] == []
            call = b.call("ask_user", PROCEED)
            second = person.wait_for_ask("Proceed?")
            assert second.id != first
            person.answer(second, "No")
            assert data_of(call.result(WAIT))["ask_id"] == second.id
            (got,) = data_of(resumed.call("get_answers", {}).result(WAIT))["answers"]
            assert (got["ask_id"], got["outcome"]) == (first, "answered")


def test_the_id_of_another_sessions_question_hands_over_nothing_while_that_lives(place: Place) -> None:
    with session(place, name="s-2") as b, place.person() as person:
        person.desk.show_up("test", "ada")
        with session(place, name="s-1") as a:
            first = ask_and_leave(a)
            person.answer(person.desk.get(first), "Yes")
            refused = b.call("get_answers", {"ask_id": first}).result(WAIT)
            assert refused.is_error
            assert "another session, which is still at work, asked it" in text_of(refused)
            (got,) = data_of(a.call("get_answers", {}).result(WAIT))["answers"]
            assert (got["ask_id"], got["outcome"]) == (first, "answered")
            second = ask_and_leave(a)
        person.answer(person.desk.get(second), "No")
        (left,) = data_of(b.call("get_answers", {"ask_id": second}).result(WAIT))["answers"]
        assert (left["ask_id"], left["outcome"]) == (second, "answered"), "it passes on once that is gone"


class ClaudeAtWork:
    """A Claude Code that goes from one session to another, and keeps its servers."""

    def __init__(self, place: Place, began_in: str) -> None:
        self._folder, self._began_in = place.folder / f"claude-{began_in}", began_in
        (self._folder / "sessions").mkdir(parents=True)
        self.goes_to(began_in)

    def goes_to(self, session: str, started: str | None = None) -> None:
        self.also_runs(os.getpid(), session, started)

    def also_runs(self, pid: int, session: str, started: str | None = None) -> None:
        process = name_of(pid)
        assert process is not None
        noted = {"pid": pid, "procStart": started or process.started, "sessionId": session}
        (self._folder / "sessions" / f"{pid}.json").write_text(json.dumps(noted))

    @property
    def environment(self) -> dict[str, str]:
        return {"CLAUDE_CODE_SESSION_ID": self._began_in, "CLAUDE_CONFIG_DIR": str(self._folder)}


def test_what_a_client_asks_after_it_has_left_a_session_is_not_told_to_who_resumes_that(place: Place) -> None:
    claude = ClaudeAtWork(place, "s-1")
    with (
        place.agent(program="sayso", name="claude-code", environment=claude.environment) as cleared,
        place.agent(program="sayso", name="claude-code", environment={"CLAUDE_CODE_SESSION_ID": "s-1"}) as resumed,
        place.person() as person,
    ):
        person.desk.show_up("test", "ada")
        claude.goes_to("s-2")
        first = ask_and_leave(cleared)
        assert person.desk.get(first).asker.session == "s-2"
        person.answer(person.desk.get(first), "Yes")
        assert data_of(resumed.call("get_answers", {}).result(WAIT))["answers"] == []
        (got,) = data_of(cleared.call("get_answers", {}).result(WAIT))["answers"]
        assert got["ask_id"] == first


def test_what_was_asked_before_a_client_left_a_session_is_told_as_another_sessions(place: Place) -> None:
    claude = ClaudeAtWork(place, "s-1")
    with (
        place.agent(program="sayso", name="claude-code", environment=claude.environment) as agent,
        place.person() as person,
    ):
        person.desk.show_up("test", "ada")
        first = ask_and_leave(agent)
        claude.goes_to("s-2")
        person.answer(person.desk.get(first), "Yes")
        got = agent.call("get_answers", {}).result(WAIT)
        assert "Proceed?\nAnother session, not you, asked this" in text_of(got)


def test_an_answer_waits_for_a_session_that_was_resumed_and_has_called_no_tool_yet(place: Place) -> None:
    claude = ClaudeAtWork(place, "s-1")
    other = {**claude.environment, "CLAUDE_CODE_SESSION_ID": "s-2"}
    with place.person() as person, place.agent(program="sayso", name="claude-code", environment=other) as b:
        person.desk.show_up("test", "ada")
        with place.agent(program="sayso", name="claude-code", environment=claude.environment) as a:
            first = ask_and_leave(a)
        claude.goes_to("s-2")  # who asks now, by the same file
        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as resumed:
            claude.also_runs(resumed.pid, "s-1")
            person.answer(person.desk.get(first), "Yes")
            assert data_of(b.call("get_answers", {}).result(WAIT))["answers"] == []
            second = ask_and_leave(b)
            assert second != first
            assert person.desk.get(second).state is State.PENDING
            assert b.call("get_answers", {"ask_id": first}).result(WAIT).is_error
            resumed.kill()
        (got,) = data_of(b.call("get_answers", {}).result(WAIT))["answers"]
        assert got["ask_id"] == first


def test_an_open_question_of_another_session_is_named_as_such_and_taken_over_only_by_name(place: Place) -> None:
    with place.person() as person:
        person.desk.show_up("test", "ada")
        with session(place, name="s-1") as gone:
            first = ask_and_leave(gone)
        with session(place, name="s-2") as agent:
            told = agent.call("get_answers", {"wait": True}).result(WAIT)
            assert "Another session, which has ended, asked these" in text_of(told)
            assert [each["ask_id"] for each in data_of(told)["pending"]] == [first]
            assert person.desk.get(first).asker.session == "s-1"
            call = agent.call("get_answers", {"wait": True, "ask_id": first})
            eventually(lambda: person.desk.get(first).asker.session == "s-2")
            person.answer(person.desk.get(first), "Yes")
            assert data_of(call.result(WAIT))["answers"][0]["ask_id"] == first


def test_the_note_of_another_process_of_the_same_number_names_no_session(place: Place) -> None:
    claude = ClaudeAtWork(place, "s-1")
    claude.goes_to("s-2", started="long ago")
    with (
        place.agent(program="sayso", name="claude-code", environment=claude.environment) as agent,
        place.person() as person,
    ):
        assert person.desk.get(ask_and_leave(agent)).asker.session == "s-1"
