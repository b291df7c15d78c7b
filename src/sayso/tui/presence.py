"""Whether somebody can be looking at this terminal: it has the focus, as far as it tells, and a key was pressed a short
while ago. Until somebody is, questions find another way to their person."""

from __future__ import annotations

from collections.abc import Callable

from sayso.tui.link import Link


class Presence:
    """Shows this process to others as a place where asks are seen, for as long as that is so."""

    def __init__(self, link: Link, away_after_ms: int, ticks: Callable[[], float]) -> None:
        self._link, self._away_after, self._ticks = link, away_after_ms / 1000, ticks
        self._used = ticks()
        self._focused = self._shown = True

    def used(self) -> None:
        """A key came, or a click. Whoever presses it is here, whatever the terminal said of its focus."""
        self._used, self._focused = self._ticks(), True
        self.tell()

    def lost_focus(self) -> None:
        self._focused = False
        self.tell()

    def covered(self) -> None:
        """Another program has the terminal, or this one is about to be stopped: tell it before that."""
        self.lost_focus()
        self._link.settle()

    def tell(self) -> None:
        seen = self._focused and self._ticks() - self._used < self._away_after
        if seen is not self._shown:
            self._shown = seen
            (self._link.show_up if seen else self._link.go_away)()
