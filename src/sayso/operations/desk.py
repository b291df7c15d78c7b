"""The desk of operations: the only place where an operation changes state. Each change is one compare-and-set.

A runner does its work without us and leaves its status in the operation's folder. So an operation outlives the
server that began it: whoever looks next takes the status from the folder.
"""

from __future__ import annotations

import json
import shutil
import socket
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from secrets import token_hex

from sayso.asks.model import Asker
from sayso.errors import AmbiguousId, NotFound
from sayso.operations import folder as runner_folder
from sayso.operations.folder import Status, parse_status
from sayso.store import Conflict, Row, Store, Transaction

_FAR_FUTURE = 2**62


class OperationState(StrEnum):
    """Where an operation stands."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed_out"
    LOST = "lost"

    @property
    def ended(self) -> bool:
        return self not in (OperationState.QUEUED, OperationState.RUNNING)


@dataclass(frozen=True, kw_only=True)
class NewOperation:
    """A command that is to be run, before the desk has opened it."""

    tool: str
    argv: tuple[str, ...]
    cwd: str
    asker: Asker
    lock: str | None = None
    success_exit_codes: tuple[int, ...] = (0,)
    timeout_seconds: float | None = None
    parent: str = ""
    """The sequence this is a step of."""


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One run of a command. Times are milliseconds since 1970; the folder holds what it printed."""

    id: str
    tool: str
    argv: tuple[str, ...]
    cwd: str
    asker: Asker
    folder: Path
    host: str
    process: str
    created_at: int
    changed_at: int
    state: OperationState = OperationState.QUEUED
    version: int = 1
    lock: str | None = None
    success_exit_codes: tuple[int, ...] = (0,)
    timeout_seconds: float | None = None
    parent: str = ""
    status: Status | None = None
    cancelled_by: str = ""
    started_at: int | None = None
    ended_at: int | None = None
    delivered_at: int | None = None

    @property
    def delivered(self) -> bool:
        return self.delivered_at is not None


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How long ended operations are kept, and how many bytes of their output."""

    age_ms: int
    total_bytes: int


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class OperationDesk:
    """Opens, starts, ends and delivers operations. `folders` is where each gets a folder of its own."""

    def __init__(self, store: Store, folders: Path, *, clock: Callable[[], int] = now_ms) -> None:
        self._store, self._folders, self._clock = store, folders, clock
        self._host = socket.gethostname()

    # Running

    def open(self, new: NewOperation) -> Operation:
        """A new operation, queued, held by this process. Its id is unique for ever."""
        process, now = self._store.bell().process, self._clock()
        operation_id = token_hex(12)
        operation = Operation(
            id=operation_id,
            tool=new.tool,
            argv=new.argv,
            cwd=new.cwd,
            asker=new.asker,
            folder=self._folders / operation_id,
            host=self._host,
            process=process,
            lock=new.lock,
            success_exit_codes=new.success_exit_codes,
            timeout_seconds=new.timeout_seconds,
            parent=new.parent,
            created_at=now,
            changed_at=now,
        )
        self._store.write(lambda tx: _insert(tx, operation))
        return operation

    def begin(self, operation_id: str) -> Operation | None:
        """Set it running; None while another holds its lock, or a living one was in the queue before it."""
        bell = self._store.bell()

        def work(tx: Transaction) -> Operation | None:
            operation, now = _get(tx, operation_id), self._clock()
            if operation.state is not OperationState.QUEUED:
                return operation
            if operation.lock and self._is_taken(tx, operation, bell.alive):
                return None
            return self._change(tx, replace(operation, state=OperationState.RUNNING, started_at=now), operation)

        return self._store.write(work)

    def end(self, operation_id: str, status: Status) -> Operation:
        """Take over how it ended. What has ended stays as it is."""

        def work(tx: Transaction) -> Operation:
            operation = _get(tx, operation_id)
            if operation.state.ended:
                return operation
            ended = replace(operation, state=_state_of(status, operation), status=status, ended_at=self._clock())
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
                ended = Status(reason="cancelled", text=f"Cancelled by {by} before it began.")
                wanted = replace(wanted, state=OperationState.CANCELLED, status=ended, ended_at=self._clock())
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

    def recover(self) -> list[Operation]:
        """Take over what the dead left: ended ones get their status, running ones are ours now and are returned."""
        rows = self._store.read(lambda tx: tx.all("open_operations", host=self._host))
        operations = [_operation(row) for row in rows]
        living = self._store.bell().alive({operation.process for operation in operations}) if operations else set()
        orphans = [operation for operation in operations if operation.process not in living]
        return [taken for orphan in orphans if (taken := self._take_over(orphan))]

    def _take_over(self, orphan: Operation) -> Operation | None:
        if runner_folder.is_running(orphan.folder):
            return self._adopt(orphan)
        status = runner_folder.read_status(orphan.folder) or Status(
            reason="lost", text="Its server ended before the command did, and its runner is gone."
        )
        self.end(orphan.id, status)
        return None

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
        """The operation whose id begins so."""
        prefix = short_id.lower()
        if not prefix or set(prefix) - set("0123456789abcdef"):
            raise NotFound(f"{short_id!r} is not an id of an operation. They are made of 0-9 and a-f.")
        matches = self._store.read(lambda tx: tx.all("operations_by_prefix", prefix=prefix, beyond=prefix + "g"))
        if len(matches) > 1:
            raise AmbiguousId(short_id, [row["id"] for row in matches])
        if not matches:
            raise NotFound(f"No operation has the id {short_id!r}. `sayso ops list` shows them.")
        return self.get(matches[0]["id"])

    def recent(
        self,
        *,
        project: str | None = None,
        person: str | None = None,
        asker: Asker | None = None,
        before: Operation | None = None,
        most: int = 100,
    ) -> list[Operation]:
        """A page of operations, newest first: of a project, for a person, or of one asker."""
        rows = self._store.read(
            lambda tx: tx.all(
                "recent_operations",
                project=asker.project if asker else project,
                person=person,
                agent=asker.agent if asker else None,
                client=asker.client if asker else None,
                before_time=before.created_at if before else _FAR_FUTURE,
                before_id=before.id if before else "",
                most=most,
            )
        )
        return [_operation(row) for row in rows]

    def undelivered(self, asker: Asker, most: int = 20) -> list[Operation]:
        """What has ended and this asker was not told of, oldest first."""
        who = {"agent": asker.agent, "client": asker.client, "project": asker.project}
        rows = self._store.read(lambda tx: tx.all("undelivered_operations", most=most, **who))
        return [_operation(row) for row in rows]

    # Tidying

    def collect(self, limits: Limits) -> int:
        """Delete what ended long ago, and the oldest of what is too much on disk. How many went."""
        before = self._clock() - limits.age_ms
        rows = self._store.read(
            lambda tx: tx.all("old_operations", ended_before=before, host=self._host, most=_FAR_FUTURE)
        )
        old = {row["id"]: _operation(row) for row in rows}
        kept_bytes = 0
        for row in self._store.read(lambda tx: tx.all("ended_operations", host=self._host)):
            operation = _operation(row)
            kept_bytes += _size(operation.folder)
            if kept_bytes > limits.total_bytes:
                old[operation.id] = operation
        for operation in old.values():
            shutil.rmtree(operation.folder, ignore_errors=True)
            self._store.write(partial(_delete, operation.id))
        return len(old)

    # Within a transaction

    def _is_taken(self, tx: Transaction, operation: Operation, alive: Callable[[set[str]], set[str]]) -> bool:
        rows = tx.all(
            "operations_ahead",
            lock_name=operation.lock,
            project=operation.asker.project,
            host=operation.host,
            id=operation.id,
        )
        others = [_operation(row) for row in rows]
        if any(other.state is OperationState.RUNNING for other in others):
            return True
        place = (operation.created_at, operation.id)
        earlier = [other for other in others if (other.created_at, other.id) < place]
        return bool(earlier) and bool(alive({other.process for other in earlier}))

    def _change(self, tx: Transaction, after: Operation, before: Operation) -> Operation:
        now = self._clock()
        changed = tx.run(
            "change_operation",
            id=before.id,
            version=before.version,
            state=after.state,
            process=after.process,
            result=json.dumps(asdict(after.status)) if after.status else None,
            cancelled_by=after.cancelled_by or None,
            now=now,
            started_at=after.started_at,
            ended_at=after.ended_at,
            delivered_at=after.delivered_at,
        )
        if not changed:
            raise Conflict
        return replace(after, version=before.version + 1, changed_at=now)


def _state_of(status: Status, operation: Operation) -> OperationState:
    match status.reason:
        case "exit" if status.exit_code in operation.success_exit_codes and status.signal is None:
            return OperationState.COMPLETED
        case "cancelled":
            return OperationState.CANCELLED
        case "timed_out":
            return OperationState.TIMED_OUT
        case "lost":
            return OperationState.LOST
    return OperationState.FAILED


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("*") if file.is_file())


# Rows


def _insert(tx: Transaction, operation: Operation) -> None:
    body = {
        "argv": operation.argv,
        "cwd": operation.cwd,
        "asker": asdict(operation.asker),
        "folder": str(operation.folder),
        "success_exit_codes": operation.success_exit_codes,
        "timeout_seconds": operation.timeout_seconds,
        "parent": operation.parent,
    }
    tx.run(
        "insert_operation",
        id=operation.id,
        tool=operation.tool,
        agent=operation.asker.agent,
        client=operation.asker.client,
        project=operation.asker.project,
        owner=operation.asker.owner,
        host=operation.host,
        process=operation.process,
        lock_name=operation.lock,
        body=json.dumps(body, ensure_ascii=False),
        now=operation.created_at,
    )


def _delete(operation_id: str, tx: Transaction) -> None:
    tx.run("delete_operation", id=operation_id)


def _get(tx: Transaction, operation_id: str) -> Operation:
    row = tx.one("operation_by_id", id=operation_id)
    if row is None:
        raise NotFound(f"No operation has the id {operation_id!r}. Old ones are deleted after a while.")
    return _operation(row)


def _operation(row: Row) -> Operation:
    body = json.loads(row["body"])
    return Operation(
        id=row["id"],
        tool=row["tool"],
        argv=tuple(body["argv"]),
        cwd=body["cwd"],
        asker=Asker(**body["asker"]),
        folder=Path(body["folder"]),
        host=row["host"],
        process=row["process"],
        state=OperationState(row["state"]),
        version=row["version"],
        lock=row["lock_name"],
        success_exit_codes=tuple(body["success_exit_codes"]),
        timeout_seconds=body["timeout_seconds"],
        parent=body["parent"],
        status=parse_status(row["result"].encode()) if row["result"] else None,
        cancelled_by=row["cancelled_by"] or "",
        created_at=row["created_at"],
        changed_at=row["changed_at"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        delivered_at=row["delivered_at"],
    )
