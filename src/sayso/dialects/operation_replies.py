"""How operations are told to an agent: started, ended, listed, read; each as text and as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sayso.clock import now_ms
from sayso.dialects.dialect import ToolReply
from sayso.dialects.operations_as_data import found_data, piece_data
from sayso.errors import InvalidInput
from sayso.operations.operation import Operation, OperationState, not_started
from sayso.operations.report import Report
from sayso.running.excerpt import Excerpt
from sayso.running.folder import Status
from sayso.running.output import Found, Piece
from sayso.text import iso_time
from sayso.toolfiles.model import Fault

MOST_FAULTS = 20


def refused(error: InvalidInput) -> ToolReply:
    """What was wrong with a call. Nothing was run."""
    problems = [{"path": problem.path, "text": problem.text} for problem in error.problems]
    text = f"Nothing was run. {error}"
    return ToolReply(text=text, data={"status": "invalid", "problems": problems, "message": text}, is_error=True)


def failed(what: object) -> ToolReply:
    """Why nothing was done, for whatever other reason."""
    return ToolReply(text=str(what), data={"status": "failed", "message": str(what)}, is_error=True)


_IF_YOU_LEAVE = (
    "Its result comes with the next reply of any tool here after it has ended. If you finish first, your client may "
    "stop it: call await before your last words if its result matters."
)


def started(operation: Operation, hint: str, waits_for: str = "") -> ToolReply:
    """The first reply of a background command."""
    if waits_for:
        begun = f"{operation.tool} is operation {operation.id}. It is queued and begins after {waits_for}."
    else:
        begun = f"Started {operation.tool} as operation {operation.id}."
    text = f"{begun} {hint} {_IF_YOU_LEAVE}"
    status = "queued" if waits_for else "started"
    return ToolReply(text=text, data={"id": operation.id, "status": status, "tool": operation.tool, "message": text})


def result(report: Report) -> ToolReply:
    """How an operation ended, or how it stands, with what it printed."""
    operation = report.operation
    text = f"{headline(operation)}\n\n{_printed(report)}".rstrip()
    is_error = operation.state.ended and operation.state is not OperationState.COMPLETED
    return ToolReply(text=text, data={**data(report), "message": headline(operation)}, is_error=is_error)


def direct_result(report: Report) -> ToolReply:
    """The result of a call that waited for it: the command's output, and no word about operations."""
    operation = report.operation
    told = data(report)
    for name in ("id", "started_at", "ended_at", "steps"):
        told.pop(name, None)
    if operation.state is not OperationState.COMPLETED:
        text = f"{direct_headline(operation)}\n\n{_printed(report)}".rstrip()
        return ToolReply(text=text, data={**told, "message": direct_headline(operation)}, is_error=True)
    quiet = not report.stderr.head and not report.steps
    only = _stream(report, report.stdout, "stdout") if quiet else _printed(report)
    return ToolReply(text=only or f"{operation.tool} succeeded and printed nothing.", data=told)


def news(reports: Sequence[Report], alerts: Sequence[tuple[Operation, Sequence[str]]]) -> tuple[str, dict[str, Any]]:
    """What has happened since the last contact, to be put in front of a reply."""
    told = [f"{headline(report.operation)}\n{_printed(report)}".rstrip() for report in reports]
    told += [
        f"{operation.tool} (operation {operation.id}) reports:\n" + "\n".join(lines) for operation, lines in alerts
    ]
    facts: dict[str, Any] = {}
    if reports:
        facts["finished"] = [data(report) for report in reports]
    if alerts:
        facts["alerts"] = [{"id": operation.id, "lines": list(lines)} for operation, lines in alerts]
    return "\n\n".join(["Since your last call:", *told]) if told else "", facts


def listed(operations: Sequence[Operation], faults: Sequence[Fault]) -> ToolReply:
    """All operations of an agent, and the tool files that are not served."""
    lines = [_line(operation) for operation in operations] or ["You have no operations."]
    told: dict[str, Any] = {"operations": [_facts(operation) for operation in operations]}
    if faults:
        lines += ["", left_out(faults)]
        told["left_out"] = [str(fault) for fault in faults[:MOST_FAULTS]]
    text = "\n".join(lines)
    return ToolReply(text=text, data={**told, "message": text})


def still_running(operations: Sequence[Operation], why: str) -> str:
    names = ", ".join(f"{operation.tool} ({operation.id})" for operation in operations)
    return (
        f"Still under way after {why}: {names}. Go on without them if you can; their results come with a later reply."
    )


def left_out(faults: Sequence[Fault]) -> str:
    """Which tool files are not served, and why."""
    count = len(dict.fromkeys(fault.file for fault in faults))
    files = "1 tool file was" if count == 1 else f"{count} tool files were"
    listed = "\n".join(f"- {fault}" for fault in faults[:MOST_FAULTS])
    more = f"\n- and {len(faults) - MOST_FAULTS} more" if len(faults) > MOST_FAULTS else ""
    return f"{files} left out because of faults; `sayso tools validate` shows them all:\n{listed}{more}"


def cancelling(operation: Operation) -> ToolReply:
    if operation.state.ended and not operation.cancelled_by:
        text = f"{headline(operation)} There was nothing to cancel."
    elif operation.state.ended:
        text = headline(operation)
    else:
        text = f"Operation {operation.id} ({operation.tool}) is being stopped. What it has printed is kept."
    return ToolReply(text=text, data={**_facts(operation), "message": text})


def piece(operation: Operation, stream: str, part: Piece) -> ToolReply:
    """A range of what an operation printed."""
    skipped = f" {part.skipped:,} bytes before it were not kept." if part.skipped else ""
    more = f" Read on with offset {part.next_offset}." if part.next_offset < part.seen else ""
    where = f"bytes {part.offset:,} to {part.next_offset:,} of {part.seen:,}" if part.seen else "nothing so far"
    running = "" if operation.state.ended else f" It is {operation.state}."
    return ToolReply(
        text=f"{stream} of {operation.id}: {where}.{skipped}{more}{running}\n\n{part.text}".rstrip(),
        data=piece_data(operation, stream, part),
    )


def matches(operation: Operation, stream: str, pattern: str, found: Found) -> ToolReply:
    """The lines that match."""
    lines = [f"{match.offset}: {match.text}" for match in found.matches]
    count = "1 line matches" if len(lines) == 1 else f"{len(lines)} lines match"
    more = " There are more: give a larger limit." if found.more else ""
    cut = f" {found.cut:,} bytes were not kept and could not be searched." if found.cut else ""
    return ToolReply(
        text="\n".join([f"{stream} of {operation.id}: {count} {pattern!r}.{more}{cut}", "", *lines]),
        data=found_data(operation, stream, found),
    )


def headline(operation: Operation) -> str:
    """One line on how an operation stands or ended."""
    return f"{operation.tool} (operation {operation.id}) {how(operation)}"


def data(report: Report) -> dict[str, Any]:
    """Everything about an operation, as data."""
    told = _facts(report.operation) | {"duration_ms": report.lasted_ms}
    if report.steps:
        told["steps"] = [data(step) for step in report.steps]
        return told
    for name, excerpt in (("stdout", report.stdout), ("stderr", report.stderr)):
        told |= {name: _joined(report, excerpt, name), f"{name}_bytes": excerpt.seen}
    return told


def direct_headline(operation: Operation) -> str:
    """The same for whoever waited for it, and needs no id."""
    return f"{operation.tool} {how(operation)}"


def how(operation: Operation) -> str:
    """How it stands or ended, as the rest of a sentence about it."""
    seconds = f"{operation.lasted_ms(now_ms()) / 1000:.1f} s"
    status = operation.status or Status(reason="exit")
    told = f" {status.text}" if status.text else ""
    match operation.state:
        case OperationState.QUEUED:
            return "waits for a person's say-so." if operation.awaits_say_so else "is queued."
        case OperationState.RUNNING:
            stopping = f" It is being stopped by {operation.cancelled_by}." if operation.stopping else ""
            return f"has been running for {seconds}.{stopping}"
        case OperationState.COMPLETED:
            return f"succeeded after {seconds}.{told}"
        case OperationState.CANCELLED:
            by = f" by {operation.cancelled_by}" if operation.cancelled_by else ""
            return f"was cancelled{by} after {seconds}.{told}"
        case OperationState.TIMED_OUT:
            limit = f" of {operation.timeout_seconds:g} s" if operation.timeout_seconds else ""
            return f"timed out: it was stopped when its time limit{limit} was over.{told}"
        case OperationState.LOST:
            return f"was lost.{told}"
    if status.reason == "spawn_failed":
        return not_started(status.text)
    name = f" ({status.signal_name})" if status.signal_name else ""
    ended = f" with {status.ended_with}{name}" if status.ended_with else ""
    return f"failed{ended} after {seconds}.{told}"


def _facts(operation: Operation) -> dict[str, Any]:
    status = operation.status
    facts: dict[str, Any] = {
        "id": operation.id,
        "status": str(operation.state),
        "tool": operation.tool,
        "exit_code": status.exit_code if status else None,
        "started_at": iso_time(operation.started_at),
        "ended_at": iso_time(operation.ended_at),
    }
    if status and status.signal is not None:
        facts["signal"] = status.signal
    if status and status.text:
        facts["reason"] = status.text
    if operation.awaits_say_so:
        facts["awaits_say_so"] = True
    if operation.cancelled_by:
        facts["cancelled_by"] = operation.cancelled_by
    if status and status.survivors:
        facts["survivors"] = list(status.survivors)
    return facts


def _line(operation: Operation) -> str:
    return f"- {operation.id} {operation.tool} {how(operation)}"


def _printed(report: Report) -> str:
    """What it printed, stream by stream or step by step."""
    parts = [f"{direct_headline(step.operation)}\n{_printed(step)}".rstrip() for step in report.steps]
    for name, excerpt in (("stdout", report.stdout), ("stderr", report.stderr)):
        if excerpt.head or excerpt.left_out:
            parts.append(f"{name}:\n{_stream(report, excerpt, name)}")
    return "\n\n".join(parts)


def _stream(report: Report, excerpt: Excerpt, name: str) -> str:
    return _joined(report, excerpt, name).rstrip("\n")


def _joined(report: Report, excerpt: Excerpt, name: str) -> str:
    if not excerpt.left_out:
        return excerpt.head
    left_out = f"{excerpt.left_out:,} of {excerpt.seen:,} bytes left out{_lost(report, name)}"
    gap = f"[... {left_out}. {_rest(report, excerpt, name)} ...]"
    return f"{excerpt.head.rstrip()}\n{gap}\n{excerpt.tail.lstrip()}"


def _lost(report: Report, name: str) -> str:
    status = report.operation.status
    cut = status.captured(name).cut if status else 0
    return f", {cut:,} of them not kept" if cut else ""


def _rest(report: Report, excerpt: Excerpt, name: str) -> str:
    if not report.has_more:
        return "Have the command print less to see them."
    return f'Call output with id "{report.operation.id}", stream "{name}", offset {excerpt.resume} for them.'
