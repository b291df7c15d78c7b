"""Whether the log of permissions is whole: every row as it was written, none missing, in the order they were added, and
all there that the asks and commands of the store know of.

It shows what was changed behind Sayso's back. Whoever can write the store and knows how could write all of it anew;
against that helps the hash of the newest row, noted elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from itertools import islice
from typing import Any

from sayso import chain
from sayso.asks.expected_log import expected
from sayso.chain import LogKind
from sayso.hashes import sha256
from sayso.records import record
from sayso.store import Row, Transaction

_PAGE = 500
_MOST_FAULTS = 20


class LogFault(StrEnum):
    """How the log can be broken."""

    CHANGED = "changed"
    """A row is not as it was written."""
    MISSING = "missing"
    DOES_NOT_FOLLOW = "does not follow"
    """A row was written after another one than the one that stands before it."""
    NO_BEGINNING = "no beginning"
    """The first row is not the first that was written, and nothing says that those before it were to go."""
    NO_END = "no end"
    OUT_OF_PLACE = "out of place"
    """Rows whose numbers are none that the log gives."""
    OTHER_ACTION = "another action"
    """What is kept as an action has another digest."""
    NO_ACTION = "no action"
    """An action that rows tell of is no longer kept."""
    NOT_LOGGED = "not logged"
    """What the store knows of a permission is not in the log."""
    NOT_AS_NOTED = "not as noted"
    """No row has the hash that somebody has noted elsewhere."""
    RUN_NOT_LOGGED = "run not logged"
    """A command of the store ran under a permission, which is not in the log."""


@record
class FaultFound:
    """A fault, from one row to another, with a number of rows, with a kept action, or with what is not logged."""

    fault: LogFault
    first: int = 0
    last: int = 0
    rows: int = 0
    digest: str = ""
    ask: str = ""
    operation: str = ""
    missing: LogKind | None = None


@record
class LogCheck:
    """What a look at the whole log has found. It begins with the row `first`, which was written at `since`."""

    faults: tuple[FaultFound, ...]
    rows: int
    first: int
    since: int | None
    hash: str
    """Of the newest row: whoever has noted it elsewhere can tell later whether all up to there is as it was."""

    @property
    def whole(self) -> bool:
        return not self.faults


def check(tx: Transaction, noted: str = "") -> LogCheck:
    """Look at every row and every action, and for the row that had the noted hash, which may be cut."""
    reading = _Reading(noted)
    faults = tuple(islice(reading.faults(tx), _MOST_FAULTS))
    return LogCheck(faults=faults, rows=reading.rows, first=reading.first, since=reading.since, hash=reading.hash)


class _Reading:
    """The log read from its first row to its last, and compared with what is beside it."""

    def __init__(self, noted: str) -> None:
        self._noted = noted
        self.rows = self.first = self.seq = 0
        self.since: int | None = None
        self.hash = self._begins_after = ""
        self._let_go: tuple[int, str] = (0, "")
        """The last row that was taken from the front, as the log itself says."""
        self._all_since = 0
        """Everything that was logged at that time or later is to be there."""
        self._of_asks: dict[str, set[str]] = {}
        """What the log says of each permission."""
        self._actions: set[str] = set()
        """The digests of the actions that rows tell of."""

    def faults(self, tx: Transaction) -> Iterator[FaultFound]:
        for row in _pages(tx, "log_after", "seq", 0):
            yield from self._take(row)
        if self.rows and self._let_go != (self.first - 1, self._begins_after):
            yield FaultFound(fault=LogFault.NO_BEGINNING, first=1, last=self.first - 1)
        end = tx.one("log_end")
        if (end["seq"], end["hash"]) != (self.seq, self.hash) if end else self.rows:
            yield FaultFound(fault=LogFault.NO_END, first=self.seq + 1, last=end["seq"] if end else self.seq)
        if self._noted:
            yield FaultFound(fault=LogFault.NOT_AS_NOTED, digest=self._noted)
        size = tx.one("log_size")
        if size and size["size"] != self.rows:
            yield FaultFound(fault=LogFault.OUT_OF_PLACE, rows=size["size"] - self.rows)
        yield from self._compare_actions(tx)
        yield from self._compare_asks(tx)
        for row in tx.all("runs_not_logged", since=self._all_since, most=_MOST_FAULTS):
            yield FaultFound(fault=LogFault.RUN_NOT_LOGGED, operation=row["id"], missing=LogKind.RUN)

    def _take(self, row: Row) -> Iterator[FaultFound]:
        seq = row["seq"]
        if not isinstance(seq, int):
            return  # SQLite keeps anything in any column; it is counted among those that are out of place
        if not self.rows:
            self.first, self.since, self._begins_after = seq, row["at"], row["previous"]
        elif seq != self.seq + 1:
            yield FaultFound(fault=LogFault.MISSING, first=self.seq + 1, last=seq - 1)
        elif row["previous"] != self.hash:
            yield FaultFound(fault=LogFault.DOES_NOT_FOLLOW, first=seq, last=seq)
        if chain.row_hash(row) != row["hash"]:
            yield FaultFound(fault=LogFault.CHANGED, first=seq, last=seq)
        else:
            self._learn(row, _body(row))
        self.rows, self.seq, self.hash = self.rows + 1, seq, row["hash"]

    def _learn(self, row: Row, body: Mapping[str, Any]) -> None:
        """Take in what an untouched row says of others and of what is kept beside the log."""
        if row["hash"].startswith(self._noted):
            self._noted = ""
        self._of_asks.setdefault(row["ask_id"], set()).add(row["kind"])
        if body.get("title") and row["digest"]:
            self._actions.add(row["digest"])
        match body.get("about"):
            case {"seq": int(seq), "hash": str(hash_), "before": int(before)} if row["kind"] == LogKind.SHORTENED:
                self._let_go = max(self._let_go, (seq, hash_))
                self._all_since = max(self._all_since, before)

    def _compare_actions(self, tx: Transaction) -> Iterator[FaultFound]:
        for row in _pages(tx, "actions_after", "digest", ""):
            self._actions.discard(row["digest"])
            if sha256(row["body"].encode()) != row["digest"]:
                yield FaultFound(fault=LogFault.OTHER_ACTION, digest=row["digest"])
        for digest in sorted(self._actions):
            yield FaultFound(fault=LogFault.NO_ACTION, digest=digest)

    def _compare_asks(self, tx: Transaction) -> Iterator[FaultFound]:
        for ask_id, kind in expected(tx, self._all_since):
            if kind not in self._of_asks.get(ask_id, ()):
                yield FaultFound(fault=LogFault.NOT_LOGGED, ask=ask_id, missing=kind)


def _body(row: Row) -> Mapping[str, Any]:
    try:
        body = json.loads(row["body"])
    except (ValueError, TypeError):
        body = None
    return body if isinstance(body, dict) else {}


def _pages(tx: Transaction, query: str, key: str, after: int | str) -> Iterator[Row]:
    while page := tx.all(query, after=after, most=_PAGE):
        yield from page
        after = page[-1][key]
