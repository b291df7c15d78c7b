"""A person's say-so before a command runs: through the ordinary inbox, and anything but a yes is a no."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.e2e.run.kit import (
    WAIT,
    Place,
    background,
    data_of,
    eventually,
    text_of,
    waited_for,
    worker,
)

from sayso.asks.model import Answer, Ask, Settler
from sayso.errors import AlreadySettled, InvalidInput


def about(script: str) -> Callable[[Ask], bool]:
    def fits(ask: Ask) -> bool:
        return script in ask.questions[0].text

    return fits


def test_a_command_waits_for_a_yes_and_the_agent_goes_on(place: Place, mode: str) -> None:
    background(place, approve="always")
    with worker(place, mode) as one, place.person() as person:
        result = one.do("bg", script="touch done; echo ran")
        data = data_of(result)
        assert data["status"] == "queued"
        assert "begins after the user's say-so" in text_of(result)
        ask = person.wait_for_ask(about("touch done"))
        assert ask.title == "Run bg?"
        assert "bash -c 'touch done; echo ran'" in ask.questions[0].text
        assert str(place.project) in ask.questions[0].text
        assert one.status(data["id"])["status"] == "queued"
        assert not (place.project / "done").exists()
        person.answer(ask, "Yes")
        assert one.ended(data["id"])["stdout"] == "ran\n"
        again = one.start("bg", script="touch done; echo ran")
        assert person.wait_for_ask(about("touch done")).id != ask.id
        one.do("cancel", id=again)


def test_whatever_else_a_person_does_the_command_is_not_run(place: Place) -> None:
    waited_for(place, approve="always")
    background(place, approve="always")
    ada = Settler(person="ada", surface="test")
    with worker(place) as one, place.person() as person:
        ways: dict[str, Callable[[Ask], object]] = {
            "answered no": lambda ask: person.answer(ask, "No"),
            "rejected": lambda ask: person.reject(ask, "too dangerous"),
            "declined": lambda ask: person.desk.decline(ask.id, ada),
            "cancelled": lambda ask: person.desk.cancel(ask.id, ada),
        }
        for way, say_no in ways.items():
            call = one.call("fg", {"script": f"touch never; echo {way}"})
            say_no(person.wait_for_ask(about(way)))
            result = call.result(WAIT)
            assert result.is_error
            assert "ada did not allow it" in text_of(result)
            assert ("Reason: too dangerous" in text_of(result)) == (way == "rejected")
            assert data_of(result)["status"] == "cancelled"

        # Nor is anybody bothered any more once the operation itself is cancelled.
        queued = one.start("bg", script="touch never")
        person.wait_for_ask(about("touch never"))
        one.do("cancel", id=queued)
        person.wait_until(lambda: True if not person.inbox() else None)
        assert one.status(queued)["status"] == "cancelled"
    assert not (place.project / "never").exists()


@pytest.mark.finding("F-93")
def test_a_note_beside_no_reaches_the_agent_and_one_beside_yes_is_refused(place: Place) -> None:
    waited_for(place, approve="always")
    with worker(place) as one, place.person() as person:
        call = one.call("fg", {"script": "touch never"})
        ask = person.wait_for_ask(about("touch never"))
        said = Answer(question=ask.questions[0].id, chosen=("yes",), note="But not on Fridays.")
        with pytest.raises(InvalidInput, match="your note would not reach it"):
            person.desk.answer(ask.id, [said], Settler(person="ada", surface="test"))
        person.desk.answer(ask.id, [replace(said, chosen=("no",))], Settler(person="ada", surface="test"))
        assert "Reason: But not on Fridays." in text_of(call.result(WAIT))
    assert not (place.project / "never").exists()


def test_once_holds_for_the_tool_as_long_as_the_server_lives(place: Place) -> None:
    background(place, approve="once")
    with worker(place) as one, place.person() as person:
        first, second = one.start("bg", script="echo one"), one.start("bg", script="echo two")
        ask = person.wait_for_ask(lambda ask: ask.title == "Run bg?")
        assert "A yes holds for all further calls of bg in this session." in ask.questions[0].text
        assert len(person.inbox()) == 1
        person.answer(ask, "Yes")
        assert (one.ended(first)["stdout"], one.ended(second)["stdout"]) == ("one\n", "two\n")
        assert data_of(one.do("bg", script="echo three"))["status"] == "started"
        assert person.inbox() == []
    with worker(place) as again, place.person() as person:
        again.start("bg", script="echo four")
        assert person.wait_for_ask(lambda ask: ask.title == "Run bg?")


@pytest.mark.finding("F-06")
def test_a_call_that_cannot_wait_any_longer_takes_its_question_with_it(place: Place) -> None:
    waited_for(place, approve="always")
    with worker(place, environment={"SAYSO_CALL_LIMITS": "tester=1s"}) as one, place.person() as person:
        early = one.do("fg", script="touch ran")
        assert early.is_error
        assert "nobody allowed it while this call could wait" in text_of(early)
        eventually(lambda: person.inbox() == [])
        (ask,) = person.asks()
        with pytest.raises(AlreadySettled):
            person.answer(ask, "Yes")
        assert one.do("fg", script="touch ran").is_error
        assert len(person.asks()) == 2, "the same call is asked about again"
    assert not (place.project / "ran").exists()
