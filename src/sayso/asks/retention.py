"""How long asks and their texts are kept: what nobody waits for expires, what ended long ago is deleted."""

from __future__ import annotations

import threading
from collections.abc import Callable

from sayso.asks.model import NOT_FETCHED, Ask, State
from sayso.asks.table import AskTable
from sayso.clock import Clock
from sayso.records import record, replace
from sayso.store import Store, Transaction
from sayso.store.steps import STEP, in_steps


@record
class Retention:
    """How long things are kept, in milliseconds."""

    ended: int
    undelivered: int
    unattended: int

    def bounds(self, now: int) -> dict[str, int]:
        """Before which moment something of each kind is overdue."""
        return {
            "ended_before": now - self.ended,
            "undelivered_before": now - max(self.undelivered, self.ended),
            "unattended_before": now - self.unattended,
            "claimed_before": now - max(self.ended, self.unattended),
        }


@record
class CleanedUp:
    expired: int
    deleted: int


def clean_up(
    store: Store, keep: Retention, clock: Clock, keeps_history: Callable[[Ask], bool], ending: threading.Event
) -> CleanedUp:
    """Do away with what is overdue. In small steps, on a connection of its own."""
    bounds = keep.bounds(clock())
    if not store.one("overdue", **bounds):
        return CleanedUp(expired=0, deleted=0)
    with store.aside() as apart:
        apart.write(lambda tx: tx.run("forget_claims", before=bounds["claimed_before"]))

        def all_of(step: Callable[[AskTable, Retention], int]) -> int:
            def work(tx: Transaction) -> int:
                table = AskTable(tx, clock(), keeps_history=keeps_history)
                done = step(table, keep)
                table.close()
                return done

            return in_steps(lambda: apart.write(work), ending)

        return CleanedUp(expired=all_of(_expire), deleted=all_of(_delete))


def _expire(table: AskTable, keep: Retention) -> int:
    overdue = table.all("expirable", unattended_before=keep.bounds(table.now)["unattended_before"], most=STEP)
    for ask in overdue:
        table.change(replace(ask, state=State.EXPIRED, ended_at=table.now), ask, kind="expired")
    return len(overdue)


def _delete(table: AskTable, keep: Retention) -> int:
    bounds = keep.bounds(table.now)
    deleted = table.tx.run(
        "delete_ended",
        ended_before=bounds["ended_before"],
        undelivered_before=bounds["undelivered_before"],
        most=STEP,
    )
    if deleted:
        table.unindex("history_blocks_before", time=bounds["ended_before"])
    return deleted


def lapse(table: AskTable, ask_id: str, keeps_history: Callable[[Ask], bool]) -> Ask:
    ask = table.get(ask_id)
    over = replace(ask, wait=None)
    if ask.state.answerable:
        over = replace(over, state=State.EXPIRED, ended_at=table.now)
    else:
        # What a person said stays in the history. It must not reach anyone later.
        void = replace(ask.outcome, void=ask.outcome.void or NOT_FETCHED) if ask.outcome else None
        over = replace(over, outcome=void, delivered_at=ask.delivered_at or table.now)
    return table.change(over if keeps_history(ask) else wiped(table, over), ask, kind="expired")


def wiped(table: AskTable, ask: Ask) -> Ask:
    """The ask without its texts, for those who want no history. What people began to write is gone at once."""
    table.tx.run("drop_drafts", ask_id=ask.id)
    table.tx.run("drop_attachments", ask_id=ask.id)
    outcome = replace(ask.outcome, answers=(), reason="", changed=None, changed_title="") if ask.outcome else None
    return replace(ask, title="", questions=(), outcome=outcome, wanted={} if ask.wanted else None)
