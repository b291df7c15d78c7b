"""The desk of operations: the only place where an operation changes state. Each change is one compare-and-set.

A runner does its work without us and leaves its status in the operation's folder. So an operation outlives the
server that began it: whoever looks next takes the status from the folder.
"""

from __future__ import annotations

import shutil
import socket
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from pathlib import Path

from sayso.asks.model import Asker
from sayso.asks.quota import UNLIMITED, check_commands
from sayso.asks.sessions import AgentSessions, always, nobody
from sayso.clock import FAR_FUTURE, Clock, now_ms
from sayso.errors import AmbiguousId, NotFound
from sayso.operations import rows
from sayso.operations.operation import Limits, NewOperation, Operation, OperationState, end_of, lost, state_after
from sayso.running import folder as runner_folder
from sayso.running.folder import Status
from sayso.store import Conflict, Row, Store, Transaction
from sayso.store.steps import STEP, in_steps

_MOST_NAMED = 10
_ID_CHARACTERS = set("0123456789abcdef.")


class OperationDesk:
    """Opens, starts, ends and delivers operations. `folders` is where each gets a folder of its own."""

    def __init__(self, store: Store, folders: Path, *, clock: Clock = now_ms, most_open: int = UNLIMITED) -> None:
        self._store, self._folders, self._clock, self._most_open = store, folders, clock, most_open
        self._host = socket.gethostname()

    def folder_of(self, operation_id: str) -> Path:
        """Where an operation of this machine keeps what it prints, whether it is there already or not."""
        return self._folders / operation_id

    # Running

    def open(self, new: NewOperation) -> Operation:
        """A new operation, queued, seen through by this process."""
        return self._insert(new, OperationState.QUEUED)

    def open_running(self, new: NewOperation) -> Operation:
        """A new operation that need not wait for anything."""
        return self._insert(new, OperationState.RUNNING)

    def open_skipped(self, new: NewOperation, why: str) -> Operation:
        """A step that there is no need to run."""
        opened, now = self._insert(new, OperationState.RUNNING), self._clock()
        skipped = replace(opened, state=OperationState.COMPLETED, status=Status(reason="exit", text=why), ended_at=now)
        return self._store.write(lambda tx: self._change(tx, replace(skipped, delivered_at=now), opened))

    def awaits(self, operation_id: str, say_so: str) -> Operation:
        """Note by which ask a person is to allow it; empty: somebody has."""

        def work(tx: Transaction) -> Operation:
            operation = _get(tx, operation_id)
            if operation.state is not OperationState.QUEUED or operation.say_so == say_so:
                return operation
            return self._change(tx, replace(operation, say_so=say_so), operation)

        return self._store.write(work)

    def begin(self, operation_id: str) -> Operation | None:
        """Set it running; None while another holds its lock, or a living one was in the queue before it."""
        self.end_the_dead()
        bell = self._store.bell()

        def work(tx: Transaction) -> Operation | None:
            operation, now = _get(tx, operation_id), self._clock()
            if operation.state is not OperationState.QUEUED:
                return operation
            if operation.lock and _is_taken(tx, operation, bell.alive):
                return None
            return self._change(tx, replace(operation, state=OperationState.RUNNING, started_at=now), operation)

        return self._store.write(work)

    def end(self, operation_id: str, status: Status) -> Operation:
        """Take over how it ended. What has ended stays as it is."""

        def work(tx: Transaction) -> Operation:
            operation, now = _get(tx, operation_id), self._clock()
            if operation.state.ended:
                return operation
            ended_at = end_of(status, operation, now)
            ended = replace(operation, state=state_after(status, operation), status=status, ended_at=ended_at)
            if not operation.background:
                ended = replace(ended, delivered_at=now)
            return self._change(tx, ended, operation)

        return self._store.write(work)

    def want_cancelled(self, operation_id: str, by: str) -> Operation:
        """Note that somebody wants it to end, and tell its runner if it is on this machine. A queued one ends now."""

        def work(tx: Transaction) -> Operation:
            operation = _get(tx, operation_id)
            if operation.state.ended or operation.cancelled_by:
                return operation
            wanted = replace(operation, cancelled_by=by)
            if operation.state is OperationState.QUEUED:
                never_ran = Status(reason="cancelled", text=f"Cancelled before it began, by {by}.")
                wanted = replace(wanted, state=OperationState.CANCELLED, status=never_ran, ended_at=self._clock())
            return self._change(tx, wanted, operation)

        operation = self._store.write(work)
        if operation.state is OperationState.RUNNING and operation.host == self._host:
            runner_folder.cancel(operation.folder)
        return operation

    def delivered(self, operation_id: str) -> Operation:
        """The agent has been told how it ended."""

        def work(tx: Transaction) -> Operation:
            operation = _get(tx, operation_id)
            if not operation.state.ended or operation.delivered:
                return operation
            return self._change(tx, replace(operation, delivered_at=self._clock()), operation)

        return self._store.write(work)

    # What the dead left

    def recover(self) -> list[Operation]:
        """Take over what dead processes saw through: what has ended gets its status, what runs is ours now."""
        return [mine for orphan in self.end_the_dead() if (mine := self._adopt(orphan))]

    def end_the_dead(self) -> list[Operation]:
        """End what nobody sees through and whose runner has ended. What is left: orphans whose command still runs."""
        running = []
        for orphan in self._orphans():
            if runner_folder.is_running(orphan.folder):
                running.append(orphan)
            else:
                self.end(orphan.id, runner_folder.read_status(orphan.folder) or lost(orphan))
        return running

    def open_here(self) -> list[Operation]:
        """The operations on this machine that have not ended, whoever sees them through."""
        return self._all("open_operations", host=self._host)

    def _orphans(self) -> list[Operation]:
        operations = self._all("open_operations", host=self._host)
        processes = {operation.process for operation in operations} - {self._store.bell().process}
        if not processes:
            return []
        dead = processes - self._store.bell().alive(processes)
        return [operation for operation in operations if operation.process in dead]

    def _adopt(self, orphan: Operation) -> Operation | None:
        process = self._store.bell().process

        def work(tx: Transaction) -> Operation | None:
            operation = _get(tx, orphan.id)
            if operation.state.ended or operation.process != orphan.process:
                return None
            started = operation.started_at or self._clock()
            mine = replace(operation, process=process, state=OperationState.RUNNING, started_at=started)
            return self._change(tx, mine, operation)

        return self._store.write(work)

    # Looking

    def get(self, operation_id: str) -> Operation:
        return self._store.read(lambda tx: _get(tx, operation_id))

    def find(self, short_id: str) -> Operation:
        """The operation whose id begins so. A sequence is meant where its steps begin so too."""
        prefix = short_id.lower()
        if not prefix or set(prefix) - _ID_CHARACTERS:
            raise NotFound(f"{short_id!r} is not an id of an operation. They are made of 0-9 and a-f.")
        found = self._store.read(lambda tx: tx.all("operations_by_prefix", prefix=prefix, beyond=prefix + "g"))
        ids = [row["id"] for row in found]
        roots = [each for each in ids if each == prefix or "." not in each or "." in prefix]
        if not roots:
            raise NotFound(f"No operation has the id {short_id!r}. `sayso ops list` shows them.")
        if len(roots) > 1 and prefix not in roots:
            raise AmbiguousId(short_id, roots[:_MOST_NAMED])
        return self.get(prefix if prefix in roots else roots[0])

    def steps(self, sequence: str) -> list[Operation]:
        """The steps of a sequence that have been opened, in order."""
        return self._all("steps_of", parent=sequence)

    def recent(
        self,
        *,
        project: str | None = None,
        person: str | None = None,
        asker: Asker | None = None,
        before: Operation | None = None,
        most: int = 100,
    ) -> list[Operation]:
        """A page of operations, newest first, without steps: of a project, for a person, or in the background of one
        asker."""
        return self._all(
            "recent_operations",
            project=asker.project if asker else project,
            person=person,
            agent=asker.agent if asker else None,
            client=asker.client if asker else None,
            host=self._host,
            before_time=before.created_at if before else FAR_FUTURE,
            before_id=before.id if before else "",
            most=most,
        )

    def under_way(self, *, person: str | None = None, most: int = 100) -> list[Operation]:
        """What is queued or running on any machine, newest first, without steps. With a person: for that person."""
        return self._all("operations_under_way", person=person, most=most)

    def ended(self, *, person: str | None = None, before: Operation | None = None, most: int = 100) -> list[Operation]:
        """A page of what has ended, newest end first, without steps."""
        return self._all(
            "operations_ended",
            person=person,
            before_time=(before.ended_at if before else None) or FAR_FUTURE,
            before_id=before.id if before else "",
            most=most,
        )

    def wanted_cancelled(self) -> list[Operation]:
        """What this process sees through and somebody wants to end."""
        return self._all("cancelled_operations", process=self._store.bell().process)

    def undelivered(self, asker: Asker, most: int = 20) -> list[Operation]:
        """What has ended and this session was not told of, oldest first; not what another living one will be told."""
        found = self._all(
            "undelivered_operations",
            agent=asker.agent,
            client=asker.client,
            project=asker.project,
            host=self._host,
            most=sys.maxsize,
        )
        return self.belonging(found, asker)[:most]

    def belonging(self, operations: Iterable[Operation], asker: Asker) -> list[Operation]:
        """Those of this session, or of one that is gone."""
        bell = self._store.bell()
        return AgentSessions(bell.process, bell.alive, always, nobody).belonging(operations, asker)

    # Tidying

    def collect(self, limits: Limits, ending: threading.Event | None = None) -> int:
        """Delete what ended long ago, and the oldest of what is too much on disk. How many went. In small steps, on a
        connection of its own; the rest is left for another time once `ending` is set."""
        ending, before = ending or threading.Event(), self._clock() - limits.age_ms
        with self._store.aside() as store:
            apart = OperationDesk(store, self._folders, clock=self._clock)
            old = in_steps(lambda: apart._collect_some("old_operations", ended_before=before), ending)
            return old + in_steps(
                lambda: apart._collect_some("crowded_operations", total_bytes=limits.total_bytes), ending
            )

    def _collect_some(self, query: str, **limit: int) -> int:
        found = self._all(query, host=self._host, most=STEP, **limit)
        for operation in found:
            shutil.rmtree(operation.folder, ignore_errors=True)
        if found:
            self._store.write(lambda tx: _delete(tx, found))
        return len(found)

    # Within a transaction

    def _insert(self, new: NewOperation, state: OperationState) -> Operation:
        process, now = self._store.bell().process, self._clock()
        operation = Operation(
            **{item.name: getattr(new, item.name) for item in fields(NewOperation)},
            folder=self.folder_of(new.id),
            host=self._host,
            server=process,
            process=process,
            state=state,
            created_at=now,
            changed_at=now,
            started_at=now if state is OperationState.RUNNING else None,
        )

        def work(tx: Transaction) -> None:
            if not new.parent:
                check_commands(tx, new.asker, self._most_open)
            tx.wake_only()
            tx.run("insert_operation", **rows.columns(operation))

        self._store.write(work)
        return operation

    def _change(self, tx: Transaction, after: Operation, before: Operation) -> Operation:
        tx.wake_only()
        now = self._clock()
        if not tx.run("change_operation", **rows.changes(after), id=before.id, version=before.version, now=now):
            raise Conflict
        return replace(after, version=before.version + 1, changed_at=now)

    def _all(self, query: str, **parameters: object) -> list[Operation]:
        found: list[Row] = self._store.read(lambda tx: tx.all(query, **parameters))
        return [rows.read(row) for row in found]


def _get(tx: Transaction, operation_id: str) -> Operation:
    row = tx.one("operation_by_id", id=operation_id)
    if row is None:
        raise NotFound(f"No operation has the id {operation_id!r}. Old ones are deleted after a while.")
    return rows.read(row)


def _delete(tx: Transaction, operations: Iterable[Operation]) -> None:
    for operation in operations:
        tx.run("delete_operation", id=operation.id)


def _is_taken(tx: Transaction, operation: Operation, alive: Callable[[set[str]], set[str]]) -> bool:
    found = tx.all(
        "operations_ahead",
        lock_name=operation.lock,
        project=operation.asker.project,
        host=operation.host,
        id=operation.id,
    )
    others = [rows.read(row) for row in found]
    if any(other.state is OperationState.RUNNING for other in others):
        return True
    place = (operation.created_at, operation.id)
    earlier = [other for other in others if (other.created_at, other.id) < place]
    return bool(earlier) and bool(alive({other.process for other in earlier}))
