"""Tells a deliberate act from a reflex: a held key, keys typed ahead of the screen, a burst after a slow line, words
that were meant for another window.

One guard for all screens. A screen presents what can be acted on; whatever acts on it first asks whether the key or
click that brought it there was meant for it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from textual.screen import Screen

REST = 0.7
"""Seconds for which something new must be in view before it can be acted on; a key that comes again sooner is held."""
_BURST = 0.02
"""Seconds between two keys that no hand can press so soon after each other."""
WORD = 1.0
"""Seconds between two letters of what somebody types."""
_TOLD_FOR = 1.5
"""Seconds for which one notice is enough."""
_NO_ECHO = 3.0
"""Seconds after which a terminal that did not say that it has drawn something is taken to say so no more."""


class Reflexes:
    """Knows what is in view since when, and which key or click is at work. Times are of a monotonic clock."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._card = 0
        """Counts what was presented; what is drawn late belongs to an earlier one."""
        self._ready: float | None = None
        """From when on the card in view can be acted on; None until it is drawn."""
        self._last, self._at, self._held, self._crowded = "", float("-inf"), False, False
        self._idle = self._in_words = False
        """Whether the last key was a letter that does nothing here, and the one at work came right after it."""
        self._refused = ""
        """The last key, where it was not taken."""
        self._run = 0
        """Counts the runs of keys: between those of one there is no pause in which somebody reads."""
        self._told = (0, float("-inf"))
        """About which card the person was last told that a key was not taken, and when."""
        self._echo: Callable[[], bool] = lambda: False
        self._asked = self._heard = 0
        self._awaited: tuple[int, float] | None = None
        """Which echo says that the card is drawn, and when it was asked for."""
        self._rest = 0.0
        self._drawn_at = float("inf")
        self._earliest = float("-inf")
        """What is next within the same card does not cut the rest of the card short."""

    # What is in view

    def ask_terminal(self, echo: Callable[[], bool]) -> None:
        """`echo` has the terminal send a sign once it has drawn all so far; it says whether there is a terminal."""
        self._echo = echo

    def present(self, screen: Screen[Any], rest: float) -> None:
        """Something is about to be shown that can be acted on, once it has been in view for so many seconds."""
        if self._ready is None:
            self._rest = max(self._rest, rest)
        else:
            self._earliest, self._rest = self._ready, rest
        self._card += 1
        self._ready = self._awaited = None
        # A screen that is gone before it was shown is never drawn, and must not hold up the one in view.
        drawn = screen if screen.is_active else screen.app.screen
        drawn.call_after_refresh(self._drawn, self._card)

    def _drawn(self, card: int) -> None:
        if card != self._card:
            return
        now, answers = self._clock(), self._heard > 0
        self._asked += self._echo()
        if answers:
            self._awaited = (self._asked, now)
        else:
            self._begin_rest(now)

    def _begin_rest(self, now: float) -> None:
        self._ready, self._awaited, self._drawn_at = max(now + self._rest, self._earliest), None, now
        self._rest = 0.0

    def heard(self, at: float) -> None:
        """The terminal's sign has come: whatever it sends from now on was pressed with all that in view."""
        self._heard += 1
        if self._awaited and self._heard >= self._awaited[0]:
            self._begin_rest(at)

    @property
    def ready(self) -> float | None:
        """From when on what is in view can be acted on; None while it is not drawn yet."""
        return self._ready

    # What is pressed

    def came_in(self, at: float) -> None:
        """A key has come in, which may have to wait until what the one at work does is done."""
        self._crowded = self._crowded or at - self._at < _BURST

    def pressed(self, name: str, at: float, following: float | None = None) -> None:
        """This key or click is at work now; `at` is when it came in, `following` when the next did that waits."""
        since = at - self._at
        self._held = name == self._last and since < REST
        self._crowded = since < _BURST or (following is not None and following - at < _BURST)
        self._in_words, self._idle = self._idle and since < WORD and name != self._refused, False
        self._run += since >= REST
        self._last, self._at, self._refused = name, at, ""

    @property
    def run(self) -> int:
        """Which run of keys the one at work belongs to."""
        return self._run

    @property
    def at(self) -> float:
        """When what is at work came in."""
        return self._at

    def did_nothing(self) -> None:
        """What is at work is a letter that means nothing here, as those of words do that were meant for elsewhere."""
        self._idle = True

    def refuse(self) -> None:
        """What is at work is not taken: it may be the first letter of words. The same key once more is not the next."""
        self._idle, self._refused = True, self._last

    def seen(self) -> bool:
        """Whether what is at work was pressed with the card in view."""
        self._do_without_echo()
        return self._ready is not None and self._at >= self._ready

    def rested(self) -> bool:
        """Whether what is at work was pressed when the card had been in view for as long as something new must be."""
        return self.seen() and self._at >= self._drawn_at + REST

    def deliberate(self) -> bool:
        """Whether it was also pressed for this alone."""
        return self.apart() and self.seen()

    def apart(self) -> bool:
        """Whether what is at work is a key by itself: not held since something else, nor one of a burst, nor the end of
        words that do nothing here."""
        self._idle = self._idle or self._in_words  # they go on
        return not self._held and not self._crowded and not self._in_words

    @property
    def held(self) -> bool:
        """Whether what is at work is a key that is held down."""
        return self._held

    def is_news(self) -> bool:
        """Whether the person is to be told that what is at work was not taken: once for each card, and again when they
        were last told a while ago."""
        told, self._told = self._told, (self._card, self._at)
        if told[0] == self._card and self._at - told[1] < _TOLD_FOR:
            self._told = told
            return False
        return True

    async def alone(self) -> bool:
        """Whether nothing came in together with what is at work. To be awaited before anything is settled by it: the
        rest of a burst is read right after its first key."""
        await asyncio.sleep(_BURST)
        return not self._crowded

    def _do_without_echo(self) -> None:
        """A sign can be lost, with a program that had the terminal meanwhile for example. That costs one key."""
        if self._awaited and self._at - self._awaited[1] > _NO_ECHO:
            self._heard, self._rest = self._asked, REST
            self._begin_rest(self._at)
