"""Coroutines that wait for people: each gets its own answer, in time, whatever happens to the store meanwhile."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Container, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import psutil
import psycopg
import pytest
from tests.asks.samples import AGENT, ANNA, RED, ask, own_text
from tests.conftest import OpenStore
from tests.postgres import Server

from sayso.asks import waiting as waiting_module
from sayso.asks.desk import AskDesk, Held
from sayso.asks.holding import release_each
from sayso.asks.model import Ask, State
from sayso.asks.waiting import Waiting
from sayso.bridge import Patience, seen_through
from sayso.clock import now_ms
from sayso.errors import NotFound, StoreUnavailable, TooManyOpen
from sayso.store import Store, Transaction, sqlite
from sayso.store.postgres import PostgresBell, PostgresStore

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Confirm the waits so often that a test need not wait long for it."""
    monkeypatch.setattr(waiting_module, "CONFIRM_AFTER", 0.1)


@asynccontextmanager
async def waits(store: Store) -> AsyncIterator[Waiting]:
    with anyio.fail_after(60):
        async with Waiting(store, AskDesk(store)) as waiting:
            yield waiting


async def test_a_wait_ends_with_the_answer_that_another_process_gave(open_shared: OpenStore) -> None:
    other = AskDesk(open_shared())
    async with waits(open_shared()) as waiting:
        held = await waiting.hold(ask())
        await anyio.to_thread.run_sync(other.answer, held.ask.id, RED, ANNA)
        settled = await waiting.outcome(held)
        assert (settled.id, settled.state, settled.answer("1")) == (held.ask.id, State.ANSWERED, RED[0])
        await waiting.delivered(held)
    assert other.get(held.ask.id).delivered


async def test_a_wait_ends_with_an_answer_given_in_the_same_process(store: Store) -> None:
    async with waits(store) as waiting:
        held = await waiting.hold(ask())
        await waiting.do(waiting.desk.reject, held.ask.id, "no", ANNA)
        assert (await waiting.outcome(held)).state is State.REJECTED


@pytest.fixture
def nobody_more_can_be_asked(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """It is time to ask more people, and the store takes nothing. The event is set once that was tried."""
    tried = threading.Event()

    def escalate(desk: AskDesk, held: Held) -> None:
        tried.set()
        raise StoreUnavailable("The disk is full.")

    monkeypatch.setattr(waiting_module, "next_escalation", lambda asked: 1)
    monkeypatch.setattr(AskDesk, "escalate", escalate)
    return tried


async def test_while_nobody_more_can_be_asked_an_answer_still_arrives(
    open_shared: OpenStore, nobody_more_can_be_asked: threading.Event
) -> None:
    async with waits(open_shared()) as waiting:
        held = await waiting.hold(ask())
        outcome = asyncio.ensure_future(waiting.outcome(held))
        await anyio.to_thread.run_sync(nobody_more_can_be_asked.wait, 60)
        await anyio.to_thread.run_sync(AskDesk(open_shared()).answer, held.ask.id, RED, ANNA)
        assert (await outcome).state is State.ANSWERED


async def test_while_nobody_more_can_be_asked_a_wait_still_keeps_to_its_limit(
    store: Store, nobody_more_can_be_asked: threading.Event
) -> None:
    async with waits(store) as waiting:
        held = await waiting.hold(ask(timeout_ms=50))
        assert (await waiting.outcome(held)).state is State.TIMED_OUT
    assert nobody_more_can_be_asked.is_set()


async def test_a_wait_ends_with_an_answer_that_was_looked_for_before_the_wait_was_known(
    open_shared: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = threading.Event()
    async with waits(open_shared()) as waiting:
        await waiting.hold(ask("What else?"))  # from here on it listens
        hold, ended_waits = waiting.desk.hold, waiting.desk.ended_waits

        def look(known: Container[str]) -> list[Ask]:
            found = ended_waits(known)
            if found:
                looked.set()
            return found

        def hold_and_be_answered(*given: Any) -> Held:
            held = hold(*given)
            waiting.desk.answer(held.ask.id, RED, ANNA)
            assert looked.wait(30)
            return held

        monkeypatch.setattr(waiting.desk, "ended_waits", look)
        monkeypatch.setattr(waiting.desk, "hold", hold_and_be_answered)
        held = await waiting.hold(ask())
        assert (await waiting.outcome(held)).answer("1") == RED[0]


async def test_a_delivery_that_the_store_could_not_be_told_is_told_later(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_: Sequence[Held]) -> None:
        raise StoreUnavailable("It is away.")

    async with waits(store) as waiting:
        held = await waiting.hold(ask())
        await waiting.do(waiting.desk.answer, held.ask.id, RED, ANNA)
        await waiting.outcome(held)
        with monkeypatch.context() as patched:
            patched.setattr(waiting.desk, "delivered_each", away)
            await waiting.delivered(held)
            for _ in range(3):
                # Nobody here waits for it any more, and yet it was not let go of.
                await waiting.leaving.end_strays({held.wait.id})
        assert waiting.desk.get(held.ask.id).wait
        await waiting.leaving.end_strays({held.wait.id})
        assert waiting.desk.get(held.ask.id).delivered


async def test_what_is_handed_over_together_is_noted_together_but_for_what_is_gone(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[int] = []
    async with waits(store) as waiting:
        held = [await waiting.hold(ask(f"Question {number}?")) for number in range(20)]
        for each in held:
            await waiting.do(waiting.desk.answer, each.ask.id, RED, ANNA)
            await waiting.outcome(each)
        gone, *there = held
        waiting.desk.forget(gone.ask.id, gone.ask.tool)
        at_once = waiting.desk.delivered_each

        def count(waits: Sequence[Held]) -> None:
            noted.append(len(waits))
            at_once(waits)

        monkeypatch.setattr(waiting.desk, "delivered_each", count)
        await asyncio.gather(*(waiting.delivered(each) for each in held))
        assert all(waiting.desk.get(each.ask.id).delivered for each in there)
    assert noted == [20]


async def test_an_answer_that_is_already_there_ends_the_wait_at_once(store: Store) -> None:
    desk = AskDesk(store)
    desk.answer(desk.leave(ask()).id, RED, ANNA)
    async with waits(store) as waiting:
        held = await waiting.hold(ask())
        assert held.reattached
        assert (await waiting.outcome(held)).answer("1") == RED[0]


async def test_answers_arrive_also_after_a_fault_that_nobody_thought_of(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with waits(store) as waiting:
        ended_waits = waiting.desk.ended_waits

        def fail(_: Container[str]) -> list[Ask]:
            monkeypatch.setattr(waiting.desk, "ended_waits", ended_waits)
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr(waiting.desk, "ended_waits", fail)
        held = await waiting.hold(ask())
        await waiting.do(waiting.desk.answer, held.ask.id, RED, ANNA)
        assert (await waiting.outcome(held)).state is State.ANSWERED


async def test_leaving_does_not_wait_for_a_store_that_does_not_come_back(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.asks.waiting.FINISH_SECONDS", 0.01)
    desk, back = AskDesk(store), threading.Event()
    monkeypatch.setattr(desk, "release_all", lambda: back.wait(60))
    with anyio.fail_after(30):
        async with Waiting(store, desk) as waiting:
            await waiting.hold(ask())
    assert not back.is_set()
    back.set()


async def test_attach_waits_for_an_ask_that_is_there(store: Store) -> None:
    left = AskDesk(store).leave(ask())
    async with waits(store) as waiting:
        held = await waiting.attach(left.id)
        assert held is not None
        assert await waiting.attach(left.id) is None
        await waiting.do(waiting.desk.answer, left.id, RED, ANNA)
        assert (await waiting.outcome(held)).state is State.ANSWERED


async def test_a_thousand_asks_held_at_once_each_get_their_own_answer(open_sqlite: OpenStore) -> None:
    other = AskDesk(open_sqlite())
    answered: dict[str, Ask] = {}

    async def put(waiting: Waiting, number: int) -> None:
        held = await waiting.hold(ask(f"Question {number}?"))
        answered[held.ask.questions[0].text] = await waiting.outcome(held)
        await waiting.delivered(held)

    def answer_all() -> None:
        page = other.inbox(most=1000)
        for one in reversed(page):
            other.answer(one.id, own_text(f"to {one.questions[0].text}"), ANNA)

    async with waits(open_sqlite()) as waiting, anyio.create_task_group() as calls:
        for number in range(1000):
            calls.start_soon(put, waiting, number)
        await until(lambda: other.inbox_size() == 1000)
        await anyio.to_thread.run_sync(answer_all)
    assert len(answered) == 1000
    assert all(got.answer("1") == own_text(f"to {text}")[0] for text, got in answered.items())
    assert {one.delivered for one in other.history(most=1000)} == {True}


@pytest.mark.parametrize("timeout_ms", [1, 250])
async def test_a_wait_times_out_at_its_time_and_not_before(store: Store, timeout_ms: int) -> None:
    async with waits(store) as waiting:
        begun = time.monotonic()
        held = await waiting.hold(ask(timeout_ms=timeout_ms))
        ended = await waiting.outcome(held)
        assert time.monotonic() - begun >= timeout_ms / 1000
        assert ended.state is State.TIMED_OUT
        await waiting.delivered(held)
        assert (await waiting.do(waiting.desk.get, held.ask.id)).delivered


async def test_an_answer_after_the_timeout_is_kept_for_the_next_call(store: Store) -> None:
    async with waits(store) as waiting:
        held = await waiting.hold(ask(timeout_ms=1))
        assert (await waiting.outcome(held)).state is State.TIMED_OUT
        await waiting.do(waiting.desk.answer, held.ask.id, RED, ANNA)
        await waiting.delivered(held)
        again = await waiting.hold(ask(timeout_ms=1))
        assert (await waiting.outcome(again)).answer("1") == RED[0]


async def test_who_was_just_told_of_a_timeout_can_wait_on_as_soon_as_that_is_noted(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    noting, go_on = threading.Event(), threading.Event()
    async with waits(store) as waiting:
        at_once = waiting.desk.delivered_each

        def slowly(waits: Sequence[Held]) -> None:
            noting.set()
            assert go_on.wait(25)
            at_once(waits)

        held = await waiting.hold(ask(timeout_ms=1))
        assert (await waiting.outcome(held)).state is State.TIMED_OUT
        monkeypatch.setattr(waiting.desk, "delivered_each", slowly)
        told = asyncio.create_task(waiting.delivered(held))
        assert await asyncio.to_thread(noting.wait, 25)
        assert waiting.in_hand == {held.ask.id}
        noted = asyncio.create_task(waiting.leaving.noted([held.ask.id]))
        go_on.set()
        assert await noted
        assert waiting.in_hand == set()
        assert not await waiting.leaving.noted([held.ask.id])
        assert await waiting.attach(held.ask.id)
        await told


async def test_a_call_that_is_let_go_leaves_the_ask_open_and_unattended(store: Store) -> None:
    async with waits(store) as waiting:
        held = await waiting.hold(ask())
        async with Patience(0.01):
            try:
                await waiting.outcome(held)
            finally:
                await waiting.release(held, "the client let go of the call")
        left = await waiting.do(waiting.desk.get, held.ask.id)
        assert (left.state, left.wait) == (State.PENDING, None)
        assert (await waiting.hold(ask())).reattached


async def test_a_call_cancelled_while_its_ask_is_opened_still_gets_it_to_let_go_of(store: Store) -> None:
    async with waits(store) as waiting:
        async with Patience() as patience:
            patience.end()
            held = await seen_through(waiting.hold(ask()))
            await waiting.outcome(held)
        await waiting.release(held, "the client let go of the call")
        assert await waiting.do(waiting.desk.held_here) == {}


async def test_a_wait_that_nobody_waits_on_is_found_and_ended(store: Store, often: None) -> None:
    async with waits(store) as waiting:
        kept = await waiting.hold(ask("Which size?"))
        stray = await anyio.to_thread.run_sync(waiting.desk.hold, ask())
        await until(lambda: set(waiting.desk.held_here()) == {kept.wait.id})
        assert waiting.desk.events(stray.ask.id)[-1].detail == "nobody waits for it any more"


async def test_a_task_killed_while_its_ask_is_opened_leaves_no_wait_behind(store: Store, often: None) -> None:
    opening, go_on = threading.Event(), threading.Event()

    def slow_clock() -> int:
        opening.set()
        assert go_on.wait(25)
        return now_ms()

    with anyio.fail_after(60):
        async with Waiting(store, AskDesk(store, clock=slow_clock)) as waiting:
            go_on.set()
            kept = await waiting.hold(ask("Which size?"))
            opening.clear()
            go_on.clear()
            call = asyncio.create_task(waiting.hold(ask()))
            await anyio.to_thread.run_sync(opening.wait, 25)
            call.cancel()
            go_on.set()
            await asyncio.wait([call])
            if not call.cancelled():
                await waiting.release(call.result(), "the client let go of the call")
            await until(lambda: set(AskDesk(store).held_here()) == {kept.wait.id})


async def test_leaving_lets_go_of_everything(open_shared: OpenStore) -> None:
    other = AskDesk(open_shared())
    async with waits(open_shared()) as waiting:
        held = [await waiting.hold(ask(f"Question {number}?")) for number in range(5)]
    assert [other.get(one.ask.id).wait for one in held] == [None] * 5
    assert other.events(held[0].ask.id)[-1].detail == "its server stopped"


async def test_a_wait_that_others_took_for_dead_is_put_back(open_shared: OpenStore, often: None) -> None:
    other = AskDesk(open_shared())
    async with waits(open_shared()) as waiting:
        held = await waiting.hold(ask())
        await anyio.to_thread.run_sync(other.release, held, "its process ended")
        await until(lambda: other.get(held.ask.id).wait == held.wait)
        await anyio.to_thread.run_sync(other.answer, held.ask.id, RED, ANNA)
        assert (await waiting.outcome(held)).answer("1") == RED[0]


async def test_many_waits_that_others_took_for_dead_are_put_back_together_and_the_deleted_ones_end(
    open_shared: OpenStore, often: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting_module, "PUT_BACK_AT_ONCE", 4)
    other = AskDesk(open_shared())
    async with waits(open_shared()) as waiting:
        held = [await waiting.hold(ask(f"Question {number}?")) for number in range(9)]

        def take_for_dead() -> None:
            other.change(lambda table: release_each(table, [(one, "its process ended") for one in held]))
            other.answer(held[0].ask.id, RED, ANNA)
            other.change(lambda table: table.tx.run("delete_ask", id=held[1].ask.id, tool=held[1].ask.tool))

        await anyio.to_thread.run_sync(take_for_dead)
        assert (await waiting.outcome(held[0])).answer("1") == RED[0]
        with pytest.raises(NotFound, match=held[1].ask.id):
            await waiting.outcome(held[1])
        await until(lambda: {one.wait.id for one in held[2:]} <= set(waiting.desk.wait_ids()))


async def test_an_answer_given_while_others_took_us_for_dead_still_arrives(open_shared: OpenStore, often: None) -> None:
    other = AskDesk(open_shared())
    async with waits(open_shared()) as waiting:
        held = await waiting.hold(ask())

        def settle_as_unattended() -> None:
            other.release(held, "its process ended")
            other.answer(held.ask.id, RED, ANNA)

        await anyio.to_thread.run_sync(settle_as_unattended)
        assert (await waiting.outcome(held)).answer("1") == RED[0]
        await waiting.delivered(held)
        assert (await waiting.do(waiting.desk.get, held.ask.id)).delivered


async def test_an_answer_that_is_handed_over_while_others_take_us_for_dead_is_not_owed_again(
    open_shared: OpenStore,
) -> None:
    other = AskDesk(open_shared())
    async with waits(open_shared()) as waiting:
        held = await waiting.hold(ask())
        await anyio.to_thread.run_sync(other.answer, held.ask.id, RED, ANNA)
        assert (await waiting.outcome(held)).answer("1") == RED[0]
        await anyio.to_thread.run_sync(other.release, held, "its process ended")
        assert waiting.in_hand == {held.ask.id}, "no other call of this process hands it over too"
        await waiting.delivered(held)
        assert not waiting.in_hand
        assert other.undelivered(AGENT) == []


async def test_a_timeout_that_is_told_while_others_take_us_for_dead_does_not_pass_for_the_late_answer(
    open_shared: OpenStore,
) -> None:
    other = AskDesk(open_shared())
    async with waits(open_shared()) as waiting:
        held = await waiting.hold(ask(timeout_ms=1))
        assert (await waiting.outcome(held)).state is State.TIMED_OUT
        await anyio.to_thread.run_sync(other.release, held, "its process ended")
        await anyio.to_thread.run_sync(other.answer, held.ask.id, RED, ANNA)
        await waiting.delivered(held)
        assert [one.id for one in other.undelivered(AGENT)] == [held.ask.id]


@pytest.mark.parametrize("told_first", [True, False])
async def test_a_timeout_that_is_told_while_its_wait_is_put_back_does_not_pass_for_the_late_answer(
    open_shared: OpenStore, often: None, monkeypatch: pytest.MonkeyPatch, told_first: bool
) -> None:
    other = AskDesk(open_shared())
    runs_out, is_missed, is_answered, is_back = (threading.Event() for _ in range(4))
    async with waits(open_shared()) as waiting:
        held = await waiting.hold(ask(timeout_ms=500))
        do, desk = waiting.do, waiting.desk
        time_out, wait_ids = desk.time_out, desk.wait_ids

        def lost_wait_ids() -> set[str]:
            monkeypatch.setattr(waiting_module, "CONFIRM_AFTER", 3600.0)
            other.release(held, "its process ended")
            known = wait_ids()
            runs_out.wait(20)
            return known

        def late_time_out(held: Held) -> Ask:
            is_missed.wait(20)
            found = time_out(held)
            other.answer(held.ask.id, RED, ANNA)
            is_answered.set()
            return found

        async def in_this_order(work: Callable[..., Any], *args: Any) -> Any:
            if work == desk.time_out:
                runs_out.set()
            if work != desk.hold_each_again:
                return await do(work, *args)
            is_missed.set()
            await anyio.to_thread.run_sync(is_answered.wait, 20)
            if told_first:
                await waiting.delivered(held)
            found = await do(work, *args)
            is_back.set()
            return found

        monkeypatch.setattr(desk, "wait_ids", lost_wait_ids)
        monkeypatch.setattr(desk, "time_out", late_time_out)
        monkeypatch.setattr(waiting, "do", in_this_order)
        assert (await waiting.outcome(held)).state is State.TIMED_OUT
        await anyio.to_thread.run_sync(is_back.wait, 20)
        if not told_first:
            await waiting.delivered(held)
        assert [one.id for one in other.undelivered(AGENT)] == [held.ask.id]
        await until(lambda: other.get(held.ask.id).wait is None)
        assert (await waiting.hold(ask())).ask.id == held.ask.id, "nobody is asked the same again"


async def test_a_lost_wait_is_put_back_although_the_bell_never_rests(open_shared: OpenStore, often: None) -> None:
    other = AskDesk(open_shared())
    async with waits(open_shared()) as waiting:
        held = await waiting.hold(ask())
        await anyio.to_thread.run_sync(other.release, held, "its process ended")

        def make_noise_until_it_is_back() -> None:
            while other.get(held.ask.id).wait is None:
                other.leave(ask("Noise?"))
                other.keep_draft(held.ask.id, "anna", f"{time.monotonic()}")

        await anyio.to_thread.run_sync(make_noise_until_it_is_back)


async def test_a_wait_whose_ask_was_deleted_ends_with_an_error(
    open_sqlite: OpenStore, tmp_path: Path, often: None
) -> None:
    async with waits(open_sqlite()) as waiting:
        held = await waiting.hold(ask())
        later = await waiting.hold(ask("Which size?"))
        with closing(sqlite3.connect(tmp_path / "state" / "sayso.db")) as connection, connection:
            connection.execute("DELETE FROM asks WHERE id = ?", (held.ask.id,))
        with pytest.raises(NotFound):
            await waiting.outcome(held)
        await waiting.release(held, "it is gone")
        await waiting.delivered(held)
        await waiting.do(waiting.desk.answer, later.ask.id, RED, ANNA)
        assert (await waiting.outcome(later)).state is State.ANSWERED, "the others go on"


async def test_an_answer_whose_ring_was_lost_ends_the_wait_all_the_same(
    open_sqlite: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting_module, "CONFIRM_AFTER", 3600.0)
    monkeypatch.setattr(sqlite, "ring_all", lambda *_: None)
    async with waits(open_sqlite()) as waiting:
        held = await waiting.hold(ask())
        await anyio.to_thread.run_sync(AskDesk(open_sqlite()).answer, held.ask.id, RED, ANNA)
        assert (await waiting.outcome(held)).answer("1") == RED[0]


async def test_an_answer_at_whose_moment_the_line_to_the_server_was_cut_ends_the_wait_all_the_same(
    open_postgres: OpenStore, postgres_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting_module, "CONFIRM_AFTER", 3600.0)
    cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query LIKE '%advisory_lock_shared%' "
    async with waits(open_postgres()) as waiting:
        held = await waiting.hold(ask())
        with psycopg.connect(postgres_address, autocommit=True) as killer:
            found = killer.execute(f"{cut} AND pid <> pg_backend_pid() AND datname = current_database()").fetchone()
        assert found == (1,)
        await anyio.to_thread.run_sync(AskDesk(open_postgres()).answer, held.ask.id, RED, ANNA)
        assert (await waiting.outcome(held)).answer("1") == RED[0]


async def test_waits_survive_a_restart_of_the_server_even_if_others_take_us_for_dead_meanwhile(
    restartable: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_hang, hang = threading.Event(), PostgresBell._hang

    def hang_when_allowed(bell: PostgresBell) -> Any:
        assert bell.process != held.wait.process or may_hang.wait(25)
        return hang(bell)

    with restartable.new_database() as address:
        store = PostgresStore(address)
        async with waits(store) as waiting:
            held = await waiting.hold(ask())
            with monkeypatch.context() as patched:
                patched.setattr(PostgresBell, "_hang", hang_when_allowed)
                restartable.stop()
                restartable.start()
                other = PostgresStore(address)
                assert await anyio.to_thread.run_sync(AskDesk(other).release_the_dead) == 1
                await anyio.to_thread.run_sync(AskDesk(other).answer, held.ask.id, RED, ANNA)
                may_hang.set()
                with anyio.fail_after(waiting_module.CONFIRM_AFTER - 5):
                    assert (await waiting.outcome(held)).answer("1") == RED[0]
            other.close()
        store.close()


IDLE = """
import sys
import anyio
from sayso.asks.desk import AskDesk, Held
from sayso.asks.holding import release_each
from sayso.clock import now_ms
from sayso.asks.waiting import Waiting
from sayso.bridge import Patience, seen_through
from tests.asks.samples import ask
from tests.store.other import _open

async def main() -> None:
    store = _open(sys.argv[1])
    async with Waiting(store, AskDesk(store)) as waiting:
        for number in range(50):
            await waiting.hold(ask(f"Question {number}?"))
        print("ready", flush=True)
        await anyio.to_thread.run_sync(sys.stdin.read)

anyio.run(main)
"""


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_fifty_held_asks_cost_next_to_nothing_while_nothing_happens(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    place = tmp_path / "sayso.db" if kind == "sqlite" else request.getfixturevalue("postgres_address")
    command = [sys.executable, "-c", IDLE, str(place)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        process = psutil.Process(child.pid)
        before, begun = process.cpu_times(), time.monotonic()
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(4)
        after, seconds = process.cpu_times(), time.monotonic() - begun
        assert child.stdin is not None
        child.stdin.close()
        child.wait(30)
    used = after.user + after.system - before.user - before.system
    assert used / seconds < 0.005


async def until(condition: Callable[[], bool]) -> None:
    """Look from outside, as another process would, until it is so."""
    with anyio.fail_after(120):
        while not await anyio.to_thread.run_sync(condition):  # noqa: ASYNC110  # it happens elsewhere
            await anyio.sleep(0.02)


async def test_what_a_broken_store_did_not_let_go_of_is_taken_up_by_the_same_call_later(
    open_sqlite: OpenStore, tmp_path: Path
) -> None:
    state, kept = tmp_path / "state", tmp_path / "kept"
    async with waits(open_sqlite()) as waiting:
        held = await waiting.hold(ask())
        state.rename(kept)
        state.write_text("in the way")
        await waiting.release(held, "the store failed")
        state.unlink()
        kept.rename(state)
        again = await waiting.hold(ask())
        assert (again.ask.id, again.reattached) == (held.ask.id, True)


async def test_what_the_store_would_not_let_go_of_leaves_with_the_same_call_made_again(
    open_shared: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with waits(open_shared()) as waiting:
        held = await waiting.hold(ask())

        def broken(*_: object) -> None:
            raise StoreUnavailable("The connection is broken.")

        with monkeypatch.context() as fault:
            fault.setattr(waiting.desk, "release_each", broken)
            await waiting.release(held, "the client let go of the call")
            again = await waiting.hold(ask())
        assert (again.ask.id, again.reattached) == (held.ask.id, True)
        kinds = [event.kind for event in waiting.desk.events(held.ask.id)]
        assert kinds == ["opened", "unattended", "attended"]


@pytest.mark.parametrize("what", ["a wait that is over", "an answer that nobody read"])
async def test_the_same_call_made_again_is_not_asked_twice_though_another_could_not_tell_the_store_for_it(
    store: Store, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    go_on = threading.Event()

    def away(*_: object) -> None:
        assert go_on.wait(30)
        raise StoreUnavailable("The disk is full.")

    async with waits(store) as waiting:
        first, hold = await waiting.hold(ask()), waiting.desk.hold
        go_on.set()
        if what == "a wait that is over":
            with monkeypatch.context() as patched:
                patched.setattr(waiting.desk, "release_each", away)
                await waiting.release(first, "the client's time limit was near")
        else:
            await waiting.do(waiting.desk.answer, first.ask.id, RED, ANNA)
            await waiting.outcome(first)
            tell = waiting.leaving.hand_over(first)
            tell(True)
            await until(lambda: waiting.desk.get(first.ask.id).delivered)
            with monkeypatch.context() as patched:
                patched.setattr(waiting.desk, "take_back", away)
                tell(False)
                await waiting.leaving.over()
        go_on.clear()
        monkeypatch.setattr(waiting.desk, "hold", away)
        another = asyncio.create_task(waiting.hold(ask("Another question?")))
        await asyncio.sleep(0)
        monkeypatch.setattr(waiting.desk, "hold", hold)
        again = asyncio.create_task(waiting.hold(ask()))
        await asyncio.sleep(0)
        go_on.set()
        assert ((held := await again).ask.id, held.reattached) == (first.ask.id, True)
        with pytest.raises(StoreUnavailable):
            await another
        now = waiting.desk.get(first.ask.id)
        assert now.wait
        assert now.wait.id == held.wait.id


async def test_what_was_to_leave_with_a_call_that_is_refused_leaves_with_the_next(
    open_shared: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_shared()
    async with Waiting(store, AskDesk(store, most_open=1)) as waiting:
        held = await waiting.hold(ask())

        def broken(*_: object) -> None:
            raise StoreUnavailable("The connection is broken.")

        with monkeypatch.context() as fault:
            fault.setattr(waiting.desk, "release_each", broken)
            await waiting.release(held, "the client let go of the call")
        with pytest.raises(TooManyOpen):
            await waiting.hold(ask("Another?"))
        again = await waiting.hold(ask())
        assert (again.ask.id, again.reattached) == (held.ask.id, True)


async def test_an_ask_whose_call_failed_though_it_was_kept_is_taken_up_by_the_same_call(
    open_shared: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection may break after the store has done its work and before it could say so."""
    store = open_shared()
    async with waits(store) as waiting:
        write = store.write

        def broken(work: Callable[[Transaction], object]) -> None:
            write(work)
            raise StoreUnavailable("The connection is broken.")

        with monkeypatch.context() as fault:
            fault.setattr(store, "write", broken)
            with pytest.raises(StoreUnavailable):
                await waiting.hold(ask())
        (opened,) = waiting.desk.inbox()
        again = await waiting.hold(ask())
        assert (again.ask.id, again.reattached) == (opened.id, True)
        assert len(waiting.desk.inbox()) == 1
