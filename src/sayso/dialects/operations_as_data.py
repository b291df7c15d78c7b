"""Operations and what they print as JSON data. How an operation itself is told to agents: operation_replies.py."""

from __future__ import annotations

from typing import Any

from sayso.clock import now_ms
from sayso.operations.operation import Operation
from sayso.records import asdict
from sayso.running.excerpt import BothStreams, StreamText
from sayso.running.folder import Status
from sayso.running.output import Found, OutputLines, Piece
from sayso.text import iso_time


def operation_data(operation: Operation, words: str) -> dict[str, Any]:
    """Everything about an operation but its output. `words` is its command as it may be shown."""
    status = operation.status or Status(reason="exit")
    return {
        "id": operation.id,
        "status": operation.state.value,
        "awaits_say_so": operation.awaits_say_so,
        "permission": operation.permission or None,
        "tool": operation.tool,
        "command": words,
        "folder": operation.cwd,
        "parent": operation.parent or None,
        "asker": asdict(operation.asker),
        "host": operation.host,
        "created_at": iso_time(operation.created_at),
        "started_at": iso_time(operation.started_at),
        "ended_at": iso_time(operation.ended_at),
        "duration_ms": operation.lasted_ms(now_ms()),
        "exit_code": status.exit_code,
        "signal": status.signal,
        "reason": status.text or None,
        "cancelled_by": operation.cancelled_by or None,
        "timeout_seconds": operation.timeout_seconds,
    }


def piece_data(operation: Operation, stream: str, piece: Piece) -> dict[str, Any]:
    """Part of what it printed."""
    return {
        "id": operation.id,
        "status": operation.state.value,
        "stream": stream,
        "offset": piece.offset,
        "next_offset": piece.next_offset,
        "total": piece.seen,
        "skipped": piece.skipped,
        "text": piece.text,
    }


def lines_data(operation: Operation, stream: str, lines: OutputLines) -> dict[str, Any]:
    """Whole lines of what it printed."""
    return piece_data(operation, stream, lines) | {"unfinished": lines.unfinished}


def both_data(operation: Operation, both: BothStreams) -> dict[str, Any]:
    """What it printed to both streams, as it came."""
    return {
        "id": operation.id,
        "status": operation.state.value,
        "parts": [_part(each) for each in both.parts],
        "unfinished": [_part(each) for each in both.unfinished],
        "next": dict(both.places),
        "total": dict(both.sizes),
    }


def _part(part: StreamText) -> dict[str, Any]:
    coloured = any(run.look for run in part.runs)
    return {
        "stream": part.stream,
        "text": part.text,
        "skipped": part.skipped,
        "runs": [{"text": run.text, "look": run.look} for run in part.runs] if coloured else [],
    }


def found_data(operation: Operation, stream: str, found: Found) -> dict[str, Any]:
    """The lines of its output that match."""
    return {
        "id": operation.id,
        "status": operation.state.value,
        "stream": stream,
        "matches": [{"offset": match.offset, "text": match.text} for match in found.matches],
        "more": found.more,
        "not_searched": found.cut,
    }
