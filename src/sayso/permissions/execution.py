"""Logging what is done under a permission. Functions of one transaction, for the desks.

It is logged before it is done: whoever is killed in between has logged too much, and never too little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sayso import chain
from sayso.asks.model import Asker
from sayso.chain import LogEvent, LogKind
from sayso.records import replace
from sayso.store import Transaction

if TYPE_CHECKING:
    from sayso.permissions.verdict import AllowedAction


def note_run(tx: Transaction, allowed: AllowedAction, operation: str, asker: Asker, now: int) -> None:
    """Sayso is about to execute it."""
    _note(tx, allowed, LogEvent(kind=LogKind.RUN, at=now, operation=operation), asker)


def note_came_to_nothing(
    tx: Transaction, allowed: AllowedAction, operation: str, why: str, asker: Asker, now: int
) -> None:
    """It will not be executed although it was allowed, and never was about to be."""
    _note(tx, allowed, LogEvent(kind=LogKind.NOT_RUN, at=now, operation=operation, why=why), asker)


def note_not_run(tx: Transaction, operation: str, why: str, now: int) -> None:
    """It was not executed after all; nothing where it was under no permission."""
    _note_otherwise(tx, operation, LogEvent(kind=LogKind.NOT_RUN, at=now, why=why))


def note_run_in_part(tx: Transaction, operation: str, why: str, now: int) -> None:
    """Only the command that runs before it was executed."""
    _note_otherwise(tx, operation, LogEvent(kind=LogKind.RUN_IN_PART, at=now, why=why))


def _note_otherwise(tx: Transaction, operation: str, ended: LogEvent) -> None:
    for row in tx.all("log_of_run", operation_id=operation):
        run = chain.read(row).event
        chain.append(tx, [replace(run, kind=ended.kind, at=ended.at, why=ended.why if run.title else "")])


def note_handed_over(tx: Transaction, allowed: AllowedAction, asker: Asker, now: int) -> None:
    """The client is about to be told that it may."""
    _note(tx, allowed, LogEvent(kind=LogKind.HANDED_OVER, at=now), asker)


def _note(tx: Transaction, allowed: AllowedAction, event: LogEvent, asker: Asker) -> None:
    action, first = allowed.action, tx.one("first_log_of_ask", ask_id=allowed.ask)
    # Whoever keeps no history has none of its texts in the log.
    keeps_texts = first is not None and bool(chain.read(first).event.title)
    event = replace(
        event,
        ask=allowed.ask,
        digest=action.digest,
        part_of=allowed.part_of,
        project=asker.project,
        owner=asker.owner,
        tool=action.tool,
        title=action.title if keeps_texts else "",
        why=event.why if keeps_texts else "",
        client=asker.client,
        session=asker.session,
        agent=asker.agent,
    )
    chain.append(tx, [event], [action.plain] if keeps_texts else [])
