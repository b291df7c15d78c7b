"""The log of permissions as the store keeps it: rows that are only ever added, each with the hash of the one before.

Functions of the transaction in which a thing happens, so that it is logged if it happened, and only then. What is
logged is told at the desks; `permissions/log.py` is for those who read it.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from sayso.action_data import canonical, digest_of
from sayso.clock import Clock
from sayso.records import asdict, fields, record
from sayso.store import Row, Store, Transaction
from sayso.store.steps import STEP, in_steps

_DAY = 24 * 3_600_000


class LogKind(StrEnum):
    """What happened."""

    ASKED = "asked"
    ALLOWED = "allowed"
    DENIED = "denied"
    UNDECIDED = "undecided"
    """It ended without a verdict, which is a no, but nobody's."""
    ELSEWHERE = "decided_elsewhere"
    """Its client has decided by a prompt of its own, in its terminal; `why` says how."""
    NOTED = "noted"
    """What its client's own record says became of a verdict, in `why`. Agents can write there: nobody has seen it."""
    AGREED = "agreed"
    """One of those who have to agree has, and others are still to; `why` says how many have."""
    TAKEN_BACK = "taken_back"
    """Somebody who had agreed does not any more."""
    ESCALATED = "escalated"
    """Nobody has decided for a while, so that more people are asked: `why` names them."""
    DELEGATED = "delegated"
    """Somebody lets another decide in their place, or ends that; `why` says whom and until when."""
    TOO_LATE = "too_late"
    """A verdict that came when it was over."""
    REFUSED = "refused"
    """A verdict that was not taken: for another action than the wanted one, or from somebody who may not give it."""
    HANDED_OVER = "handed_over"
    """The client of the agent has the allow, and does by itself what was allowed."""
    NOT_HANDED_OVER = "not_handed_over"
    """Allowed, but the call was over before its client could be told."""
    RUN = "run"
    """Sayso was about to execute it; noted before it does."""
    NOT_RUN = "not_run"
    """It was not executed after all: it was no longer what had been allowed, or could not be started."""
    RUN_IN_PART = "run_in_part"
    """Only the command that runs before it was executed, and then not itself."""
    RULE_ADDED = "rule_added"
    """A person has made a rule of an action that they allowed; `scope` says where it holds, `about` has its place."""
    RULE_ENDED = "rule_ended"
    """A person has taken back a rule that a session had."""
    RULES_CHANGED = "rules_changed"
    """A person saves another text of their own rules, whose hash `rules_file` is; noted before they are replaced."""
    RESTORED = "restored"
    """A person has put a backup into the place of all that was there; `why` says which."""
    SHORTENED = "shortened"
    """Rows that were older than they are to be kept are gone from the front: `seq` and `hash` in `about` are those of
    the last one, and all that were written at `before` or later are there."""


@record
class LogEvent:
    """One thing that happened. Times are milliseconds since 1970; `digest` is of the action that it is about."""

    kind: LogKind
    at: int
    ask: str = ""
    digest: str = ""
    part_of: str = ""
    """The digest of the whole sequence that was allowed, where this is a step of it."""
    project: str = ""
    owner: str = ""
    operation: str = ""
    tool: str = ""
    title: str = ""
    client: str = ""
    session: str = ""
    agent: str = ""
    person: str = ""
    rule: str = ""
    rules_file: str = ""
    """The hash of the file that the rule is in."""
    surface: str = ""
    scope: str = ""
    why: str = ""
    about: Mapping[str, Any] | None = None


@record
class LogEntry:
    """An event at its place in the log."""

    seq: int
    event: LogEvent
    previous: str
    hash: str


_COLUMNS = {
    "at": "at",
    "kind": "kind",
    "ask": "ask_id",
    "digest": "digest",
    "project": "project",
    "owner": "owner",
    "operation": "operation_id",
}
"""The fields of an event that queries look at; the others are JSON."""


def end_delegation(tx: Transaction, person: str, now: int, why: str = "") -> bool:
    """Nobody decides in this person's place from now on; whether somebody did."""
    ended = bool(tx.run("end_delegation", person=person, now=now))
    if ended:
        note_delegation(tx, person, now, f"Nobody decides for {person} any more", why)
    return ended


def note_delegation(tx: Transaction, person: str, now: int, title: str, why: str) -> None:
    event = LogEvent(kind=LogKind.DELEGATED, at=now, ask=os.urandom(16).hex(), person=person, title=title, why=why)
    append(tx, [event])


def append(tx: Transaction, events: Sequence[LogEvent], actions: Iterable[Mapping[str, Any]] = ()) -> None:
    """Add to the end, and keep the whole actions that are told of. Whoever else adds meanwhile waits for this
    transaction, and nobody takes away an action that is kept here."""
    if not events:
        return
    end = _lengthen(tx, len(events))
    for action in actions:
        tx.run("keep_action", digest=digest_of(action), body=canonical(action))
    previous = end["hash"]
    for seq, event in enumerate(events, start=end["seq"] - len(events) + 1):
        row = {"seq": seq, "previous": previous, **_columns(event)}
        previous = row_hash(row)
        tx.run("insert_log", **row, hash=previous)
    tx.run("end_log", hash=previous)


def _lengthen(tx: Transaction, count: int) -> Row:
    """Where the log will end once this many more are there. From here on nobody else can change it."""
    end = tx.one("lengthen_log", count=count)
    assert end is not None
    return end


def read(row: Row) -> LogEntry:
    known = fields(LogEvent)
    body = {name: value for name, value in json.loads(row["body"]).items() if name in known}
    looked_at = {name: row[column] for name, column in _COLUMNS.items()}
    event = LogEvent(**{**body, **looked_at, "kind": LogKind(row["kind"])})
    return LogEntry(seq=row["seq"], event=event, previous=row["previous"], hash=row["hash"])


def row_hash(row: Row) -> str:
    """The hash that a row must have: over everything else in it, the hash of the row before included."""
    said = [row[name] for name in ("seq", "previous", *_COLUMNS.values(), "body")]
    # Only now: servers list their tools without it.
    from sayso.hashes import sha256

    return sha256(json.dumps(said, separators=(",", ":"), default=repr).encode())


def shorten(store: Store, keep_ms: int, clock: Clock, ending: threading.Event) -> int:
    """Take from the front what is older than it is to be kept. How many rows went. That is logged itself, so that the
    rest can still be checked; therefore not for a single row, but about once a day."""
    before = clock() - keep_ms
    if not store.one("log_overdue", overdue=before - _DAY):
        return 0
    with store.aside() as apart:
        return in_steps(lambda: apart.write(lambda tx: _take_front(tx, before, clock())), ending)


def _take_front(tx: Transaction, before: int, now: int) -> int:
    # Held before anything is looked at: what another process takes away meanwhile must not be taken for still there.
    end = _lengthen(tx, 0)
    rows = tx.all("log_front", before=before, beyond=end["seq"] + 1, most=STEP)
    if not rows:
        return 0
    last = rows[-1]
    tx.run("drop_log_front", through=last["seq"])
    for digest in {row["digest"] for row in rows}:
        tx.run("drop_action", digest=digest)
    about = {"seq": last["seq"], "hash": last["hash"], "at": last["at"], "before": before}
    append(tx, [LogEvent(kind=LogKind.SHORTENED, at=now, about=about)])
    return len(rows)


def _columns(event: LogEvent) -> dict[str, Any]:
    said = asdict(event)
    columns = {column: said.pop(name) for name, column in _COLUMNS.items()}
    body = {name: value for name, value in said.items() if value}
    return {**columns, "kind": event.kind.value, "body": json.dumps(body, sort_keys=True)}
