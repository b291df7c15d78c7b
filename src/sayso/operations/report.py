"""All there is to tell of one operation: how it stands or ended, what it printed, its steps. For agents and people."""

from __future__ import annotations

from sayso.clock import now_ms
from sayso.operations.desk import OperationDesk
from sayso.operations.operation import Operation, OperationState
from sayso.records import record
from sayso.running.capture import STREAMS
from sayso.running.excerpt import Excerpt, Excerpts


@record
class Report:
    """One operation as it is told."""

    operation: Operation
    stdout: Excerpt
    stderr: Excerpt
    steps: tuple[Report, ...] = ()
    lasted_ms: int = 0
    has_more: bool = True
    """Whether the reader can ask for more of it by its id."""


def reads_nothing(operation: Operation) -> bool:
    """Whether a report on it needs neither the store nor the disk: a command that has ended and printed nothing."""
    return not operation.is_sequence and all(_is_empty(operation, stream) for stream in STREAMS)


def report_on(operation: Operation, desk: OperationDesk, excerpts: Excerpts, limit: int) -> Report:
    """The report, with at most `limit` bytes of each stream. Of a sequence, the steps that went well are short."""
    return _report(operation, desk, excerpts, limit, has_more=operation.background or bool(operation.parent))


def _report(operation: Operation, desk: OperationDesk, excerpts: Excerpts, limit: int, *, has_more: bool) -> Report:
    steps = desk.steps(operation.id) if operation.is_sequence else []
    return Report(
        operation=operation,
        stdout=_ends(operation, excerpts, "stdout", limit),
        stderr=_ends(operation, excerpts, "stderr", limit),
        steps=tuple(_report(step, desk, excerpts, _step_limit(step, limit), has_more=has_more) for step in steps),
        lasted_ms=operation.lasted_ms(now_ms()),
        has_more=has_more,
    )


def _ends(operation: Operation, excerpts: Excerpts, stream: str, limit: int) -> Excerpt:
    """What is shown of a stream. Most commands leave one of theirs empty: then there is no need to look for it."""
    if _is_empty(operation, stream):
        return Excerpt(head="")
    return excerpts.ends(operation.folder, stream, limit)


def _is_empty(operation: Operation, stream: str) -> bool:
    status = operation.status
    return status is not None and status.reason != "lost" and not status.captured(stream).seen


def _step_limit(step: Operation, limit: int) -> int:
    return limit // 8 if step.state is OperationState.COMPLETED else limit
