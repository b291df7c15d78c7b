"""The line at the bottom tells the truth: each key that it names does something there, and no other key decides."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

import pytest
from tests.operations.works import Works
from tests.tui.harness import DATABASE, NAME, REGIONS, Person, Place, option, select, until
from tests.tui.test_permissions import shell, wanted, wanted_here

from sayso.asks.crowds import Crowd
from sayso.asks.model import Answer, Settler
from sayso.records import replace
from sayso.tui.asklist import AskList
from sayso.tui.bars import KeyBar
from sayso.tui.keys import DEFAULTS
from sayso.tui.screen import SaysoScreen

pytestmark = pytest.mark.anyio

Going = Callable[[Place, Person], Awaitable[None]]
WIDE, SMALL = (130, 30), (60, 20)
SOON = 20.0
LEAVES = {"leave", "quit"}
"""What ends the program; test_keys.py presses it."""
BEN = Settler(person="ben", surface="browser")
PRESSED = {key for keys in DEFAULTS.values() for each in keys for key in each.keys.split(",") if len(key) == 1}
PRESSED |= {"1", "2", "9", "space", "delete", "f5", "b", "ctrl+k"}
CITIES = select("Which city?", *(option(f"c{number}", f"City {number}") for number in range(12)))
LONG = replace(NAME, text="\n\n".join(f"Paragraph {number}." for number in range(60)))


async def stay(place: Place, anna: Person) -> None:
    """Where the inbox opens."""


def pressing(*keys: str) -> Going:
    async def go(place: Place, anna: Person) -> None:
        await anna.press(*keys)

    return go


async def filtered(place: Place, anna: Person) -> None:
    await anna.press("/")
    await anna.type("c")
    await anna.press("down")


def opened_and(*keys: str) -> Going:
    async def go(place: Place, anna: Person) -> None:
        await anna.open()
        await anna.press(*keys)

    return go


VIEWS: dict[str, tuple[tuple[int, int], Callable[[Place], object], Going, str]] = {
    "an empty inbox": (SMALL, lambda place: None, stay, "No questions."),
    "a question": (SMALL, lambda place: place.ask(DATABASE), stay, "enter open"),
    "a long question beside": (WIDE, lambda place: place.ask(LONG), stay, "more lines"),
    "a filter": (SMALL, lambda place: (place.ask(CITIES), place.ask(NAME)), filtered, "mark all"),
    "marks": (SMALL, lambda place: place.ask(CITIES), pressing("x"), "reject 1 marked"),
    "a permission beside": (WIDE, lambda place: wanted(place), stay, "y allow"),
    "one of many options": (SMALL, lambda place: place.ask(CITIES), opened_and(), "/ filter"),
    "some of several": (SMALL, lambda place: place.ask(REGIONS), opened_and(), "space mark"),
    "the review": (SMALL, lambda place: place.ask(REGIONS), opened_and("ctrl+s"), "enter send"),
    "an open permission": (SMALL, lambda place: wanted(place), opened_and(), "y allow"),
    "a long permission": (SMALL, lambda place: wanted(place, shell("echo 1\n" * 60)), opened_and(), "read on"),
    "a rule like this": (WIDE, lambda place: wanted_here(place, "npm test"), opened_and("l"), "where the rule holds"),
    "the history": (SMALL, lambda place: ended(place), pressing("h"), "/ search"),
    "the commands": (SMALL, lambda place: ran(place), pressing("r"), "enter open"),
    "the agents": (SMALL, lambda place: place.ask(NAME), pressing("a"), "esc back"),
}


def ended(place: Place) -> None:
    held = place.ask(select())
    place.desk.answer(held.ask.id, [Answer(question="q", chosen=("r",))], BEN)


def ran(place: Place) -> None:
    Works(place.store, place.config.operations_dir).run("make", printed="line\n" * 50)


def named(anna: Person) -> dict[str, str]:
    """The keys that are offered at the bottom, by what they do."""
    screen = anna.app.screen
    assert isinstance(screen, SaysoScreen)
    bar = screen.query_one(KeyBar)
    found: dict[str, str] = {}
    for active in screen.active_bindings.values():
        binding = active.binding
        if binding.id and binding.show and active.enabled and binding.id not in bar._withheld:
            found.setdefault(binding.id, binding.key)
    return {name: key for name, key in found.items() if not bar._typed(key)}


def state(place: Place, anna: Person) -> tuple[object, ...]:
    """All that a key could have changed."""
    app = anna.app
    asks = [(ask.id, ask.version) for ask in place.desk.inbox()]
    focus = app.screen.focused.id if app.screen.focused else ""
    notices = [notice.text for notice in app.shared.notices.told]
    return anna.screen(), app.clipboard, len(app.screen_stack), focus, notices, asks, dict(app.shared.board.outgoing)


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was opened in another program, which a screen without a terminal cannot start."""
    opened: list[str] = []

    def edited(*given: object) -> str:
        opened.append("editor")
        return ""

    monkeypatch.setattr("sayso.tui.app.read", lambda app, command, text: opened.append("pager"))
    monkeypatch.setattr("sayso.tui.answer.edit_exactly", lambda *given: opened.append("editor"))
    monkeypatch.setattr("sayso.tui.step.edit", edited)
    return opened


@pytest.mark.parametrize("view", VIEWS)
async def test_each_key_that_is_named_does_something_there(place: Place, programs: list[str], view: str) -> None:
    size, prepare, go, shows = VIEWS[view]
    prepare(place)
    idle = []
    async with place.inbox(size) as anna:
        await go(place, anna)
        await anna.sees(shows)
        there = anna.app.screen
        for name in named(anna).keys() - LEAVES:
            if anna.app.screen is not there or name not in named(anna):
                await start_again(place, anna, prepare, go, shows)
                there = anna.app.screen
            before, opened, key = state(place, anna), len(programs), named(anna)[name]
            await anna.press(key)
            if not await changes(partial(differs, place, anna, programs, before, opened)):
                idle.append(f"{key} {name}")
    assert idle == []


@pytest.mark.parametrize("view", ["a question", "a permission beside", "an open permission", "some of several"])
async def test_no_key_that_is_not_named_decides_anything(place: Place, programs: list[str], view: str) -> None:
    size, prepare, go, shows = VIEWS[view]
    prepare(place)
    async with place.inbox(size) as anna:
        await go(place, anna)
        await anna.sees(shows)
        there, offered = anna.app.screen, set(named(anna).values())
        for key in sorted(PRESSED - offered - {"q"}):
            if key.isdigit() and view == "a question":
                continue
            await anna.press(key)
            assert not anna.app.shared.board.outgoing, key
            assert len(place.desk.inbox()) == 1, key
            while anna.app.screen is not there:
                await anna.press("escape")


def differs(place: Place, anna: Person, programs: list[str], before: object, opened: int) -> bool:
    return state(place, anna) != before or len(programs) != opened


async def changes(look: Callable[[], bool]) -> bool:
    """Whether it changes, at once or soon: what the store has to be asked for takes a moment."""
    try:
        async with asyncio.timeout(SOON):
            return await until(look, lambda: "a change")
    except TimeoutError:
        return False


def _named_in(listed: AskList) -> set[str]:
    return {(entry.newest if isinstance(entry, Crowd) else entry).id for entry in listed.items}


async def start_again(place: Place, anna: Person, prepare: Callable[[Place], object], go: Going, shows: str) -> None:
    """Back to the inbox, with something there to begin with, and to the view once more."""
    for _ in range(8):
        if len(anna.app.screen_stack) == 1 and "escape" not in named(anna).values():
            break
        await anna.press("escape")
    while anna.app.shared.board.outgoing:
        await anna.press("u")
    for ask in place.desk.inbox():
        place.desk.keep_draft(ask.id, "anna", "")
    put_off = place.desk.snoozed("anna")
    # A look that began before they are back would take the marks away again.
    await until(lambda: len(anna.app.shared.board.snoozed) == len(put_off), anna.screen)
    for snoozed in put_off:
        place.desk.wake(snoozed.ask.id, "anna")
    if not place.desk.inbox() and prepare.__name__ == "<lambda>":
        prepare(place)
    there = {ask.id for ask in place.desk.inbox()}
    await until(lambda: {ask.id for ask in anna.app.shared.board.asks} == there, anna.screen)
    # A key that comes before they are drawn opens nothing.
    listed = anna.app.screen.query_one(AskList)
    await until(lambda: not there or bool(there & _named_in(listed)), anna.screen)
    await go(place, anna)
    await anna.sees(shows)
