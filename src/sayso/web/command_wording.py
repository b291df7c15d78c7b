"""How a command that an agent runs is told on a page: where it stands, how it ended, who runs it. Plain text only."""

from __future__ import annotations

from sayso.operations.operation import Operation, OperationState
from sayso.text import one_line
from sayso.web.wording import Standing

_STANDINGS = {
    OperationState.QUEUED: Standing(word="Queued", tone="quiet"),
    OperationState.RUNNING: Standing(word="Running", tone="waiting"),
    OperationState.COMPLETED: Standing(word="Succeeded", tone="done"),
    OperationState.FAILED: Standing(word="Failed", tone="refused"),
    OperationState.CANCELLED: Standing(word="Stopped", tone="quiet"),
    OperationState.TIMED_OUT: Standing(word="Timed out", tone="late"),
    OperationState.LOST: Standing(word="Lost", tone="refused"),
}


def standing(operation: Operation) -> Standing:
    if operation.stopping:
        return Standing(word="Stopping", tone="late")
    if operation.awaits_say_so:
        return Standing(word="Waits for your say-so", tone="late")
    return _STANDINGS[operation.state]


def ending(operation: Operation) -> str:
    """What ended it, where that is worth a word: an exit code, a signal."""
    if failure := operation.failure:
        return f"signal {failure.signal_name}" if failure.signal_name else failure.ended_with
    return ""


def whereabouts(operation: Operation) -> list[tuple[str, str]]:
    """Everything that is known of where it runs and for whom."""
    asker = operation.asker
    known = {
        "Tool": operation.tool,
        "Folder": operation.cwd,
        "Agent": " ".join(filter(None, (asker.client, asker.version))),
        "Signed in as": asker.agent,
        "Project": asker.project,
        "Machine": operation.host,
        "Lock": operation.lock or "",
        "Time limit": f"{operation.timeout_seconds:g} seconds" if operation.timeout_seconds else "",
        "Stopped by": operation.cancelled_by,
        "Operation": operation.id,
    }
    return [(name, one_line(value, 300)) for name, value in known.items() if value]
