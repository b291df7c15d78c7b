"""What an operation is: one run of a command, or of a sequence of them. Plain frozen data; the desk changes it."""

from __future__ import annotations

import os
from enum import StrEnum

from sayso.asks.model import Asker
from sayso.records import record
from sayso.running.folder import DetachedProcess, Status
from sayso.running.record import NOT_BEGUN


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


BEFORE = "before"
"""The folder, within that of an operation, of the command that runs before it."""

TO_BE_ASKED = "to be asked"


def new_id() -> str:
    """An id that no operation ever had or will have."""
    return os.urandom(12).hex()


def step_id(sequence: str, number: int) -> str:
    """The id of a step: that of its sequence and its number, from 1."""
    return f"{sequence}.{number}"


@record
class NewOperation:
    """A command that is to be run, before the desk has opened it. A sequence has no argv; its steps have."""

    id: str
    tool: str
    argv: tuple[str, ...]
    cwd: str
    asker: Asker
    lock: str | None = None
    success_exit_codes: tuple[int, ...] = (0,)
    timeout_seconds: float | None = None
    parent: str = ""
    """The sequence this is a step of."""
    background: bool = True
    """Whether its end is to be told later. A call that waits for it tells it by itself."""
    alert: str = ""
    """A regular expression: lines of the output that match are worth a word while the command runs."""
    alert_streams: tuple[str, ...] = ()
    say_so: str = ""
    """The ask by which a person is to allow it, or `TO_BE_ASKED`; empty where nobody need, or somebody did."""


@record
class Operation(NewOperation, DetachedProcess):
    """One run of a command."""

    server: str
    """The process that opened it, whose client is told of its end while that process lives."""
    created_at: int
    state: OperationState = OperationState.QUEUED
    status: Status | None = None
    cancelled_by: str = ""
    started_at: int | None = None
    delivered_at: int | None = None

    @property
    def delivered(self) -> bool:
        return self.delivered_at is not None

    @property
    def awaits_say_so(self) -> bool:
        """Whether it waits for a person to allow it, not for its turn."""
        return self.state is OperationState.QUEUED and bool(self.say_so)

    @property
    def permission(self) -> str:
        """The ask by which a person can allow it now; empty where there is none."""
        return self.say_so if self.awaits_say_so and self.say_so != TO_BE_ASKED else ""

    @property
    def stopping(self) -> bool:
        """Whether somebody wants it to end and it has not."""
        return bool(self.cancelled_by) and not self.state.ended

    @property
    def failure(self) -> Status | None:
        """How it failed, if it did."""
        return self.status if self.state is OperationState.FAILED else None

    @property
    def is_sequence(self) -> bool:
        return not self.argv

    def lasted_ms(self, now: int) -> int:
        """How long it has been running, or ran."""
        return (self.ended_at or now) - (self.started_at or self.created_at)


def not_started(why: str) -> str:
    """That a command could not be started, as the rest of a sentence about it; the same wherever that is found out."""
    return f"could not be started: {why.removeprefix('command: ')}"


def state_after(status: Status, operation: Operation) -> OperationState:
    """Where an operation stands that has ended so."""
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


def end_of(status: Status, operation: Operation, now: int) -> int:
    """When it ended: its runner knows that even if we hear of it much later. Clocks may have been set meanwhile, so
    never before it began and never in the future."""
    noted = round(status.ended_at * 1000) or now
    return min(now, max(noted, operation.started_at or operation.created_at))


def lost(orphan: Operation) -> Status:
    """The end of an operation that nobody saw."""
    if orphan.state is OperationState.QUEUED:
        text = NOT_BEGUN
    elif orphan.is_sequence:
        text = "Its server ended before the sequence did. The step that ran went on; those after it were not begun."
    else:
        text = "Its server ended before the command did, and its runner is gone without a status."
    return Status(reason="lost", text=text)
