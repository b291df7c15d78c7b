"""The commands of agents in the terminal inbox: listed, followed as they print, stopped."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import count

import pytest
from tests.operations.works import Works
from tests.tui.harness import Place, select, until
from tests.tui.test_store_gone import put_back, take_away

from sayso.asks.model import Asker
from sayso.clock import now_ms
from sayso.operations.operation import TO_BE_ASKED, NewOperation, new_id
from sayso.tui.commandlist import OperationList

pytestmark = pytest.mark.anyio

HOSTILE = "\x1b[2J\x1b]0;title\x07\u202eevil\x00"


@pytest.fixture
def works(place: Place) -> Iterator[Works]:
    works = Works(place.store, place.config.operations_dir)
    yield works
    works.tidy()


async def test_commands_are_listed_and_the_one_at_the_cursor_is_followed_as_it_prints(
    place: Place, works: Works
) -> None:
    works.end(works.run("cargo", "test", tool="cargo_test"), 101)
    async with place.inbox(size=(120, 40)) as anna:
        await anna.press("r")
        await anna.sees("Commands", "cargo test", "failed · exit code 101", "Nothing so far.")
        running = works.run("npm", "run", "build", printed="step one\n10 %\r20 %")
        await anna.sees("npm run build", "> cargo test")
        await anna.press("up")
        await anna.sees("> npm run build", "running", "step one", "20 %")
        works.print(running, "\r30 %\nstep two\n")
        await anna.sees("30 %", "step two")
        await anna.sees_not("20 %")
        works.end(running)
        await anna.sees("succeeded")
        await anna.press("escape")
        await anna.sees("No questions.")


async def test_on_a_small_screen_the_output_takes_the_place_of_the_list(place: Place, works: Works) -> None:
    running = works.run("make", printed="".join(f"line {number}\n" for number in range(100)))
    works.print(running, "oh no\n", "stderr")
    async with place.inbox() as anna:
        await anna.press("r")
        await anna.sees("> make")
        await anna.press("enter")
        await anna.sees("line 99")
        await anna.press("ctrl+b", "ctrl+b")
        await anna.sees_not("line 99")
        works.print(running, "line 100\n")
        await anna.press("ctrl+f", "ctrl+f", "ctrl+f")
        await anna.sees("line 100")
        await anna.press("end")
        await anna.sees("! oh no")
        await anna.press("s")
        await anna.sees_not("oh no")
        await anna.press("s")
        await anna.sees("oh no")
        await anna.press("c")
        assert anna.app.clipboard == "oh no\n"
        await anna.press("escape")
        await anna.sees("> make")


async def test_a_command_is_stopped_once_the_person_has_said_that_it_is_meant(place: Place, works: Works) -> None:
    running = works.run("sleep", "600", tool="bash")
    async with place.inbox() as anna:
        await anna.press("r")
        await anna.sees("> sleep 600")
        await anna.press("x")
        await anna.sees("Stop bash?", "$ sleep 600", "claude-code · shop · ", "enter confirms", "esc goes back")
        await anna.press("escape")
        await anna.sees_not("Stop bash?")
        assert works.desk.get(running.id).cancelled_by == ""
        await anna.press("x", "enter")
        await anna.sees("stopping")
        assert works.desk.get(running.id).cancelled_by == "anna in the terminal"
        works.end(running, reason="cancelled")
        await anna.sees("cancelled · ")
        await anna.press("x")
        await anna.sees("bash has ended already.")


async def test_a_command_that_waits_for_a_say_so_stays_listed_when_it_is_stopped(place: Place, works: Works) -> None:
    asker = Asker(client="claude-code", project="/home/ada/shop", host="buildbox")
    new = NewOperation(id=new_id(), tool="bash", argv=("sleep", "600"), cwd="/home/ada/shop", asker=asker)
    queued = works.desk.awaits(works.desk.open(new).id, TO_BE_ASKED)
    async with place.inbox() as anna:
        await anna.press("r")
        await anna.sees("> sleep 600", "waits for your say-so")
        await anna.press("x", "enter")
        await anna.sees("bash is being stopped. It stays listed, with its output, as cancelled.", "cancelled · ")
        await anna.sees_not("waits for your say-so")
    assert works.desk.get(queued.id).cancelled_by == "anna in the terminal"


async def test_a_sequence_shows_its_steps_and_what_the_newest_prints(place: Place, works: Works) -> None:
    sequence = works.run(tool="both")
    works.end(works.step(sequence, 1, "echo", printed="one\n"))
    async with place.inbox(size=(120, 40)) as anna:
        await anna.press("r")
        await anna.sees("1. both_1: succeeded", "one")
        works.step(sequence, 2, "echo", printed="two\n")
        await anna.sees("2. both_2: running", "two")


async def test_many_commands_are_fetched_as_they_are_scrolled_through(place: Place) -> None:
    # Each in a millisecond of its own, by which they are sorted.
    works = Works(place.store, place.config.operations_dir, partial(next, count(now_ms())))
    for number in range(130):
        works.end(works.run(f"command-{number:03}"))
    async with place.inbox() as anna:
        await anna.press("r")
        await anna.sees("> command-129")
        await anna.press("end")
        await anna.sees("> command-030")
        await until(lambda: anna.app.screen.query_one(OperationList).count() == 130, anna.screen)
        await anna.press("end")
        await anna.sees("> command-000")


async def test_hostile_words_and_output_and_a_flood_are_shown_safely(place: Place, works: Works) -> None:
    running = works.run(HOSTILE, tool=HOSTILE, asker=Asker(client=HOSTILE, project=HOSTILE), printed=HOSTILE + "\n")
    async with place.inbox(size=(120, 40)) as anna:
        await anna.press("r")
        await anna.sees("<U+202E>evil")
        works.print(running, "x" * 200_000 + "\n" + "flood [red]not markup[/red]\n" * 20_000)
        await anna.sees("flood [red]not markup[/red]", "bytes before this")
        assert not set(anna.screen()) & {"\x1b", "\u202e", "\x00", "\x07"}
        await anna.press("escape")


async def test_questions_are_announced_while_commands_are_watched_and_the_store_may_go(
    place: Place, works: Works
) -> None:
    works.run("make", printed="begun\n")
    async with place.inbox(size=(120, 40)) as anna:
        await anna.press("r")
        await anna.sees("begun")
        place.ask(select("Which colour?"))
        await anna.sees("new: Which colour?")
        take_away(place)
        await anna.sees("The store has been unreachable")
        put_back(place)
        await anna.sees_not("The store has been unreachable")
        await anna.sees("begun")


async def test_the_palette_and_the_help_know_the_commands(place: Place) -> None:
    async with place.inbox(size=(120, 100)) as anna:
        await anna.press("r")
        await anna.sees("No command has been run.")
        await anna.press("?")
        await until(lambda: "stdout/stderr" in anna.screen(), anna.screen)
        await anna.press("escape", "escape")
        await anna.press("ctrl+p")
        await anna.type("comm")
        await anna.sees("commands")


@pytest.mark.finding("B3")
async def test_commands_are_seen_after_the_palette_was(place: Place, works: Works) -> None:
    works.end(works.run("make"), 0)
    async with place.inbox() as anna:
        await anna.press("r")
        await anna.sees("> make")
        await anna.press("escape")
        await anna.sees("No questions.")
        await anna.press("ctrl+p")
        await anna.sees("What do you want to do?")
        await anna.press("escape")
        await anna.sees_not("What do you want to do?")
        await anna.press("r")
        await anna.sees("> make")
