"""What a store is: transactions of named queries, a bell, and a schema that is brought up to date on opening."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

from sayso.errors import StoreCorrupt, StoreTooNew
from sayso.store.bell import Bell

Row = Mapping[str, Any]
T = TypeVar("T")


class Ringing:
    """What a transaction has to say to those who listen, once it is kept."""

    named: frozenset[str] | None = None
    """Whose waits it is news to; None: everyone's."""
    known_here = False
    """Whether this process need not be woken."""

    def wake_only(self, *processes: str) -> None:
        self.named = (self.named or frozenset()).union(processes)

    def wake_others(self) -> None:
        self.known_here = True


class Transaction(Protocol):
    """Runs queries of queries.sql by name."""

    def all(self, query: str, /, **parameters: object) -> list[Row]: ...
    def one(self, query: str, /, **parameters: object) -> Row | None: ...
    def run(self, query: str, /, **parameters: object) -> int: ...

    def wake_only(self, *processes: str) -> None:
        """What is changed here is news to the waits of these processes only. Without a word, to everyone's."""

    def wake_others(self) -> None:
        """Whoever in this process has to know of it is told by whoever writes it. The store may ring here too."""

    def rows(self, table: str, /) -> Iterator[Row]:
        """All that is in a table, few at a time."""

    def put_rows(self, table: str, rows: Iterable[Row], /) -> int:
        """Add rows as they came from `rows` of another store. How many there were."""

    def clear(self, table: str, /) -> None: ...

    def look_up(self) -> None:
        """What is asked in the rest of this transaction is in an index, however little its planner thinks of that."""

    def keep_others_out(self) -> None:
        """Nobody else writes anything until this transaction is over."""


class Store(ABC):
    """Durable asks, safe from any thread. Work is a function of one transaction; it may be run again."""

    where: str
    """Its place, as it may be shown."""
    threads: int
    """How many threads can usefully work in it at once."""
    near = False
    """Whether looking something up takes less time than handing that to a thread."""
    only_shows = False
    """Whether it can be looked at and no more, because its disk cannot be written."""
    begins_anew = True
    """Whether the next call creates an empty store where one was removed. Not while a person is looking."""

    @abstractmethod
    def read(self, work: Callable[[Transaction], T]) -> T:
        """Run `work` on one consistent view."""

    def all(self, query: str, /, **parameters: object) -> list[Row]:
        """What one query finds: cheaper than a `read` where the store is elsewhere."""
        return self.read(lambda tx: tx.all(query, **parameters))

    def one(self, query: str, /, **parameters: object) -> Row | None:
        return self.read(lambda tx: tx.one(query, **parameters))

    @abstractmethod
    def write(self, work: Callable[[Transaction], T]) -> T:
        """Run `work`, make it durable, and ring the bell. On a Conflict `work` runs again."""

    @abstractmethod
    def note(self, work: Callable[[Transaction], T]) -> T:
        """The same, without waiting for a disk, for what would be read again from elsewhere: everybody sees it at once,
        whatever becomes of this process, but a power cut may take it back. What is written later never stays without
        it."""

    def clock_ahead(self) -> int:
        """Milliseconds by which our clock is ahead of that of the machine where the store is; less than 0: behind."""
        return 0

    def check_version(self) -> None:
        """A StoreTooNew where a newer program has changed the tables since this one opened them."""
        row = self.one("meta", key="schema_version")
        steps_from(row["value"] if row else "", self.where)

    def secret(self, name: str) -> bytes:
        """A random key that all processes of this store share, made when it is first wanted."""

        def work(tx: Transaction) -> bytes:
            tx.run("put_meta_once", key=name, value=os.urandom(32).hex())
            row = tx.one("meta", key=name)
            assert row is not None
            return bytes.fromhex(row["value"])

        return self.write(work)

    def claim(self, key: str, now: int) -> bool:
        """Whether this key is claimed for the first time."""
        return self.write(lambda tx: tx.run("claim", key=key, now=now)) == 1

    @abstractmethod
    def bell(self) -> Bell:
        """This process's bell, hung up at the first call."""

    @abstractmethod
    def aside(self) -> AbstractContextManager[Store]:
        """The same store for slow work, which must not keep others of this process waiting."""

    @abstractmethod
    def close(self) -> None: ...


@cache
def queries() -> Mapping[str, str]:
    """The named statements of queries.sql."""
    pieces = re.split(r"^-- (name|part): (\w+)\n", _file("queries.sql"), flags=re.M)[1:]
    bodies = [body.strip().rstrip(";") for body in pieces[2::3]]
    found = list(zip(pieces[::3], pieces[1::3], bodies, strict=True))
    parts = {name: body for kind, name, body in found if kind == "part"}
    return {name: _filled_in(body, parts) for kind, name, body in found if kind == "name"}


def _filled_in(body: str, parts: Mapping[str, str]) -> str:
    # Most have no part in them, and this is done at the start of every process.
    return re.sub(r"\{(\w+)\}", lambda at: _filled_in(parts[at[1]], parts), body) if "{" in body else body


def statements(sql: str) -> list[str]:
    """A script of ours as single statements, without its comments."""
    bare = re.sub(r"^\s*--.*$", "", sql, flags=re.M)
    return [statement.strip() for statement in bare.split(";") if statement.strip()]


def schema() -> list[str]:
    return statements(_file("schema.sql"))


@cache
def tables() -> tuple[str, ...]:
    """The names of all tables, those first that others refer to."""
    return tuple(found[1] for statement in schema() if (found := re.match(r"CREATE TABLE (\w+)", statement)))


@cache
def migrations() -> Mapping[int, str]:
    """What brings a store from the version before to each version; `NNNN_what.sql`."""
    folder = Path(__file__).with_name("migrations")
    return _Scripts({int(name[:4]): folder / name for name in sorted(os.listdir(folder)) if name[:4].isdigit()})


class _Scripts(Mapping[int, str]):
    """Files that are read when they are wanted: most stores lack none of them, and every process opens one."""

    def __init__(self, files: Mapping[int, Path]) -> None:
        self._files = files

    def __getitem__(self, step: int) -> str:
        return self._files[step].read_text(encoding="utf-8")

    def __iter__(self) -> Iterator[int]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def newest() -> int:
    """The schema version this program writes. A store made by schema.sql alone is version 1."""
    return max(migrations(), default=1)


def steps_from(version: str, where: str) -> Mapping[int, list[str]]:
    """The migrations a store of this version still lacks, oldest first."""
    if not version.isdecimal():
        raise StoreCorrupt(
            f"What is at {where} is not a Sayso store, or is damaged: its schema version is {version!r}. "
            "Move it away, or set SAYSO_STATE_DIR or SAYSO_STORE to another place."
        )
    if int(version) > newest():
        raise StoreTooNew(
            f"The store at {where} has schema version {version}, this Sayso knows up to {newest()}. "
            "Upgrade Sayso here, or set SAYSO_STATE_DIR or SAYSO_STORE to another store."
        )
    known = migrations()
    return {step: statements(known[step]) for step in known if step > int(version)}


def _file(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
