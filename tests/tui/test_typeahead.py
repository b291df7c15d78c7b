"""Keys that come in one burst: words are kept and go where they belong, but nothing is answered that was not seen."""

from __future__ import annotations

import pytest
from tests.tui.harness import DROP, FOUR, NAME, Place, select, until

from sayso.asks.model import State

pytestmark = pytest.mark.anyio


@pytest.mark.finding("F-04")
async def test_a_burst_neither_opens_nor_answers_what_was_not_on_the_screen(place: Place) -> None:
    held = place.ask(*FOUR)
    async with place.inbox() as anna:
        await anna.open()
        anna.burst("2", "1", "3", "enter", "n", "enter", "ctrl+s", "ctrl+s", "enter")
        await anna.press("ctrl+s")
        await anna.sees("needs an answer")
        assert place.desk.draft(held.ask.id, "anna") == ""
    assert place.now(held).state is State.PENDING


async def test_words_typed_before_a_key_that_goes_on_belong_to_the_question_before(place: Place) -> None:
    held = place.ask(NAME, select(), DROP)
    async with place.inbox() as anna:
        await anna.open()
        anna.burst(*"first words", "enter", "o", *"own words", "enter")
        await anna.press("y", "enter")
        ended = await place.outcome(held)
    assert [answer.text for answer in ended.outcome.answers] == ["first words", "own words", None]  # type: ignore[union-attr]


async def test_a_key_pressed_too_often_settles_nothing_twice(place: Place) -> None:
    first = place.ask(select("First?"))
    second = place.ask(select("Second?"))
    async with place.inbox() as anna:
        await anna.press("down")
        await anna.open()
        await anna.press("1")
        await anna.sees("Check your answers")
        await anna.press("enter")
        await anna.press_after(0.1, "enter")
        await place.outcome(first)
        await anna.sees("Sent. Waiting for claude-code to")
        await anna.sees("> Second?", "enter open")
    assert place.now(second).outcome is None


async def test_leaving_and_going_on_at_once_acts_on_what_comes(place: Place) -> None:
    place.ask(select("First?"))
    async with place.inbox() as anna:
        await anna.open()
        anna.burst("escape", "h")
        await anna.sees("History")


async def test_no_key_is_lost_when_the_screen_under_it_goes_away(place: Place) -> None:
    held = place.ask(NAME)
    async with place.inbox() as anna:
        for _ in range(5):
            await anna.open()
            anna.burst(*"abc", "escape", "escape")
        await until(lambda: "abc" * 5 in place.desk.draft(held.ask.id, "anna"), anna.screen)
