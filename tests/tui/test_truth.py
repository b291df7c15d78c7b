"""The screen tells the truth: whatever happens to an open ask elsewhere shows at once, and nothing typed is lost."""

from __future__ import annotations

import pytest
from tests.tui.harness import NAME, Person, Place, option, select

from sayso.asks.desk import Retention
from sayso.asks.model import Answer, Settler, State

pytestmark = pytest.mark.anyio

BEN = Settler(person="ben", surface="browser")


async def begin(place: Place, anna: Person) -> None:
    """Open the only ask and type something."""
    await anna.open()
    await anna.type("half an ans")
    await anna.sees("half an ans")


async def test_an_answer_given_elsewhere_shows_at_once_and_keeps_what_was_typed(place: Place) -> None:
    held = place.ask(NAME)
    async with place.inbox() as anna:
        await begin(place, anna)
        place.desk.answer(held.ask.id, [Answer(question="name", text="taken")], BEN)
        await anna.sees("Already answered by ben in the browser", "half an ans")
        await anna.press("enter", "enter")
        await anna.sees("half an ans")
    assert place.now(held).answer("name") == Answer(question="name", text="taken")


@pytest.mark.parametrize(
    ("settle", "told"),
    [("reject", "Already rejected by ben"), ("decline", "Already declined by ben"), ("cancel", "Already cancelled")],
)
async def test_every_no_from_elsewhere_shows_at_once(place: Place, settle: str, told: str) -> None:
    held = place.ask(NAME)
    async with place.inbox() as anna:
        await begin(place, anna)
        arguments = [held.ask.id, *(["why"] if settle == "reject" else []), BEN]
        getattr(place.desk, settle)(*arguments)
        await anna.sees(told, "half an ans")


async def test_a_wait_that_ran_out_shows_and_the_answer_still_counts_late(place: Place) -> None:
    held = place.ask(NAME, timeout_ms=10_000)
    async with place.inbox() as anna:
        await begin(place, anna)
        place.desk.time_out(held)
        await anna.sees("The agent's wait ran out. You can still answer, late", "half an ans")
        await anna.press("enter")
        await anna.sees("Check your answers")
        await anna.press("enter")
        await anna.sees("claude-code is not waiting now; it gets this when it asks the same again.")
    ended = place.now(held)
    assert ended.state is State.ANSWERED
    assert ended.outcome is not None
    assert ended.outcome.late


async def test_an_agent_that_goes_away_shows_and_the_person_is_told_what_becomes_of_the_answer(place: Place) -> None:
    held = place.ask(NAME)
    async with place.inbox() as anna:
        await begin(place, anna)
        place.desk.release(held, "the client let go of the call")
        await anna.sees("The agent is not waiting now. You can still answer", "half an ans")
        await anna.press("enter", "enter")
        await anna.sees("claude-code is not waiting now; it gets this when it asks the same again.")
    assert place.now(held).state is State.ANSWERED


async def test_an_agent_that_comes_back_takes_the_warning_away(place: Place) -> None:
    held = place.ask(NAME)
    async with place.inbox() as anna:
        await begin(place, anna)
        place.desk.release(held, "the client let go of the call")
        await anna.sees("The agent is not waiting now")
        place.desk.attach(held.ask.id)
        await anna.sees_not("The agent is not waiting now")
        await anna.sees("half an ans")


async def test_an_ask_that_expires_shows(place: Place) -> None:
    held = place.ask(NAME)
    place.desk.release(held, "the client let go of the call")
    async with place.inbox() as anna:
        await begin(place, anna)
        place.desk.clean_up(Retention(ended=10**12, undelivered=10**12, unattended=-1))
        await anna.sees("this expired", "half an ans")


async def test_an_ask_that_is_deleted_shows(place: Place) -> None:
    held = place.ask(NAME)
    async with place.inbox() as anna:
        await begin(place, anna)
        # In one turn of the loop: the inbox sees only the end of it.
        place.desk.release(held, "the client let go of the call")
        place.desk.cancel(held.ask.id, BEN)
        place.desk.clean_up(Retention(ended=-1, undelivered=-1, unattended=10**12))
        await anna.sees("no longer in the store", "half an ans")


async def test_who_loses_the_race_hears_so_and_keeps_what_was_entered(place: Place) -> None:
    held = place.ask(select())
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("1")
        await anna.sees("Check your answers")
        # Both in one turn of the loop: the person sends before the bell has been heard.
        place.desk.answer(held.ask.id, [Answer(question="q", chosen=("b",))], BEN)
        await anna.app.screen.run_action("submit")
        await anna.sees("Already answered by ben in the browser", "Red")
    assert place.now(held).answer("q") == Answer(question="q", chosen=("b",))


async def test_the_person_hears_when_the_agent_has_the_answer(place: Place) -> None:
    held = place.ask(select())
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("1", "enter")
        await place.outcome(held)
        place.desk.delivered(held)
        await anna.sees("claude-code received it.")


async def test_the_person_hears_that_an_agent_takes_its_time_and_then_that_it_has_the_answer(place: Place) -> None:
    held = place.ask(select())
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("1", "enter")
        await anna.sees("Sent. Waiting for claude-code to fetch it.")
        place.desk.delivered(held)
        await anna.sees("claude-code received it.")


async def test_what_has_ended_offers_no_key_that_answers_and_takes_none(place: Place) -> None:
    held = place.ask(select("Which one?", option("r", "Red", recommended=True), option("b", "Blue")))
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("enter choose", "r accept recommended", "o own words", "a note")
        place.desk.answer(held.ask.id, [Answer(question="q", chosen=("b",))], BEN)
        await anna.sees("Already answered by ben")
        await anna.sees_not("choose one")
        for key in ("enter choose", "r accept recommended", "o own words", "a note", "f attach"):
            await anna.sees_not(key)
        await anna.press("1", "r", "enter")
        await anna.sees("( ) 1. Red")
        assert "Check your answers" not in anna.screen()
