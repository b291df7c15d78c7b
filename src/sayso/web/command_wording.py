"""How a command that an agent runs is told on a page: where it stands, how it ended, who runs it. Plain text only."""

from __future__ import annotations

from sayso.operations import words
from sayso.operations.operation import Operation, OperationState
from sayso.text import one_line
from sayso.web.wording import Standing

_TONES = {
    words.AWAITS_SAY_SO: "late",
    words.STOPPING: "late",
    words.STATES[OperationState.QUEUED]: "quiet",
    words.STATES[OperationState.RUNNING]: "waiting",
    words.STATES[OperationState.COMPLETED]: "done",
    words.STATES[OperationState.FAILED]: "refused",
    words.STATES[OperationState.CANCELLED]: "quiet",
    words.STATES[OperationState.TIMED_OUT]: "late",
    words.STATES[OperationState.LOST]: "refused",
}


def standing(operation: Operation) -> Standing:
    word = words.standing(operation)
    return Standing(word=word.capitalize(), tone=_TONES[word])


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
        "Cancelled by": operation.cancelled_by,
        "Operation": operation.id,
    }
    return [(name, one_line(value, 300)) for name, value in known.items() if value]
