"""Marking several asks in the inbox, and rejecting them together."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from tests.asks.samples import flood
from tests.tui.harness import DROP, Person, Place, select, until
from tests.tui.test_permissions import shell, wanted

from sayso.asks.desk import AskDesk
from sayso.asks.model import Answer, Asker, NewAsk, Settler, State
from sayso.errors import StoreUnavailable

pytestmark = pytest.mark.anyio
BEN = Settler(person="ben", surface="browser")


async def test_marked_asks_are_named_and_rejected_together_and_no_others(place: Place) -> None:
    keep, second, third = place.ask(select("Keep me?")), place.ask(select("Second?")), place.ask(select("Third?"))
    async with place.inbox() as anna:
        await anna.sees("x mark", "X reject")
        await anna.press("x", "down", "x")
        await anna.sees("[x] Third?", "[x] Second?", "2 marked", "X reject 2 marked")
        await anna.press("X")
        await anna.sees("Reject these 2?", "- Second?", "- Third?")
        assert "Keep me?" not in anna.screen().split("Reject these")[1].split("confirms")[0]
        await anna.type("not today")
        await anna.press("enter")
        ended = [await place.outcome(held) for held in (second, third)]
        await anna.sees("2 rejected.", "Keep me?")
        await anna.sees_not("marked")
    assert [(ask.state, ask.outcome and ask.outcome.reason) for ask in ended] == [(State.REJECTED, "not today")] * 2
    assert place.now(keep).state is State.PENDING


async def test_one_that_somebody_else_answered_meanwhile_is_said_and_keeps_its_answer(place: Place) -> None:
    first, second = place.ask(DROP), place.ask(select("Second?"))
    async with place.inbox() as anna:
        await anna.press("x", "down", "x", "X")
        await anna.sees("Reject these 2?")
        place.desk.answer(first.ask.id, [Answer(question="drop", chosen=("yes",))], BEN)
        await anna.press("enter")
        await anna.sees("Not sent")
        assert (await place.outcome(second)).state is State.REJECTED
    assert place.now(first).state is State.ANSWERED


async def test_all_that_match_a_filter_are_marked_by_one_key_and_esc_takes_marks_away(place: Place) -> None:
    other, *many = place.ask(select("Other?")), place.ask(select("Rename a?")), place.ask(select("Rename b?"))
    async with place.inbox() as anna:
        assert "mark all" not in anna.screen()
        await anna.press("/")
        await anna.type("rename")
        await anna.press("down")
        await anna.sees("* mark all")
        await anna.press("*")
        await anna.sees("2 marked")
        await anna.press("escape")
        await anna.sees_not("2 marked")
        await anna.press("*", "escape", "*")
        await anna.sees("2 marked")
        await anna.press("X", "enter")
        assert [(await place.outcome(held)).state for held in many] == [State.REJECTED] * 2
    assert place.now(other).state is State.PENDING


async def test_marked_asks_that_a_filter_hides_are_counted_before_and_after_they_are_snoozed(place: Place) -> None:
    place.ask(select("Rename a?"))
    other = place.ask(select("Other?"))
    async with place.inbox((180, 24)) as anna:
        await anna.press("x", "down", "x", "/")
        await anna.type("rename")
        await anna.press("down")
        await anna.sees("2 marked (1 hidden)", "X reject 2 marked (1 hidden)", "z snooze 2 marked (1 hidden)")
        assert anna.screen().count("1 hidden by") == 1
        await anna.press("z")
        await anna.sees("2 snoozed until", "1 of them hidden here")
    assert other.ask.id in {each.ask.id for each in place.desk.snoozed("anna")}


async def test_one_of_several_that_cannot_be_snoozed_keeps_no_other_from_it(place: Place) -> None:
    others = [place.ask(select("First?")), place.ask(select("Third?"))]
    place.ask(select("Second?"), timeout_ms=60_000)
    async with place.inbox((100, 24)) as anna:
        await anna.press("x", "down", "x", "down", "x", "z")
        await anna.sees("Not snoozed", "2 snoozed until", "> Second?")
    assert {each.ask.id for each in place.desk.snoozed("anna")} == {held.ask.id for held in others}


async def test_those_of_a_folded_agent_are_marked_and_counted_too(place: Place) -> None:
    noisy = Asker(client="noisy", project="/home/anna/loop", host="workbench", pid=7, started="1")
    for number in range(8):
        place.desk.leave(NewAsk(tool="ask_user", questions=(select(f"Noise {number}?"),), asker=noisy))
    other = place.ask(select("Other?"))
    async with place.inbox((100, 24)) as anna:
        await anna.sees("> Other?")
        assert "mark" not in anna.screen().split("x mark")[1]
        await anna.press("down")
        await anna.sees("> [+] 8 questions", "* mark these 8")
        await anna.press("*")
        await anna.sees("8 marked, 8 of them in rows that are folded.", "8 marked · agent at work", "X reject 8 marked")
        await anna.press("*", "/")
        await anna.type("noise")
        await anna.press("down", "*")
        await anna.sees("X reject 8 marked")
        await anna.press("X", "enter")
        await anna.sees("8 rejected.")
    assert place.now(other).state is State.PENDING
    assert [ask.id for ask in place.desk.inbox()] == [other.ask.id]


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (200, 60), (58, 14)])
async def test_the_reason_and_the_way_out_are_in_view_however_many_are_rejected(
    place: Place, size: tuple[int, int]
) -> None:
    for number in range(60):
        place.ask(select(f"Rename {number:02}? {'漢字 and more words ' * 5}"), client=f"agent-{number}")
    async with place.inbox(size=size) as anna:
        await anna.press("/")
        await anna.type("rename")
        await anna.press("down", "*", "X")
        await anna.sees("Reject these 60?", "- Rename 59?", "more", "enter confirms", "esc goes back")
        named = [line for line in anna.screen().split("\n") if "- Rename" in line]
        await anna.sees(f"and {60 - len(named)} more")
        await anna.type("all of these " * 20)
        await anna.sees("of these", "enter confirms", "esc goes back")
        await anna.press("escape")


MANY = 90
NOISY = Asker(client="noisy", project="/home/anna/api", host="workbench", pid=7, started="1")


async def reject_all_of_one(anna: Person) -> None:
    await anna.sees(f"{MANY} questions")
    await anna.press("*", "X")
    await anna.sees(f"Reject these {MANY}?")


def before_each_part(monkeypatch: pytest.MonkeyPatch, do: Callable[[int], object]) -> None:
    """Do this before each part of what is rejected together, in the thread of the desk."""
    reject_each, parts = AskDesk.reject_each, list[int]()

    def first(desk: AskDesk, *given: Any) -> Any:
        parts.append(len(parts))
        do(parts[-1])
        return reject_each(desk, *given)

    monkeypatch.setattr(AskDesk, "reject_each", first)


async def test_whoever_quits_right_after_rejecting_many_has_rejected_all_of_them(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    flood(place.store, NOISY, MANY)
    begun, go_on = threading.Event(), threading.Event()

    def wait(_: int) -> None:
        begun.set()
        go_on.wait()

    before_each_part(monkeypatch, wait)
    async with place.inbox((60, 20)) as anna:
        await reject_all_of_one(anna)
        await anna.press("enter")
        await until(begun.is_set, anna.screen)
        await anna.sees_not("marked")
        anna.post("q")
        await asyncio.to_thread(go_on.set)
        await until(lambda: not anna.app.is_running, anna.screen)
        assert anna.app.return_code in (0, None)
    assert place.desk.inbox() == []
    assert place.desk.sizes()[State.REJECTED] == MANY


async def test_where_the_store_fails_it_is_said_how_many_were_not_rejected_and_these_stay_marked(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    flood(place.store, NOISY, MANY)

    def fail(part: int) -> None:
        if part:
            raise StoreUnavailable("The disk is away.")

    before_each_part(monkeypatch, fail)
    async with place.inbox((60, 20)) as anna:
        await reject_all_of_one(anna)
        await anna.press("enter")
        await anna.sees("40 were neither rejected nor denied", "50 rejected.", "40 marked")
        assert place.desk.sizes()[State.REJECTED] == 50
        monkeypatch.undo()


async def test_many_are_rejected_in_few_transactions_and_permissions_among_them_denied(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    flood(place.store, NOISY, MANY)
    held, parts = wanted(place, shell("make")), list[int]()
    before_each_part(monkeypatch, parts.append)
    async with place.inbox() as anna:
        await anna.press("p", "*", "X")
        await anna.sees(f"Reject these {MANY + 1}, and deny")
        await anna.press("enter")
        await anna.sees(f"{MANY + 1} rejected or denied.", "No questions.")
    assert len(parts) == 2
    assert (await place.outcome(held)).state is State.ANSWERED


async def test_after_many_are_rejected_the_cursor_is_on_what_comes_next(place: Place) -> None:
    others = [place.ask(select(f"Other {number}?"), client="calm") for number in range(4)]
    flood(place.store, NOISY, MANY)
    async with place.inbox() as anna:
        await anna.sees(f"{MANY} questions")
        while f"> {MANY} questions" not in anna.screen() and "[+]" not in cursor_line(anna):
            await anna.press("down")
        await anna.press("*", "X", "enter")
        await anna.sees(f"{MANY} rejected.")
        assert "Other" in cursor_line(anna)
        await anna.press("home")
        await anna.sees("> Other 3?")
    assert {place.now(held).state for held in others} == {State.PENDING}


def cursor_line(anna: Person) -> str:
    return next((line for line in anna.screen().split("\n") if line.startswith(">")), "")
