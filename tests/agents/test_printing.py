"""Whoever follows an agent hears from the system that it has printed something; where it cannot, one looks."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from sayso.agents import file_news, printing
from sayso.agents.printing import Printing

WAIT = 60.0
NEVER = 3600.0

tells = pytest.mark.skipif(sys.platform != "linux", reason="the system tells of changed files on Linux alone")


def heard(folder: Path, *, prints: bool = False, ends: bool = False) -> None:
    """Wait for news of an agent that does this after the last look at it."""

    async def one() -> None:
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        with Printing(folder, over) as news:
            if prints:
                with (folder / "stdout").open("a") as stdout:
                    stdout.write("a line\n")
            if ends:
                over.set_result(None)
            async with asyncio.timeout(WAIT):
                await news.next()

    asyncio.run(one())


@tells
def test_what_an_agent_prints_wakes_whoever_waits_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printing, "_SELDOM", NEVER)
    heard(tmp_path, prints=True)
    heard(tmp_path, prints=True)


@tells
def test_the_end_of_an_agent_that_printed_nothing_wakes_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printing, "_SELDOM", NEVER)
    heard(tmp_path, ends=True)


@tells
def test_a_quiet_agent_is_looked_at_every_now_and_then_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(printing, "_SELDOM", 0.01)
    heard(tmp_path)


def test_where_the_system_has_no_watch_to_give_one_looks_by_oneself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left(*_: object) -> int:
        raise OSError(24, "inotify")

    monkeypatch.setattr(file_news, "watch", none_left)
    monkeypatch.setattr(printing, "_SELDOM", NEVER)
    heard(tmp_path)
    heard(tmp_path, prints=True)
    heard(tmp_path, ends=True)


@tells
def test_news_that_were_taken_in_are_not_heard_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the processor would be busy with every agent that has ever printed something."""
    monkeypatch.setattr(printing, "_SELDOM", NEVER)

    async def one() -> None:
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        with Printing(tmp_path, over) as news:
            (tmp_path / "stdout").write_text("a line\n")
            await asyncio.wait_for(news.next(), WAIT)
            again = asyncio.ensure_future(news.next())
            for _ in range(20):
                await asyncio.sleep(0)
            assert not again.done()
            (tmp_path / "stdout").write_text("another\n")
            await asyncio.wait_for(again, WAIT)

    asyncio.run(one())
