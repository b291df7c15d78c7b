"""Whether somebody can be looking at this terminal: it has the focus, as far as it tells, and a key was pressed a short
while ago. Until somebody is, questions find another way to their person."""

from __future__ import annotations

from collections.abc import Callable

from sayso.tui.link import Link

CallIn = Callable[[float, Callable[[], None]], object]
"""Calls something so many seconds from now."""


class Onlooker:
    """Shows this process to others as a place where asks are seen, for as long as that is so."""

    def __init__(self, link: Link, away_after_ms: int, ticks: Callable[[], float], call_in: CallIn) -> None:
        self._link, self._away_after, self._ticks, self._call_in = link, away_after_ms / 1000, ticks, call_in
        self._used = ticks()
        self._focused = self._shown = True
        self._watching = False

    def used(self) -> None:
        """A key came, or a click. Whoever presses it is here, whatever the terminal said of its focus."""
        self._used, self._focused = self._ticks(), True
        self._tell()
        if not self._watching:
            self._watching = True
            self._call_in(self._away_after, self._look)

    def lost_focus(self) -> None:
        self._focused = False
        self._tell()

    def covered(self) -> None:
        """Another program has the terminal, or this one is about to be stopped: tell it before that."""
        self.lost_focus()
        self._link.settle()

    def _look(self) -> None:
        """The last key but one is old: is the last one, too? Nobody is looked for who has gone."""
        self._tell()
        left = self._used + self._away_after - self._ticks()
        self._watching = left > 0
        if self._watching:
            self._call_in(left, self._look)

    def _tell(self) -> None:
        seen = self._focused and self._ticks() - self._used < self._away_after
        if seen is not self._shown:
            self._shown = seen
            (self._link.show_up if seen else self._link.go_away)()
