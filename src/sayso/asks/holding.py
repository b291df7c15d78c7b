"""Holding on to an ask: how a call begins to wait for it, and what becomes of it when the wait ends.

Functions of one transaction, for the desk, which tells what each is for. Coroutines wait in `waiting.py`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from sayso.asks.happening import NOT_READ
from sayso.asks.model import Ask, Asker, Away, State, Wait
from sayso.asks.quorum import escalated
from sayso.asks.table import AskTable
from sayso.errors import NotFound
from sayso.records import record, replace
from sayso.store import Bell

BATCH = 100
"""How many asks are let go of in one transaction."""

PROCESS_ENDED = "its process ended"
RAN_OUT = "its call ran out of time"


@record
class Held:
    """An ask and the wait that now holds it."""

    ask: Ask
    wait: Wait
    reattached: bool = False
    of_another: bool = False
    """Whether another session had asked it, which is gone."""
    away: Away = Away.UNKNOWN
    """Where the agent goes when the wait ends without an outcome."""


@record
class Leaving:
    """Waits that have ended although the store could not be told: those that are known, those of calls that failed,
    which may have been stored all the same when only the reply was lost, those whose outcome was handed over, and those
    whose outcome was handed over and not read."""

    known: tuple[tuple[Held, str], ...] = ()
    doubtful: frozenset[str] = frozenset()
    delivered: tuple[Held, ...] = ()
    unread: tuple[Held, ...] = ()


def new_wait_id() -> str:
    return os.urandom(16).hex()


def new_wait(table: AskTable, bell: Bell, timeout_ms: int | None, wait_id: str = "") -> Wait:
    """A wait of the process whose bell this is."""
    until = table.now + timeout_ms if timeout_ms else None
    return Wait(id=wait_id or new_wait_id(), process=bell.process, since=table.now, until=until)


def take(table: AskTable, ask: Ask, wait: Wait, asker: Asker | None = None) -> Ask:
    """Put a wait on an ask. One that had timed out is pending again. With an asker, it is that one's from now on."""
    waiting = replace(ask, wait=wait, away=Away.UNKNOWN)
    if asker:
        waiting = replace(waiting, asker=asker, server=wait.process)
    if ask.state is State.TIMED_OUT:
        waiting = replace(waiting, state=State.PENDING, ended_at=None, delivered_at=None)
    return table.change(waiting, ask, kind="attended")


def attach(table: AskTable, ask_id: str, bell: Bell, timeout_ms: int | None, asker: Asker | None) -> Held | None:
    ask = table.get(ask_id)
    if ask.wait and bell.alive([ask.wait.process]):
        return None
    if ask.bound:
        # Only the call that asked may have it.
        if ask.wait:
            let_go(table, ask, PROCESS_ENDED)
        return None
    wait = new_wait(table, bell, timeout_ms)
    return Held(ask=take(table, ask, wait, asker), wait=wait, reattached=True)


def take_again(table: AskTable, held: Held) -> Ask:
    ask, until = table.get(held.ask.id), held.wait.until
    # Timed out by its own limit, its call has ended: nobody would wait there.
    ran_out = ask.state is State.TIMED_OUT and until is not None and until <= table.now
    return ask if ask.wait or ask.delivered or ran_out else take(table, ask, held.wait)


def take_each_again(table: AskTable, waits: Sequence[Held]) -> dict[str, Ask | NotFound]:
    found: dict[str, Ask | NotFound] = {}
    for held in waits:
        try:
            found[held.wait.id] = take_again(table, held)
        except NotFound as error:
            found[held.wait.id] = error
    return found


def is_held(ask: Ask, held: Held) -> bool:
    """Whether it still is this very wait that holds the ask."""
    return ask.wait is not None and ask.wait.id == held.wait.id


def was_told(ask: Ask, held: Held) -> bool:
    """Whether a wait that others have ended, because they took its process for dead, told the outcome all the same, and
    nobody else is about to."""
    return ask.wait is None and not ask.delivered and ask.outcome is not None and held.ask.outcome == ask.outcome


def told_of_a_timeout(ask: Ask, held: Held) -> bool:
    """Whether a wait that was put back just then has told of its timeout, and of no answer that came after it."""
    return held.ask.state is State.TIMED_OUT and ask.state is not State.TIMED_OUT


# How a wait ends


def release(table: AskTable, held: Held, why: str) -> Ask:
    ask = table.get(held.ask.id)
    return let_go(table, ask, why, held.away) if is_held(ask, held) else ask


def release_each(table: AskTable, waits: Sequence[tuple[Held, str]]) -> None:
    for held, why in waits:
        with suppress(NotFound):
            release(table, held, why)


def release_leaving(table: AskTable, leaving: Leaving, process: str) -> None:
    """Let go of all waits of this process that are leaving."""
    release_each(table, leaving.known)
    for ask in table.all("held_by", process=process, most=sys.maxsize) if leaving.doubtful else ():
        if ask.wait and ask.wait.id in leaving.doubtful:
            let_go(table, ask, "its call failed")


def release_some_of(table: AskTable, process: str, why: str) -> int:
    """Let go of a batch of what a process holds. How many there were."""
    asks = table.all("held_by", process=process, most=BATCH)
    for ask in asks:
        let_go(table, ask, why)
    return len(asks)


def let_go(table: AskTable, ask: Ask, why: str, away: Away = Away.UNKNOWN) -> Ask:
    """Take the wait off an ask. One that was bound to it has nobody left to answer to."""
    if ask.bound and ask.state is State.PENDING:
        over = replace(ask, wait=None, state=State.EXPIRED, ended_at=table.now)
        return table.change(over, ask, kind="expired", detail=why)
    return table.change(replace(ask, wait=None, away=away), ask, kind="unattended", detail=why)


def time_out(table: AskTable, held: Held) -> Ask:
    ask = table.get(held.ask.id)
    if ask.state is not State.PENDING:
        return ask
    timed_out = replace(ask, state=State.EXPIRED if ask.bound else State.TIMED_OUT, ended_at=table.now)
    if ask.wait and not is_held(ask, held):
        # Another call waits for it now: it ran out for this one alone.
        return timed_out
    return table.change(timed_out, ask, kind="timed_out")


def escalate(table: AskTable, held: Held) -> tuple[Ask, bool]:
    ask = table.get(held.ask.id)
    found = escalated(ask, table.now) if ask.state is State.PENDING else None
    if found is None:
        return ask, False
    more, people = found
    return table.change(more, ask, kind="escalated", detail=", ".join(people)), True


def take_back(table: AskTable, held: Held) -> Ask:
    ask = table.get(held.ask.id)
    if is_held(ask, held):
        # That it was handed over could not be noted.
        return let_go(table, ask, NOT_READ)
    if not ask.delivered or ask.wait or not ask.questions:
        return ask
    return table.change(replace(ask, delivered_at=None), ask, kind="unattended", detail=NOT_READ)
