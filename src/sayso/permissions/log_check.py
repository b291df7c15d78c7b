"""Whether the log of permissions is whole: every row as it was written, none missing, in the order they were added.

It shows what was changed behind Sayso's back. Whoever can write the store and knows how could write the whole log anew;
against that helps the hash of the newest row, noted elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from sayso import chain
from sayso.chain import LogKind
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
    OTHER_ACTION = "another action"
    """What is kept as an action has another digest."""


@dataclass(frozen=True, kw_only=True)
class FaultFound:
    """A fault, from one row to another, or with a kept action."""

    fault: LogFault
    first: int = 0
    last: int = 0
    digest: str = ""


@dataclass(frozen=True, kw_only=True)
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


def check(tx: Transaction) -> LogCheck:
    """Look at every row and every action."""
    reading = _Reading()
    faults = tuple(islice(reading.faults(tx), _MOST_FAULTS))
    return LogCheck(faults=faults, rows=reading.rows, first=reading.first, since=reading.since, hash=reading.hash)


class _Reading:
    """The log read from its first row to its last."""

    def __init__(self) -> None:
        self.rows = self.first = self.seq = 0
        self.since: int | None = None
        self.hash = self._begins_after = ""
        self._let_go: tuple[int, str] = (0, "")
        """The last row that was taken from the front, as the log itself says."""

    def faults(self, tx: Transaction) -> Iterator[FaultFound]:
        for row in _pages(tx, "log_after", "seq", 0):
            yield from self._take(row)
        if self.rows and self._let_go != (self.first - 1, self._begins_after):
            yield FaultFound(fault=LogFault.NO_BEGINNING, first=1, last=self.first - 1)
        end = tx.one("log_end")
        if (end["seq"], end["hash"]) != (self.seq, self.hash) if end else self.rows:
            yield FaultFound(fault=LogFault.NO_END, first=self.seq + 1, last=end["seq"] if end else self.seq)
        for row in _pages(tx, "actions_after", "digest", ""):
            if chain.sha256(row["body"]) != row["digest"]:
                yield FaultFound(fault=LogFault.OTHER_ACTION, digest=row["digest"])

    def _take(self, row: Row) -> Iterator[FaultFound]:
        seq = row["seq"]
        if not self.rows:
            self.first, self.since, self._begins_after = seq, row["at"], row["previous"]
        elif seq != self.seq + 1:
            yield FaultFound(fault=LogFault.MISSING, first=self.seq + 1, last=seq - 1)
        elif row["previous"] != self.hash:
            yield FaultFound(fault=LogFault.DOES_NOT_FOLLOW, first=seq, last=seq)
        if chain.row_hash(row) != row["hash"]:
            yield FaultFound(fault=LogFault.CHANGED, first=seq, last=seq)
        elif row["kind"] == LogKind.SHORTENED:
            about = json.loads(row["body"])["about"]
            self._let_go = about["seq"], about["hash"]
        self.rows, self.seq, self.hash = self.rows + 1, seq, row["hash"]


def _pages(tx: Transaction, query: str, key: str, after: int | str) -> Iterator[Row]:
    while page := tx.all(query, after=after, most=_PAGE):
        yield from page
        after = page[-1][key]
