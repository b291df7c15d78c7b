"""What is told for a moment: what was done, why a key did nothing, what did not come about. `bars.py` gives it room of
its own, so that it never lies over what is to be read; of one kind there is one, the last.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from textual.timer import Timer

from sayso.records import record

SetTimer = Callable[[float, Callable[[], None]], Timer]


class NoticeKind(Enum):
    """What is done and what is about a key take each other's place: both are of the state that there is now."""

    DONE = "done"
    KEY = "key"
    """Why a key did nothing, or what to mind of what it did. It goes with the state that it is about."""
    ELSEWHERE = "elsewhere"
    """What was done to another ask than the one that is open."""
    ALERT = "alert"
    """What a person must not miss: nothing of another kind takes its place."""


_PLACES = {NoticeKind.ALERT: 0, NoticeKind.ELSEWHERE: 1, NoticeKind.DONE: 2, NoticeKind.KEY: 2}


@record
class Notice:
    kind: NoticeKind
    text: str


class Notices:
    """What is told just now."""

    def __init__(self) -> None:
        self._set_timer: SetTimer | None = None
        self._changed: Callable[[], None] = lambda: None
        self._told = dict[int, Notice]()
        """By their places, the first at the top."""
        self._timers = dict[int, Timer]()

    def begin(self, set_timer: SetTimer, changed: Callable[[], None]) -> None:
        """`changed` hears of every change."""
        self._set_timer, self._changed = set_timer, changed

    @property
    def told(self) -> list[Notice]:
        return [self._told[place] for place in sorted(self._told)]

    def tell(self, kind: NoticeKind, text: str, seconds: float) -> None:
        place, notice = _PLACES[kind], Notice(kind=kind, text=text)
        self._drop(place)
        self._told[place] = notice
        if self._set_timer:
            self._timers[place] = self._set_timer(seconds, lambda: self._expire(place, notice))
        self._changed()

    def forget(self, *kinds: NoticeKind) -> None:
        """What was told of these kinds does not hold any more."""
        gone = [place for place, notice in self._told.items() if notice.kind in kinds]
        for place in gone:
            self._drop(place)
        if gone:
            self._changed()

    def _expire(self, place: int, notice: Notice) -> None:
        if self._told.get(place) is notice:
            self._drop(place)
            self._changed()

    def _drop(self, place: int) -> None:
        self._told.pop(place, None)
        if timer := self._timers.pop(place, None):
            timer.stop()
