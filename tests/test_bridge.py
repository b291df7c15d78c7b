"""Between the event loop and plain code: what is begun is done, what fails is told, and no ring is missed."""

from __future__ import annotations

import asyncio
import threading

import anyio
import pytest

from sayso import bridge
from sayso.bridge import BackgroundTasks, DaemonThreads, Rings, insistently, listening
from sayso.errors import NotFound, StoreError
from sayso.store.bell import LocalBell

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_work_is_done_again_until_the_store_takes_it_and_each_trouble_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bridge, "_FIRST_PAUSE", 0.001)
    away, told = [StoreError("full"), StoreError("away")], list[str]()

    async def work() -> str:
        if away:
            raise away.pop(0)
        return "taken"

    with anyio.fail_after(60):
        assert await insistently(work, lambda error: told.append(str(error))) == "taken"
    assert told == ["full", "away"]


async def test_what_is_no_trouble_of_the_store_is_not_tried_again() -> None:
    told: list[StoreError] = []

    async def work() -> None:
        raise NotFound("deleted meanwhile")

    with pytest.raises(NotFound), anyio.fail_after(60):
        await insistently(work, told.append)
    assert told == []


async def test_work_handed_to_a_thread_is_done_in_order_even_if_nobody_waits_for_it_any_more() -> None:
    threads, go, done = DaemonThreads(1, "test"), threading.Event(), list[int]()
    threads.put(lambda: go.wait(60))
    with anyio.move_on_after(0.01):
        await threads.do(done.append, 1)
    assert done == []
    go.set()
    with anyio.fail_after(60):
        await threads.do(done.append, 2)
    assert done == [1, 2]
    threads.close(patience=60)


async def test_what_goes_wrong_in_a_thread_is_told_to_whoever_waits() -> None:
    threads = DaemonThreads(1, "test")
    with pytest.raises(ValueError, match="invalid literal"), anyio.fail_after(60):
        await threads.do(int, "seven")
    threads.close(patience=60)


async def test_a_ring_between_a_look_and_the_wait_is_not_missed() -> None:
    rings, bell = Rings(), LocalBell()
    async with listening(bell, rings.ring):
        before = rings.next
        bell.nudge()
        with anyio.fail_after(60):
            await before.wait()
        assert not rings.next.is_set()
    bell.close()


async def test_tasks_are_waited_for_and_cancelled_when_they_take_too_long() -> None:
    tasks, done = BackgroundTasks(), list[str]()

    async def quick() -> None:
        await asyncio.sleep(0)
        done.append("quick")

    tasks.start(quick())
    endless = tasks.start(anyio.sleep_forever())
    with anyio.fail_after(60):
        await tasks.finish(within=0.05)
    assert done == ["quick"]
    assert endless.cancelled()


async def test_idle_waits_for_what_the_others_begin() -> None:
    tasks, done = BackgroundTasks(), list[str]()

    async def second() -> None:
        done.append("second")

    async def first() -> None:
        await asyncio.sleep(0)
        tasks.start(second())

    tasks.start(first())
    with anyio.fail_after(60):
        await tasks.idle()
    assert done == ["second"]
