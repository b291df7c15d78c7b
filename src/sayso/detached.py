"""The desk of processes that outlive their server; those of operations and of runs are such desks.

A runner does its work without us and leaves its status in a folder of its own, so whoever looks next takes it up from
there. Each change is one compare-and-set. Plain synchronous code, safe from any thread and process.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from sayso.clock import Clock, now_ms
from sayso.errors import Conflict, NotFound
from sayso.processes import this_host
from sayso.records import replace
from sayso.running import folder as runner_folder
from sayso.running.folder import DetachedProcess
from sayso.store import Row, Store, Transaction
from sayso.store.steps import STEP, in_steps

D = TypeVar("D", bound=DetachedProcess)


class DetachedQueries(NamedTuple):
    """The names of the queries that every such desk needs."""

    by_id: str
    change: str
    open_here: str
    delete: str


class DetachedDesk(ABC, Generic[D]):
    """`folders` is where each process gets a folder of its own."""

    queries: DetachedQueries

    def __init__(self, store: Store, folders: Path, *, clock: Clock = now_ms) -> None:
        self._store, self._folders, self._clock = store, folders, clock
        self._host = this_host()

    @abstractmethod
    def _read(self, tx: Transaction, row: Row) -> D: ...

    @abstractmethod
    def _columns(self, process: D) -> dict[str, Any]:
        """The columns that change."""

    @abstractmethod
    def _not_found(self, process_id: str) -> NotFound: ...

    def folder_of(self, process_id: str) -> Path:
        """Where a process of this machine leaves what it prints, whether it is there already or not."""
        return self._folders / process_id

    def get(self, process_id: str) -> D:
        return self._store.read(lambda tx: self._get(tx, process_id))

    def open_here(self) -> list[D]:
        """Those on this machine that have not ended, whoever sees them through."""
        return self._all(self.queries.open_here, host=self._host)

    def _cancel(self, process: D) -> D:
        """Have its runner end it with all that descends from it, if it is on this machine."""
        if process.ended_at is None and process.host == self._host:
            runner_folder.cancel(process.folder)
        return process

    # What the dead left

    def _orphans(self) -> list[D]:
        """Those on this machine that no living process sees through."""
        bell, found = self._store.bell(), self.open_here()
        processes = {each.process for each in found} - {bell.process}
        dead = processes - bell.alive(processes) if processes else set()
        return [each for each in found if each.process in dead]

    def _adopt(self, orphans: Iterable[D]) -> list[D]:
        """Those that this process sees through from now on, because no other was faster."""
        return [mine for orphan in orphans if (mine := self._store.write(partial(self._take_over, orphan)))]

    def _take_over(self, orphan: D, tx: Transaction) -> D | None:
        now = self._get(tx, orphan.id)
        if now.ended_at is not None or now.process != orphan.process:
            return None
        return self._change(tx, replace(now, process=self._store.bell().process), now)

    # Tidying

    def _collect(self, ending: threading.Event, query: str, **limit: int) -> int:
        """Delete what the query finds, with its folders; how many it was. In small steps, on a connection of its own;
        the rest is left for another time once `ending` is set."""
        with self._store.aside() as store:
            apart = type(self)(store, self._folders, clock=self._clock)
            return in_steps(lambda: apart._collect_some(query, **limit), ending)

    def _collect_some(self, query: str, **limit: int) -> int:
        found = self._all(query, host=self._host, most=STEP, **limit)
        if found:
            from shutil import rmtree  # which few need

            for each in found:
                rmtree(each.folder, ignore_errors=True)
            self._store.write(lambda tx: [tx.run(self.queries.delete, id=each.id) for each in found])
        return len(found)

    # Within a transaction

    def _edit(self, process_id: str, edit: Callable[[D], D]) -> D:
        """Change it unless it has ended, or `edit` leaves it as it is."""

        def work(tx: Transaction) -> D:
            before = self._get(tx, process_id)
            after = edit(before) if before.ended_at is None else before
            return before if after is before else self._change(tx, after, before)

        return self._store.write(work)

    def _change(self, tx: Transaction, after: D, before: D) -> D:
        tx.wake_only()  # no process waits for an ask because of it
        now = self._clock()
        if not tx.run(self.queries.change, **self._columns(after), id=before.id, version=before.version, now=now):
            raise Conflict
        return replace(after, version=before.version + 1, changed_at=now)

    def _get(self, tx: Transaction, process_id: str) -> D:
        row = tx.one(self.queries.by_id, id=process_id)
        if row is None:
            raise self._not_found(process_id)
        return self._read(tx, row)

    def _all(self, query: str, **parameters: object) -> list[D]:
        return self._store.read(lambda tx: [self._read(tx, row) for row in tx.all(query, **parameters)])
