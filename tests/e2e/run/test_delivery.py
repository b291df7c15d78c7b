"""Results of background commands reach the session that started them, with whatever it calls next, and no other."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest
from tests.e2e.run.kit import (
    WAIT,
    Place,
    Worker,
    background,
    data_of,
    eventually,
    fresh_token,
    gone,
    text_of,
    waited_for,
    with_argument,
    worker,
)
from tests.e2e.stdio.harness import new_place

pytestmark = pytest.mark.finding("F-85")


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """A machine on each kind of store, with a command that runs in the background and one that is waited for."""
    store = {"store": request.getfixturevalue("postgres_address")} if request.param == "postgres" else {}
    with new_place(**store) as place:
        background(place)
        waited_for(place)
        yield place


def finished(one: Worker) -> str:
    """The id of a command that has ended, of which its agent knows only that it was started."""
    started = one.start("bg", script="echo what; echo why >&2; exit 9")
    eventually(lambda: data_of(one.do("output", id=started))["status"] == "failed")
    return started


ANY_CALL: list[tuple[str, dict[str, Any]]] = [
    ("ask_user", {"question": "Go on?", "nonBlocking": True}),
    ("ask_user", {"question": "Go on?", "options": 7}),
    ("get_answers", {}),
    ("status", {}),
    ("status", {"id": "no such"}),
    ("await", {"timeout_seconds": 1}),
    ("fg", {"script": "echo here"}),
    ("bg", {"script": "true"}),
]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_next_reply_of_any_tool_brings_the_result_once(place: Place, mode: str) -> None:
    with worker(place, mode) as one:
        for tool, arguments in ANY_CALL:
            ended = finished(one)
            told = one.do(tool, **arguments)
            (brought,) = [each for each in data_of(told)["finished"] if each["id"] == ended]
            assert (brought["exit_code"], brought["stdout"], brought["stderr"]) == (9, "what\n", "why\n")
            assert f"bg (operation {ended}) failed with exit code 9" in text_of(told)
            assert ended not in text_of(one.do("get_answers"))


def test_an_answer_and_a_result_come_in_one_reply_and_both_are_whole(place: Place) -> None:
    with worker(place) as one, place.person() as person:
        person.desk.show_up("test", "ada")
        call = one.call("ask_user", {"question": "Proceed?", "options": ["Yes", "No"]})
        ask = person.wait_for_ask("Proceed?")
        ended = finished(one)
        person.answer(ask, "Yes")
        told = data_of(call.result(WAIT))
        assert (told["outcome"], told["ask_id"]) == ("answered", ask.id)
        assert [each["id"] for each in told["finished"]] == [ended]


def test_a_question_brings_the_result_of_a_session_that_is_gone(place: Place) -> None:
    with worker(place) as one:
        left = one.start("bg", script="sleep 0.2; echo late")
    eventually((place.state / "operations" / left / "status.json").exists)
    with worker(place) as next_one:
        told = data_of(next_one.do("ask_user", question="Go on?", nonBlocking=True))
        assert [(each["id"], each["stdout"]) for each in told["finished"]] == [(left, "late\n")]


def test_a_living_session_gets_neither_the_results_nor_the_waits_of_another(place: Place) -> None:
    token = fresh_token()
    with worker(place) as a, worker(place) as b:
        running, ended = a.start("bg", script=f"sleep {token}"), finished(a)
        for tool, arguments in ANY_CALL:
            told = text_of(b.do(tool, **arguments))
            assert ended not in told
            assert running not in told
        assert [each["id"] for each in data_of(a.do("get_answers"))["finished"]] == [ended]
        a.do("cancel", id=running)


def test_a_session_that_goes_on_with_another_server_gets_its_results_though_the_first_lives(place: Place) -> None:
    name = {"CLAUDE_CODE_SESSION_ID": "s-1"}
    with worker(place, environment=name) as first, worker(place, environment=name) as second:
        ended = finished(first)
        assert [each["id"] for each in data_of(second.do("get_answers"))["finished"]] == [ended]


def test_the_first_reply_says_what_becomes_of_a_command_whose_agent_finishes_and_that_is_so(place: Place) -> None:
    token = fresh_token()
    with worker(place) as one:
        told = one.do("bg", script=f"sleep {token}")
        for words in (text_of(told), data_of(told)["message"]):
            assert "comes with the next reply of any tool here" in words
            assert "If you finish first, your client may stop it: call await before" in words
        eventually(lambda: with_argument(token))
        one.server.send_signal(signal.SIGTERM)
        one.server.wait(30)
        assert gone(token)
    with worker(place) as next_one:
        (cancelled,) = data_of(next_one.do("get_answers"))["finished"]
        assert cancelled["cancelled_by"] == "the server, which was stopped"
