"""Notices in the terminal inbox: they take room of their own, lie over nothing, and go with what they are about."""

from __future__ import annotations

import re

import pytest
from tests.tui.harness import NAME, Person, Place, select, until
from tests.tui.test_permissions import shell, wanted
from textual.widgets._toast import Toast

from sayso.asks.model import State
from sayso.tui.inbox import InboxScreen
from sayso.tui.step import Step

pytestmark = pytest.mark.anyio

SMALL, WIDE = (60, 20), (120, 30)
LINES = [f"echo {number:02}" for number in range(40)]


async def lines_at_rest(anna: Person) -> set[str]:
    """What can be read once notices have come and gone."""
    before = ""
    while before != (before := anna.screen()):
        await anna.pilot.pause()
    return set(re.findall(r"echo \d\d", before))


@pytest.mark.parametrize("size", [SMALL, (40, 16), (80, 24), (24, 8)], ids=str)
async def test_every_line_of_what_is_allowed_has_been_on_the_screen_however_often_a_yes_came_too_early(
    place: Place, size: tuple[int, int]
) -> None:
    held = wanted(place, shell("\n".join(LINES)))
    seen = set[str]()
    async with place.inbox(size) as anna:
        await anna.open()
        for _ in range(80):
            seen |= await lines_at_rest(anna)
            await anna.press("y")
            seen |= await lines_at_rest(anna)
            if place.now(held).state is not State.PENDING:
                break
            await anna.press("pagedown")
    assert place.now(held).state is State.ANSWERED
    assert seen == set(LINES)


async def test_what_was_behind_a_dialog_was_not_seen(place: Place) -> None:
    wanted(place, shell("\n".join(LINES)))
    async with place.inbox(SMALL) as anna:
        await anna.open()
        await anna.sees("more lines")
        step = anna.app.screen.query_one(Step)
        unseen = step.unseen
        await anna.press("x")
        await anna.sees("Deny this permission?")
        await anna.pilot.resize_terminal(60, 60)
        await anna.settled()
        assert step.unseen == unseen
        await anna.press("escape")
        await until(lambda: step.unseen == 0, anna.screen)


@pytest.mark.parametrize("size", [SMALL, WIDE], ids=str)
async def test_no_notice_lies_over_anything(place: Place, size: tuple[int, int]) -> None:
    wanted(place, shell("\n".join(LINES)))
    async with place.inbox(size) as anna:
        for keys in ([], ["enter"], ["x"]):
            await anna.press(*keys)
            for severity in ("information", "warning", "error"):
                anna.app.notify(f"This is told: {severity}", severity=severity)
            await anna.sees("This is told: error", "This is told: information")
            assert not list(anna.app.screen.query(Toast))
            bar = anna.app.screen.query_one("#notices")
            shown = anna.app.screen.query("#reading, #asks, #beside, #dialog, #choices, #keys")
            await until(
                lambda bar=bar, shown=shown: (
                    not [  # type: ignore[misc]
                        each for each in shown if each.visible and each.region.overlaps(bar.region)
                    ]
                ),
                anna.screen,
            )


async def test_a_dialog_shows_its_title_its_field_and_how_to_confirm_beside_notices(place: Place) -> None:
    for number in range(12):
        place.ask(select(f"Question {number}?"), client=f"agent-{number}")
    async with place.inbox(SMALL) as anna:
        await anna.press("/")
        await anna.type("question")
        await anna.press("down", "*", "X")
        anna.app.notify("Something was not sent. " * 4, severity="warning", markup=False)
        anna.app.notify("Something was done. " * 4, markup=False)
        await anna.sees("Something was not sent.", "Something was done.", "Reject these 12?", "enter confirms")
        await anna.type("no")
        await until(lambda: "│ no" in anna.screen(), anna.screen)


async def test_of_one_kind_one_notice_stands_there_the_last(place: Place) -> None:
    async with place.inbox(SMALL) as anna:
        for number in range(3):
            anna.app.notify(f"Done {number}", markup=False)
            anna.app.notify(f"Not done {number}", severity="warning", markup=False)
        await anna.sees("Done 2", "Not done 2")
        assert sum("one 1" in line for line in anna.screen().split("\n")) == 0
        await anna.click("Done 2")
        await anna.sees_not("one 2")


async def test_what_a_key_did_not_do_is_not_told_once_it_would_do_it(place: Place) -> None:
    held = wanted(place, shell("\n".join(LINES)))
    async with place.inbox(SMALL) as anna:
        await anna.open()
        await anna.press("y")
        await anna.sees("Nothing was allowed")
        await anna.press("pagedown")
        await anna.sees_not("Nothing was allowed")
        await read_all(anna)
        await anna.press("y")
        assert (await place.outcome(held)).state is State.ANSWERED
        await anna.sees("Allowed.")
        assert "Nothing was allowed" not in anna.screen()


async def test_nothing_is_told_of_a_permission_as_if_it_were_the_one_on_the_screen(place: Place) -> None:
    first, second = wanted(place, shell("make first")), wanted(place, shell("\n".join(LINES)))
    async with place.inbox(SMALL) as anna:
        await anna.press("down")
        await anna.open()
        await anna.sees("make first")
        await anna.press("y")
        await place.outcome(first)
        await anna.open()
        await anna.press("y")
        await anna.sees("Nothing was allowed")
        await anna.sees(
            "Allowed. Waiting for claude-code to fetch it. (Allow Bash: make first?)", "Nothing was allowed"
        )
        assert place.now(second).state is State.PENDING


async def read_all(anna: Person) -> None:
    step = anna.app.screen.query_one(Step)
    for _ in range(40):
        if step.unseen == 0:
            return
        await anna.press("pagedown")


@pytest.mark.parametrize("lines", range(12, 17))
async def test_a_yes_beside_the_list_is_taken_only_where_no_notice_leaves_part_of_it_out(
    place: Place, lines: int
) -> None:
    """What fills the pane to its last line does not fit any more while something is told below it."""
    steps = [f"step {line:02}" for line in range(lines)]
    asked = [wanted(place, shell("\n".join([f"make {number}", *steps]))) for number in range(3)]
    taken = 0
    async with place.inbox(WIDE) as anna:
        for _ in asked:
            await anna.sees(f"│ make {len(asked) - 1 - taken}")
            before = anna.screen()
            await anna.press("y")
            await anna.settled()
            answered = sum(place.now(held).state is State.ANSWERED for held in asked)
            assert answered == taken or "│ /home/anna/api" in before, before
            taken = answered
    assert taken


async def test_a_notice_keeps_the_field_that_is_typed_in(place: Place) -> None:
    place.ask(NAME)
    async with place.inbox((40, 12)) as anna:
        await anna.open()
        await anna.type("orders")
        anna.app.notify("Something else has happened. " * 6, markup=False)
        await anna.sees("Something else", "orders")


async def test_what_was_said_of_an_ask_goes_with_it(place: Place) -> None:
    held = wanted(place, shell("\n".join(LINES)))
    async with place.inbox(SMALL) as anna:
        inbox = anna.app.screen
        assert isinstance(inbox, InboxScreen)
        await until(lambda: inbox._looked_at == held.ask.id, anna.screen)
        await anna.press("y")
        await anna.sees("Nothing was said")
        place.desk.cancel(held.ask.id, anna.app.shared.settler)
        await anna.sees("No questions.")
        await anna.sees_not("Nothing was said")
