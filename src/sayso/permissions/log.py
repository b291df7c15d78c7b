"""Reading the log of permissions: what was decided and what came of it, whole actions, and whether the log is whole.

It is written by the desks, in the transactions of what it tells of (`chain.py`).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sayso import chain
from sayso.chain import LogEntry, LogEvent, LogKind
from sayso.clock import FAR_FUTURE, Clock, now_ms
from sayso.errors import AmbiguousId, NotFound
from sayso.permissions.action import Action, action_from
from sayso.permissions.log_check import LogCheck, check
from sayso.store import Store, Transaction
from sayso.store.steps import STEP, in_steps

_DAY = 24 * 3_600_000
_EXECUTIONS = (LogKind.RUN, LogKind.NOT_RUN, LogKind.HANDED_OVER, LogKind.NOT_HANDED_OVER)


@dataclass(frozen=True, kw_only=True)
class Execution:
    """What came of an allow: `entry` says that it ran or was handed over, `undone` that it was not after all."""

    entry: LogEntry
    undone: LogEntry | None = None


@dataclass(frozen=True, kw_only=True)
class LoggedOutcome:
    """What was decided, or refused, and what ran under it."""

    entry: LogEntry
    executions: tuple[Execution, ...] = ()

    @property
    def ran(self) -> int:
        """How often exactly this was executed, or handed to the client that does it."""
        return sum(execution.undone is None for execution in self.executions)

    @property
    def stopped(self) -> LogEvent | None:
        """Why it did not run although it was allowed."""
        return next((one.undone.event for one in reversed(self.executions) if one.undone), None)


@dataclass(frozen=True, kw_only=True)
class LoggedPermission:
    """All that is known of one permission: what happened, in order, and the actions that it was about."""

    entries: tuple[LogEntry, ...]
    actions: tuple[Action, ...]


class PermissionLog:
    """The log of one store."""

    def __init__(self, store: Store, *, clock: Clock = now_ms) -> None:
        self._store, self._clock = store, clock

    def outcomes(
        self,
        *,
        since: int = 0,
        project: str | None = None,
        person: str | None = None,
        only_refused: int | None = None,
        before: int | None = None,
        most: int = 100,
    ) -> list[LoggedOutcome]:
        """A page of what was decided and refused, newest first. With a person: what that person may see."""

        def work(tx: Transaction) -> list[LoggedOutcome]:
            found = tx.all(
                "log_outcomes",
                since=since,
                project=project,
                person=person,
                only_refused=only_refused,
                before=FAR_FUTURE if before is None else before,
                most=most,
            )
            return [_outcome(tx, chain.read(row)) for row in found]

        return self._store.read(work)

    def find(self, short_id: str, person: str | None = None) -> LoggedPermission:
        """The permission whose ask's id begins so."""
        prefix = short_id.lower().replace("-", "")
        if not prefix or set(prefix) - set("0123456789abcdef"):
            raise NotFound(f"{short_id!r} is not an id. Ids are made of 0-9 and a-f; `sayso log` shows them.")

        def work(tx: Transaction) -> LoggedPermission:
            ids = [row["ask_id"] for row in tx.all("log_asks_by_prefix", prefix=prefix, beyond=prefix + "g")]
            if len(ids) > 1:
                raise AmbiguousId(short_id, ids)
            entries = tuple(_entries(tx, ids[0])) if ids else ()
            if not any(person is None or entry.event.owner in ("", person) for entry in entries):
                raise NotFound(f"The log has no permission with the id {short_id!r}. `sayso log` shows them.")
            digests = dict.fromkeys(entry.event.digest for entry in entries)
            kept = [action for digest in digests if (action := _kept_action(tx, digest))]
            return LoggedPermission(entries=entries, actions=tuple(kept))

        return self._store.read(work)

    def check(self) -> LogCheck:
        """Look at every row and every action."""
        return self._store.read(check)

    def shorten(self, keep_ms: int, ending: threading.Event) -> int:
        """Take from the front what is older than it is to be kept. How many rows went. That is logged itself, so that
        the rest can still be checked; therefore not for a single row, but about once a day."""
        before = self._clock() - keep_ms
        if not self._store.read(lambda tx: tx.one("log_overdue", overdue=before - _DAY)):
            return 0
        with self._store.aside() as apart:
            return in_steps(lambda: apart.write(lambda tx: _shorten(tx, before, self._clock())), ending)


def _outcome(tx: Transaction, entry: LogEntry) -> LoggedOutcome:
    if entry.event.kind is not LogKind.ALLOWED:
        return LoggedOutcome(entry=entry)
    later = [one for one in _entries(tx, entry.event.ask) if one.seq > entry.seq and one.event.kind in _EXECUTIONS]
    return LoggedOutcome(entry=entry, executions=tuple(executions(later)))


def executions(entries: Sequence[LogEntry]) -> Iterator[Execution]:
    """What of them ran or was handed over, each with what undid it."""
    undone: dict[str, LogEntry] = {
        entry.event.operation: entry for entry in entries if entry.event.kind is LogKind.NOT_RUN
    }
    handed = [entry for entry in entries if entry.event.kind in (LogKind.HANDED_OVER, LogKind.NOT_HANDED_OVER)]
    for entry in entries:
        if entry.event.kind is LogKind.RUN:
            yield Execution(entry=entry, undone=undone.get(entry.event.operation))
    if handed:
        last = handed[-1]
        taken_back = last.event.kind is LogKind.NOT_HANDED_OVER
        yield Execution(entry=last, undone=last if taken_back else None)


def _entries(tx: Transaction, ask_id: str) -> list[LogEntry]:
    return [chain.read(row) for row in tx.all("log_of_ask", ask_id=ask_id)]


def _kept_action(tx: Transaction, digest: str) -> Action | None:
    row = tx.one("kept_action", digest=digest) if digest else None
    return action_from(json.loads(row["body"])) if row else None


def _shorten(tx: Transaction, before: int, now: int) -> int:
    end = tx.one("log_end")
    rows = tx.all("log_front", before=before, beyond=end["seq"] + 1 if end else 0, most=STEP)
    if not rows:
        return 0
    last = rows[-1]
    tx.run("drop_log_front", through=last["seq"])
    for digest in {row["digest"] for row in rows}:
        tx.run("drop_action", digest=digest)
    about = {"seq": last["seq"], "hash": last["hash"], "at": last["at"]}
    chain.append(tx, [LogEvent(kind=LogKind.SHORTENED, at=now, about=about)])
    return len(rows)
