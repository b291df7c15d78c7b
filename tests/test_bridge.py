"""Between the event loop and plain code: what is begun is done, what fails is told, and no ring is missed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any

import anyio
import pytest

from sayso import bridge
from sayso.bridge import (
    BackgroundTasks,
    LightEvent,
    Patience,
    Rings,
    Threads,
    endless,
    in_thread,
    insistently,
    listening,
    seen_through,
)
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
    threads, go, done = Threads(1, "test"), threading.Event(), list[int]()
    threads.put(lambda: go.wait(60))
    with anyio.move_on_after(0.01):
        await threads.look(done.append, 1)
    assert done == []
    go.set()
    with anyio.fail_after(60):
        await threads.look(done.append, 2)
    assert done == [1, 2]
    threads.close(patience=60)


async def test_what_goes_wrong_in_a_thread_is_told_to_whoever_waits() -> None:
    threads = Threads(1, "test")
    with pytest.raises(ValueError, match="invalid literal"), anyio.fail_after(60):
        await threads.look(int, "seven")
    threads.close(patience=60)


async def test_an_end_of_iteration_in_a_thread_is_a_fault_like_any_other() -> None:
    threads = Threads(1, "test")
    with pytest.raises(RuntimeError, match="StopIteration"), anyio.fail_after(60):
        await threads.do(next, iter(()))
    threads.close(patience=60)


async def test_threads_work_again_after_the_system_had_none_to_give(monkeypatch: pytest.MonkeyPatch) -> None:
    threads, started = Threads(2, "test"), threading.Thread.start

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with anyio.fail_after(60):
        monkeypatch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            await threads.do(int)
        monkeypatch.setattr(threading.Thread, "start", started)
        assert await threads.do(int) == 0
        go = threading.Event()
        monkeypatch.setattr(threading.Thread, "start", refuse)
        threads.put(lambda: go.wait(60))
        waits = asyncio.create_task(threads.do(int))
        await asyncio.sleep(0)
        go.set()
        assert await waits == 0, "the one that is there does it"
    threads.close(patience=60)


def test_work_that_comes_while_threads_end_is_done_and_keeps_none_of_them() -> None:
    threads, go, late = Threads(1, "test-ending"), threading.Event(), threading.Event()
    threads.put(lambda: go.wait(60))
    (ending,) = (each for each in threading.enumerate() if each.name == "test-ending")
    threads.close()
    threads.put(late.set)
    assert late.wait(60)
    go.set()
    ending.join(timeout=bridge._IDLE_SECONDS / 2)
    assert not ending.is_alive()
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
    lasting = tasks.start(anyio.sleep_forever())
    with anyio.fail_after(60):
        await tasks.finish(within=0.05)
    assert done == ["quick"]
    assert lasting.cancelled()


async def test_what_has_no_end_is_begun_anew_after_a_fault_that_nobody_thought_of(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(bridge, "_PAUSE_AFTER_FAULT", 0.001)
    begun, twice = list[str](), asyncio.Event()

    async def look() -> None:
        begun.append("again" if begun else "first")
        if len(begun) == 1:
            raise RuntimeError("can't start new thread")
        twice.set()
        await anyio.sleep_forever()

    tasks = BackgroundTasks()
    tasks.start(endless("Looking", look))
    with anyio.fail_after(60):
        await twice.wait()
        await tasks.cancel()
    assert begun == ["first", "again"]
    (told,) = caplog.records
    assert told.getMessage() == "Looking failed, and begins anew"
    assert told.exc_text
    assert "can't start new thread" in told.exc_text


async def test_what_goes_wrong_in_the_background_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def fail(error: Exception) -> None:
        raise error

    tasks = BackgroundTasks()
    for error in (RuntimeError("a fault"), NotFound("gone")):
        tasks.start(fail(error))
        with anyio.fail_after(60):
            await tasks.idle()
    fault, on_purpose = caplog.records
    assert "a fault" in fault.getMessage()
    assert fault.exc_info
    assert "gone" in on_purpose.getMessage()
    assert not on_purpose.exc_info


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


# Being cancelled


async def cancelled_while(
    work: Coroutine[Any, Any, None], begun: asyncio.Event, go_on: asyncio.Event
) -> asyncio.Task[None]:
    """The task of this work once it has ended, having been cancelled twice between these two."""
    task = asyncio.get_running_loop().create_task(work)
    await begun.wait()
    for _ in range(2):
        task.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert not task.done()
    go_on.set()
    await asyncio.wait([task])
    return task


async def test_what_is_seen_through_ends_before_a_cancel_is_noticed() -> None:
    begun, go_on, done = asyncio.Event(), asyncio.Event(), list[str]()

    async def slow() -> str:
        begun.set()
        await go_on.wait()
        return "slow"

    async def work() -> None:
        done.append(await seen_through(slow()))
        await asyncio.sleep(0)
        done.append("went on")

    with anyio.fail_after(60):
        assert (await cancelled_while(work(), begun, go_on)).cancelled()
    assert done == ["slow"]


async def test_what_is_seen_through_tells_what_went_wrong() -> None:
    async def fails() -> None:
        raise NotFound("deleted meanwhile")

    with pytest.raises(NotFound), anyio.fail_after(60):
        await seen_through(fails())


async def test_work_begun_in_a_thread_is_seen_through_and_its_result_kept() -> None:
    threads, begun, go_on, done = Threads(1, "test"), threading.Event(), threading.Event(), list[str]()

    def slow() -> str:
        begun.set()
        assert go_on.wait(60)
        return "slow"

    async def work() -> None:
        done.append(await threads.do(slow))
        done.append(await threads.do(lambda: "begun after the cancel"))

    with anyio.fail_after(60):
        task = asyncio.get_running_loop().create_task(work())
        await in_thread(begun.wait, 60)
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
        go_on.set()
        await asyncio.wait([task])
    assert (task.cancelled(), done) == (True, ["slow"])
    threads.close(patience=60)


async def test_work_that_no_thread_has_begun_is_withdrawn_by_a_cancel() -> None:
    threads, go_on, done = Threads(1, "test"), threading.Event(), list[int]()
    threads.put(lambda: go_on.wait(60))
    task = asyncio.get_running_loop().create_task(threads.do(done.append, 1))
    await asyncio.sleep(0)
    task.cancel()
    with anyio.fail_after(60):
        await asyncio.wait([task])
        assert task.cancelled()
        go_on.set()
        await threads.do(done.append, 2)
    assert done == [2]
    threads.close(patience=60)


async def test_threads_are_started_only_for_what_waits_and_end_without_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridge, "_IDLE_SECONDS", 0.01)
    threads, together = Threads(3, "test-some"), threading.Barrier(3)
    with anyio.fail_after(60):
        await asyncio.gather(*(threads.do(together.wait, 60) for _ in range(3)))
        for thread in [thread for thread in threading.enumerate() if thread.name == "test-some"]:
            await in_thread(thread.join, 60)
            assert not thread.is_alive()
        assert await threads.do(lambda: "and start again") == "and start again"


async def test_patience_that_ends_leaves_what_is_waited_for_and_nothing_else() -> None:
    with anyio.fail_after(60):
        async with Patience(0.01) as patience:
            await asyncio.Event().wait()
        assert patience.over
        await asyncio.sleep(0)
        async with Patience(60) as patience:
            await asyncio.sleep(0)
        assert not patience.over


async def test_patience_can_be_ended_by_somebody_even_before_it_begins() -> None:
    ended, waits = Patience(), Patience()
    ended.end()
    with anyio.fail_after(60):
        async with ended:
            await asyncio.Event().wait()
        asyncio.get_running_loop().call_soon(waits.end)
        async with waits:
            await asyncio.Event().wait()
    assert waits.over


async def test_patience_that_ends_during_the_last_thing_inside_does_not_meet_the_next_wait_outside() -> None:
    async def slow(patience: Patience) -> str:
        patience.end()
        await asyncio.sleep(0)
        return "kept"

    with anyio.fail_after(60):
        async with Patience() as patience:
            found = await seen_through(slow(patience))
        await asyncio.sleep(0)
    assert found == "kept"


async def test_of_two_patiences_each_ends_its_own_block() -> None:
    left = list[str]()
    with anyio.fail_after(60):
        async with Patience() as outer:
            async with Patience() as inner:
                try:
                    inner.end()
                    await asyncio.Event().wait()
                finally:
                    outer.end()
                    await seen_through(asyncio.sleep(0))
            left.append("inner")
        left.append("outer")
        await asyncio.sleep(0)
    assert left == ["outer"]


async def test_a_cancel_is_not_taken_for_the_end_of_patience() -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def slow(patience: Patience) -> None:
        begun.set()
        await go_on.wait()
        patience.end()

    async def work() -> None:
        async with Patience() as patience:
            await seen_through(slow(patience))
        await asyncio.sleep(0)
        raise AssertionError("went on although it was cancelled")

    with anyio.fail_after(60):
        assert (await cancelled_while(work(), begun, go_on)).cancelled()


async def test_trouble_inside_is_told_even_if_patience_ends_with_it() -> None:
    async def fails(patience: Patience) -> None:
        patience.end()
        raise NotFound("deleted meanwhile")

    with anyio.fail_after(60):
        with pytest.raises(NotFound):
            async with Patience() as patience:
                await seen_through(fails(patience))
        await asyncio.sleep(0)


async def test_a_light_event_wakes_all_who_wait_for_it_and_one_who_is_cancelled_takes_nobody_along() -> None:
    event, woken = LightEvent(), list[str]()

    async def wait(name: str) -> None:
        await event.wait()
        woken.append(name)

    waiting = [asyncio.create_task(wait(name)) for name in ("first", "second", "third")]
    await asyncio.sleep(0)
    waiting[1].cancel()
    event.set()
    with anyio.fail_after(60):
        await asyncio.wait(waiting)
        await event.wait()
    assert woken == ["first", "third"]
    event.clear()
    assert not event.is_set()
