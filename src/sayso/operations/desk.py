"""The desk of operations: the only place where an operation changes state."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayso.asks.model import Asker
from sayso.asks.quota import UNLIMITED, check_commands
from sayso.asks.sessions import AgentSessions, always, never, nobody
from sayso.clock import FAR_FUTURE, Clock, now_ms
from sayso.detached import DetachedDesk, DetachedQueries
from sayso.errors import AmbiguousId, NotFound
from sayso.operations import rows
from sayso.operations.operation import BEFORE, NewOperation, Operation, OperationState, end_of, lost, state_after
from sayso.permissions.execution import note_came_to_nothing, note_not_run, note_run, note_run_in_part
from sayso.records import fields, replace
from sayso.running import folder as runner_folder
from sayso.running.folder import Status
from sayso.store import Row, Store, Transaction

if TYPE_CHECKING:
    from sayso.permissions.verdict import AllowedAction

_ID_CHARACTERS = set("0123456789abcdef.")
MOST_UNDER_WAY = 1_000
"""That are listed: what is left out here could not be stopped there."""


class OperationDesk(DetachedDesk[Operation]):
    """Opens, starts, ends and delivers operations."""

    queries = DetachedQueries(
        by_id="operation_by_id", change="change_operation", open_here="open_operations", delete="delete_operation"
    )

    def __init__(self, store: Store, folders: Path, *, clock: Clock = now_ms, most_open: int = UNLIMITED) -> None:
        super().__init__(store, folders, clock=clock)
        self._most_open = most_open

    # Running

    def open(self, new: NewOperation, *, known_here: bool = False) -> Operation:
        """A new operation, queued, seen through by this process. Where this process knows already, only others hear the
        bell."""
        return self._insert(new, OperationState.QUEUED, known_here=known_here)

    def open_running(self, new: NewOperation, *, known_here: bool = False) -> Operation:
        """A new operation that need not wait for anything."""
        return self._insert(new, OperationState.RUNNING, known_here=known_here)

    def open_skipped(self, new: NewOperation, why: str) -> Operation:
        """A step that there is no need to run."""
        opened, now = self._insert(new, OperationState.RUNNING), self._clock()
        skipped = replace(opened, state=OperationState.COMPLETED, status=Status(reason="exit", text=why), ended_at=now)
        return self._store.write(lambda tx: self._change(tx, replace(skipped, delivered_at=now), opened))

    def awaits(self, operation_id: str, say_so: str) -> Operation:
        """Note by which ask a person is to allow it; empty: somebody has."""

        def edit(operation: Operation) -> Operation:
            open_yet = operation.state is OperationState.QUEUED and operation.say_so != say_so
            return replace(operation, say_so=say_so) if open_yet else operation

        return self._edit(operation_id, edit)

    def begin(self, operation_id: str) -> Operation | None:
        """Set it running; None while another holds its lock, or a living one was in the queue before it."""
        self.end_the_dead()
        bell = self._store.bell()

        def work(tx: Transaction) -> Operation | None:
            operation, now = self._get(tx, operation_id), self._clock()
            if operation.state is not OperationState.QUEUED:
                return operation
            if operation.lock and _is_taken(tx, operation, bell.alive):
                return None
            return self._change(tx, replace(operation, state=OperationState.RUNNING, started_at=now), operation)

        return self._store.write(work)

    def note_run(self, operation: Operation, allowed: AllowedAction) -> None:
        """Log that it is about to be executed, and under which permission."""

        def work(tx: Transaction) -> None:
            tx.run("note_allowed_by", id=operation.id, ask_id=allowed.ask)
            note_run(tx, allowed, operation.id, operation.asker, self._clock())

        self._store.write(work)

    def note_not_run(self, operation: Operation, allowed: AllowedAction, why: str) -> None:
        """Log that it was allowed and yet will not be executed."""
        self._store.write(
            lambda tx: note_came_to_nothing(tx, allowed, operation.id, why, operation.asker, self._clock())
        )

    def end(self, operation_id: str, status: Status, *, known_here: bool = False) -> Operation:
        """Take over how it ended. What has ended stays as it is."""

        def work(tx: Transaction) -> Operation:
            if known_here:
                tx.wake_others()
            operation, now = self._get(tx, operation_id), self._clock()
            if operation.state.ended:
                return operation
            if status.never_ran and not runner_folder.has_begun(operation.folder):
                note = note_run_in_part if runner_folder.has_begun(operation.folder / BEFORE) else note_not_run
                note(tx, operation_id, status.text, now)
            ended_at = end_of(status, operation, now)
            ended = replace(operation, state=state_after(status, operation), status=status, ended_at=ended_at)
            return self._change(tx, ended if operation.background else replace(ended, delivered_at=now), operation)

        return self._store.write(work)

    def want_cancelled(self, operation_id: str, by: str) -> Operation:
        """Note that somebody wants it to end, and tell its runner if it is on this machine. A queued one ends now."""

        def edit(operation: Operation) -> Operation:
            if operation.cancelled_by:
                return operation
            wanted = replace(operation, cancelled_by=by)
            if operation.state is OperationState.QUEUED:
                never_ran = Status(reason="cancelled", text=f"Cancelled before it began, by {by}.")
                wanted = replace(wanted, state=OperationState.CANCELLED, status=never_ran, ended_at=self._clock())
                wanted = wanted if wanted.background else replace(wanted, delivered_at=wanted.ended_at)
            return wanted

        return self._cancel(self._edit(operation_id, edit))

    def delivered(self, operation_id: str) -> Operation:
        """The agent has been told how it ended."""

        def work(tx: Transaction) -> Operation:
            operation = self._get(tx, operation_id)
            if not operation.state.ended or operation.delivered:
                return operation
            return self._change(tx, replace(operation, delivered_at=self._clock()), operation)

        return self._store.write(work)

    # What the dead left

    def adopt_orphans(self) -> list[Operation]:
        """Take over what dead processes saw through: what has ended gets its status, what runs is ours now."""
        return self._adopt(self.end_the_dead())

    def end_the_dead(self) -> list[Operation]:
        """End what nobody sees through and whose runner has ended, with what that left behind. What is left: orphans
        whose command still runs."""
        running = []
        for orphan in self._orphans():
            if runner_folder.is_running(orphan.folder):
                running.append(orphan)
            else:
                self.end(orphan.id, runner_folder.read_status(orphan.folder) or self._lost(orphan))
        return running

    def _lost(self, orphan: Operation) -> Status:
        if orphan.state is OperationState.QUEUED or orphan.is_sequence:
            return lost(orphan)
        return replace(lost(orphan), survivors=runner_folder.end_leftovers(orphan.folder))

    # Looking

    def find(self, short_id: str) -> Operation:
        """The operation whose id begins so. A sequence is meant where its steps begin so too."""
        prefix = short_id.lower()
        if not prefix or set(prefix) - _ID_CHARACTERS:
            raise NotFound(f"{short_id!r} is not an id of an operation. They are made of 0-9 and a-f.")
        found = self._store.all("operations_by_prefix", prefix=prefix, beyond=prefix + "g")
        ids = [row["id"] for row in found]
        roots = [each for each in ids if each == prefix or "." not in each or "." in prefix]
        if not roots:
            raise NotFound(f"No operation has the id {short_id!r}. `sayso ops list` shows them.")
        if len(roots) > 1 and prefix not in roots:
            raise AmbiguousId(short_id, roots)
        return self.get(prefix if prefix in roots else roots[0])

    def steps(self, sequence: str) -> list[Operation]:
        """The steps of a sequence that have been opened, in order."""
        return self._all("steps_of", parent=sequence)

    def recent(
        self,
        *,
        project: str | None = None,
        person: str | None = None,
        before: Operation | None = None,
        most: int = 100,
    ) -> list[Operation]:
        """A page of operations, newest first, without steps, unless they go on after their sequence: of a project, or
        for a person."""
        return self._recent(project=project, person=person, before=before, most=most, **self._of(None))

    def of_agent(self, asker: Asker, most: int) -> list[Operation]:
        """What agents of this kind have run in the background of this project: what is under way, however long it has
        been, then what has ended since then, newest first; without steps, as above."""
        about = {"project": asker.project, "person": None, "most": most, **self._of(asker)}
        found = {each.id: each for each in self._all("operations_under_way", **about)}
        return [*found.values(), *(each for each in self._recent(**about) if each.id not in found)]

    def _recent(self, *, before: Operation | None = None, **about: object) -> list[Operation]:
        return self._all(
            "recent_operations",
            before_time=before.created_at if before else FAR_FUTURE,
            before_id=before.id if before else "",
            **about,
        )

    def under_way(
        self, *, project: str | None = None, person: str | None = None, most: int = MOST_UNDER_WAY
    ) -> list[Operation]:
        """What is queued or running on any machine, newest first, without steps, unless they go on after their
        sequence: of a project, or for a person."""
        return self._all("operations_under_way", project=project, person=person, most=most, **self._of(None))

    def how_many_under_way(self, *, project: str | None = None, person: str | None = None) -> int:
        """How many of these there are, however many that is."""
        row = self._store.one("operations_under_way_size", project=project, person=person, **self._of(None))
        return int(row["size"]) if row else 0

    def ended(
        self,
        *,
        project: str | None = None,
        person: str | None = None,
        before: Operation | None = None,
        most: int = 100,
    ) -> list[Operation]:
        """A page of what has ended, newest end first, without steps: of a project, or for a person."""
        return self._all(
            "operations_ended",
            project=project,
            person=person,
            before_time=(before.ended_at if before else None) or FAR_FUTURE,
            before_id=before.id if before else "",
            most=most,
        )

    def ended_of(self, asker: Asker, since: int, *, person: str | None = None, most: int = 100) -> list[Operation]:
        """What has ended since then of what was run from the terminal, by the run or with the token of an asker."""
        return self._all("operations_of_agent", put_by=asker.source, since=since, person=person, most=most)

    def wanted_cancelled(self) -> list[Operation]:
        """What this process sees through and somebody wants to end."""
        return self._all("cancelled_operations", process=self._store.bell().process)

    def undelivered(self, asker: Asker, most: int = 20) -> list[Operation]:
        """What has ended and this session was not told of, oldest first; not what another living one will be told."""
        of_agent_here = {**asker.identity, "host": self._host}
        found = self._all("undelivered_operations", most=sys.maxsize, **of_agent_here)
        return self.belonging(found, asker)[:most]

    def belonging(self, operations: Iterable[Operation], asker: Asker) -> list[Operation]:
        """Those of this session, or of one that is gone."""
        bell = self._store.bell()
        return AgentSessions(bell.process, bell.alive, always, nobody, never).belonging(operations, asker)

    def collect(self, age_ms: int, total_bytes: int, ending: threading.Event) -> int:
        """Delete what ended long ago, and the oldest of what is too much on disk. How many went."""
        old = self._collect(ending, "old_operations", ended_before=self._clock() - age_ms)
        return old + self._collect(ending, "crowded_operations", total_bytes=total_bytes)

    # Within a transaction

    def _insert(self, new: NewOperation, state: OperationState, *, known_here: bool = False) -> Operation:
        process, now = self._store.bell().process, self._clock()
        operation = Operation(
            **{name: getattr(new, name) for name in fields(NewOperation)},
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
            if known_here:
                tx.wake_others()
            tx.run("insert_operation", **rows.columns(operation))

        self._store.write(work)
        return operation

    def _of(self, asker: Asker | None) -> dict[str, Any]:
        """Whose commands a query is to find: those of agents of this kind on this machine, or everybody's."""
        return {"agent": asker and asker.agent, "client": asker and asker.client, "host": self._host}

    def _read(self, tx: Transaction, row: Row) -> Operation:
        operation = rows.read(row)
        own = self.folder_of(operation.id)
        # The state may have been moved, or be a copy: what it has itself is its own.
        if operation.folder != own and operation.host == self._host and own.is_dir():
            return replace(operation, folder=own)
        return operation

    def _columns(self, process: Operation) -> dict[str, Any]:
        return rows.changes(process)

    def _not_found(self, process_id: str) -> NotFound:
        return NotFound(f"No operation has the id {process_id!r}. Old ones are deleted after a while.")


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
