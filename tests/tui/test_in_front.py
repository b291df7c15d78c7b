"""What changes in the list while something else is in front of it: no key that comes after is for another ask."""

from __future__ import annotations

import pytest
from tests.tui.harness import DROP, Person, Place, select, until
from tests.tui.test_permissions import decided, shell, verdict, wanted

from sayso.asks.desk import Held
from sayso.asks.model import State
from sayso.tui.answer import AnswerScreen
from sayso.tui.inbox import InboxScreen

pytestmark = pytest.mark.anyio
WIDE = (140, 34)
CAME = "another question has come to the cursor"
IN_FRONT = ["f1", "ctrl+p", "X", "h", "a", "r", "enter"]


async def go_and_come_back(place: Place, anna: Person, key: str, gone: Held, other: Held) -> None:
    """Something else is in front while the ask at the cursor is withdrawn, and is left again."""
    found = anna.app.screen
    assert isinstance(found, InboxScreen)
    inbox: InboxScreen = found
    await anna.press(key)
    await until(lambda: anna.app.screen is not inbox and anna.app.screen.is_mounted, anna.screen)
    place.desk.cancel(gone.ask.id, anna.app.shared.settler)
    await until(lambda: [ask.id for ask in anna.app.shared.board.asks] == [other.ask.id], anna.screen)
    for _ in range(3):
        if anna.app.screen is not inbox:
            await anna.press("escape")
    await until(
        lambda: anna.app.screen is inbox and inbox._readable and inbox._readable.id == other.ask.id, anna.screen
    )


@pytest.mark.parametrize("key", IN_FRONT)
async def test_a_yes_is_not_for_a_permission_that_came_while_something_else_was_in_front(
    place: Place, key: str
) -> None:
    other, gone = wanted(place), wanted(place, shell("make clean"))
    async with place.inbox(WIDE) as anna:
        await anna.sees("> Allow Bash: make clean?", "y allow")
        await go_and_come_back(place, anna, key, gone, other)
        await anna.sees("git push --force")
        await decided(anna, "y")
        await anna.sees(CAME)
        assert place.now(other).state is State.PENDING
        await decided(anna, "y")
        await place.outcome(other)
    assert verdict(place, other).allowed


@pytest.mark.parametrize("key", ["n", "z", "X"])
async def test_neither_is_any_other_key_that_does_something_to_the_row(place: Place, key: str) -> None:
    other, gone = wanted(place), wanted(place, shell("make clean"))
    async with place.inbox(WIDE) as anna:
        await anna.sees("> Allow Bash: make clean?", "y allow")
        await go_and_come_back(place, anna, "f1", gone, other)
        await anna.sees("git push --force", "y allow")
        await anna.press(key)
        await anna.sees(CAME)
        assert isinstance(anna.app.screen, InboxScreen)
    assert place.now(other).state is State.PENDING
    assert place.desk.snoozed("anna") == []


async def test_nor_does_it_answer_a_question_that_came(place: Place) -> None:
    other, gone = place.ask(DROP), place.ask(select("First?"))
    async with place.inbox() as anna:
        await anna.sees("> First?", "1-2 answer")
        await go_and_come_back(place, anna, "f1", gone, other)
        await anna.sees("y n answer")
        await anna.press("n")
        await anna.sees(CAME)
        assert anna.app.shared.board.outgoing == {}


async def test_the_ask_that_stayed_at_the_cursor_takes_its_key_at_once(place: Place) -> None:
    gone, held = wanted(place), wanted(place, shell("make clean"))
    async with place.inbox(WIDE) as anna:
        await anna.sees("> Allow Bash: make clean?", "y allow")
        await go_and_come_back(place, anna, "f1", gone, held)
        await decided(anna, "y")
        await place.outcome(held)
    assert verdict(place, held).allowed


async def test_after_a_yes_on_a_screen_of_its_own_the_next_one_takes_a_yes_but_not_the_same_press(
    place: Place,
) -> None:
    other, first = wanted(place), wanted(place, shell("make clean"))
    async with place.inbox(WIDE) as anna:
        await anna.open()
        await anna.press("y")
        await place.outcome(first)
        await until(lambda: isinstance(anna.app.screen, InboxScreen), anna.screen)
        await anna.press_after(0.3, "y")
        await anna.press_after(0.3, "y")
        assert place.now(other).state is State.PENDING
        await decided(anna, "y")
        await place.outcome(other)
        await anna.sees_not(CAME)


async def test_what_is_put_off_makes_room_for_the_next_that_is_put_off_too(place: Place) -> None:
    held = [place.ask(select(f"Number {n}?")) for n in range(3)]
    async with place.inbox() as anna:
        for left in (1, 0):
            await anna.press("z")
            await anna.sees(f"{2 - left} snoozed", f"> Number {left}?")
        await anna.sees_not(CAME)
    assert {each.ask.id for each in place.desk.snoozed("anna")} == {each.ask.id for each in held[1:]}


async def test_an_ask_that_was_opened_and_withdrawn_there_leaves_no_key_for_the_next(place: Place) -> None:
    other, gone = place.ask(DROP), place.ask(select("First?"))
    async with place.inbox() as anna:
        await anna.open()
        assert isinstance(anna.app.screen, AnswerScreen)
        place.desk.cancel(gone.ask.id, anna.app.shared.settler)
        await anna.sees("Already cancelled")
        await anna.press("escape")
        await anna.sees("y n answer")
        await anna.press("y")
        await anna.sees(CAME)
    assert place.now(other).state is State.PENDING
