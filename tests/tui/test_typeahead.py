"""Keys that come in one burst each do what they would have done one by one."""

from __future__ import annotations

import pytest
from tests.tui.harness import DROP, FOUR, NAME, Person, Place, select, until
from textual.events import Key

from sayso.asks.model import Answer

pytestmark = pytest.mark.anyio


def burst(anna: Person, *keys: str) -> None:
    """All at once, without waiting for the screen."""
    for key in keys:
        anna.app.post_message(Key(key, key if len(key) == 1 else None))


async def test_an_ask_is_opened_answered_and_sent_by_one_burst(place: Place) -> None:
    held = place.ask(*FOUR)
    async with place.inbox() as anna:
        burst(anna, "enter", "2", "1", "3", "enter", "n", *"billing", "enter", "enter")
        ended = await place.outcome(held)
    assert ended.outcome is not None
    assert ended.outcome.answers == (
        Answer(question="db", chosen=("lite",)),
        Answer(question="regions", chosen=("fra", "iad")),
        Answer(question="drop", chosen=("no",)),
        Answer(question="name", text="billing"),
    )


async def test_words_typed_before_a_key_that_goes_on_belong_to_the_question_before(place: Place) -> None:
    held = place.ask(NAME, select(), DROP)
    async with place.inbox() as anna:
        await anna.open()
        burst(anna, *"first words", "enter", "o", *"own words", "enter", "y", "enter")
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
        burst(anna, "enter", "enter")
        await place.outcome(first)
        await anna.sees("Sent to claude-code.")
        await anna.sees("Second?", "1. Red")
    assert place.now(second).outcome is None


async def test_leaving_and_going_on_at_once_acts_on_what_comes(place: Place) -> None:
    place.ask(select("First?"))
    async with place.inbox() as anna:
        await anna.open()
        burst(anna, "escape", "h")
        await anna.sees("History")


async def test_no_key_is_lost_when_the_screen_under_it_goes_away(place: Place) -> None:
    held = place.ask(NAME)
    async with place.inbox() as anna:
        for _ in range(5):
            burst(anna, "enter", *"abc", "escape", "escape")
        await until(lambda: "abc" * 5 in place.desk.draft(held.ask.id, "anna"), anna.screen)
