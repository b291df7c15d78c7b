"""The one word for how a command stands. Every surface on which people look at commands uses these."""

from __future__ import annotations

from collections.abc import Mapping

from sayso.operations.operation import Operation, OperationState

STATES: Mapping[OperationState, str] = {
    OperationState.QUEUED: "queued",
    OperationState.RUNNING: "running",
    OperationState.COMPLETED: "succeeded",
    OperationState.FAILED: "failed",
    OperationState.CANCELLED: "cancelled",
    OperationState.TIMED_OUT: "timed out",
    OperationState.LOST: "lost",
}
STOPPING = "stopping"
"""It runs, and somebody wants it to end."""
AWAITS_SAY_SO = "waits for your say-so"
"""It is queued until a person allows it."""


def standing(operation: Operation) -> str:
    if operation.stopping:
        return STOPPING
    return AWAITS_SAY_SO if operation.awaits_say_so else STATES[operation.state]
