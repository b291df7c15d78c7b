"""Wakes a widget at the moment when what it says of time reads differently, and never before."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from textual.timer import Timer
from textual.widget import Widget

from sayso.clock import Clock

_SHORTEST = 50
"""Milliseconds between two wakings at least."""


class Ticker:
    """One timer, set for the next change only. While nothing that changes is seen there is none."""

    def __init__(self, widget: Widget, clock: Clock, tick: Callable[[], None]) -> None:
        self._widget, self._clock, self._tick = widget, clock, tick
        self._timer: Timer | None = None
        self._due = 0

    def keep(self, spans: Iterable[int | None]) -> None:
        """Call `tick` when the shortest of these spans, in milliseconds, is over; unless it is called before anyway."""
        left = min((span for span in spans if span is not None), default=None)
        due = self._clock() + max(left or 0, _SHORTEST)
        if left is None or (self._timer and self._due <= due):
            return
        if self._timer:
            self._timer.stop()
        self._due, self._timer = due, self._widget.set_timer((due - self._clock()) / 1000, self._over)

    def _over(self) -> None:
        self._timer = None
        if self._widget.is_attached and self._widget.screen.is_current:
            self._tick()
