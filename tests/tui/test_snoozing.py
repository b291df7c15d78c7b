"""Putting an ask off in the terminal inbox: out of the way for a while, and nothing else about it changes."""

from __future__ import annotations

import pytest
from tests.tui.harness import READING, Place, select, until

from sayso.asks.model import State

pytestmark = pytest.mark.anyio


async def test_a_snoozed_ask_is_out_of_the_way_can_be_looked_at_and_taken_back(place: Place) -> None:
    held, other = place.ask(select("Which one?")), place.ask(select("And this?"))
    async with place.inbox() as anna:
        await anna.sees("z snooze")
        assert "Z snoozed" not in anna.screen()
        await anna.press("down", "z")
        await anna.sees("Snoozed until", "1 snoozed", "Z snoozed", "> And this?")
        await anna.sees_not("Which one?")
        assert [each.ask.id for each in place.desk.snoozed("anna")] == [held.ask.id]
        assert place.now(held).state is State.PENDING
        await anna.press("Z")
        await anna.sees("> Which one?", "only the 1 snoozed", "back ", "z take back into the inbox")
        await anna.sees_not("And this?")
        await anna.press("z")
        await anna.sees("Which one?", "And this?")
        await anna.sees_not("snoozed until")
    assert place.desk.snoozed("anna") == []
    assert place.now(other).state is State.PENDING


async def test_marked_asks_are_snoozed_together_and_an_empty_inbox_says_so(place: Place) -> None:
    place.ask(select("Which one?"))
    place.ask(select("And this?"))
    async with place.inbox() as anna:
        await anna.press("x", "down", "x", "z")
        await anna.sees("No questions but those that you have snoozed. Z shows them.", "2 snoozed")
        await anna.press("Z")
        await anna.sees("Which one?", "And this?")
        await anna.press("escape")
        await anna.sees("No questions but those that you have snoozed.")


async def test_a_snoozed_ask_comes_back_at_its_time(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sayso.tui.inbox._SNOOZED_FOR", 1_500)
    held = place.ask(select("Which one?"))
    async with place.inbox() as anna:
        await anna.press("z")
        await anna.sees("Snoozed until")
        await until(lambda: not place.desk.snoozed("anna"), anna.screen)
        await anna.sees("> Which one?", "1 waiting")
    assert place.now(held).state is State.PENDING


async def test_an_open_ask_says_too_how_many_are_snoozed(place: Place) -> None:
    place.ask(select("Which one?"))
    place.ask(select("And this?"))
    async with place.inbox() as anna:
        await anna.press("z")
        await anna.sees("1 snoozed")
        await anna.open()
        await anna.sees("Which one?", "1 snoozed")


async def test_an_ask_that_is_about_to_end_is_not_snoozed_and_it_says_why(place: Place) -> None:
    place.ask(select("Now?"), timeout_ms=60_000)
    async with place.inbox() as anna:
        await anna.press("z")
        await anna.sees("Not snoozed", "> Now?")
    assert place.desk.snoozed("anna") == []


async def test_after_marked_asks_are_snoozed_the_cursor_is_on_the_next_one_left(place: Place) -> None:
    for number in (5, 4, 3, 2, 1):
        place.ask(select(f"Number {number}?"))
    async with place.inbox() as anna:
        await anna.press("x", "down", "x", "down", "x", "z")
        await anna.sees("3 snoozed", "> Number 4?")


async def test_letters_of_a_paste_neither_snooze_nor_send_away(place: Place) -> None:
    place.ask(select())
    async with place.inbox() as anna:
        await anna.settled()
        anna.ticks.wait(READING)
        anna.burst(*"wzw")
        await anna.settled()
        await anna.sees("Not taken:")
        assert anna.app.shared.board.absence is None
    assert place.desk.snoozed("anna") == []
