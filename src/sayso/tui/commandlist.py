"""The list of commands that agents run and ran, and how each is told: what, from where, how it stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.content import Content

from sayso.operations.operation import Operation, OperationState
from sayso.text import lasting, one_line
from sayso.tui.entries import Entries
from sayso.tui.shared import Shared
from sayso.tui.wording import NAME_WIDTH

Words = Callable[[Operation], str]


class OperationList(Entries[Operation]):
    """What runs first, then what ended; newest first."""

    def __init__(self, shared: Shared, words: Words) -> None:
        super().__init__(shared, id="asks")
        self._words = words

    def since(self, item: Operation) -> int:
        return item.ended_at or item.created_at

    def headline(self, item: Operation) -> Content:
        told = one_line(self._words(item), 300) or one_line(item.tool, 100)
        return Content.styled(told, "" if item.state.ended else "bold")

    def origin(self, item: Operation) -> Sequence[str]:
        wording = self._shared.wording
        return [
            wording.project(item),
            wording.client(item),
            one_line(item.tool, NAME_WIDTH),
            one_line(item.host, NAME_WIDTH),
        ]

    def marks(self, item: Operation) -> Sequence[str]:
        return [standing(self._shared, item)]

    def standing_lasts(self, item: Operation) -> int | None:
        return standing_lasts(self._shared, item)


def standing(shared: Shared, operation: Operation) -> str:
    """How it stands or ended, and how long it takes or took."""
    texts = shared.texts
    state = texts.state_stopping if operation.stopping else str(getattr(texts, f"state_{operation.state.value}"))
    if operation.state is OperationState.QUEUED:
        return texts.awaits_say_so if operation.awaits_say_so else state
    return " · ".join(filter(None, (state, _ending(shared, operation), lasting(_lasted(shared, operation)))))


def standing_lasts(shared: Shared, operation: Operation) -> int | None:
    """Milliseconds until `standing` reads differently by itself: what runs is told by the second."""
    if operation.state.ended or operation.state is OperationState.QUEUED:
        return None
    return 1000 - max(operation.lasted_ms(shared.wording.clock()), 0) % 1000


def _lasted(shared: Shared, operation: Operation) -> int:
    lasted = operation.lasted_ms(shared.wording.clock())
    # What runs is told by the second: tenths would only flicker.
    return lasted if operation.state.ended else max(lasted, 0) // 1000 * 1000


def _ending(shared: Shared, operation: Operation) -> str:
    failure = operation.failure
    if failure is None or not failure.ended_with:
        return ""
    if failure.signal is not None:
        return shared.texts.ended_by_signal.format(signal=failure.signal_name or failure.signal)
    return shared.texts.exit_code.format(code=failure.exit_code)
