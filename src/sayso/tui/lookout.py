"""Looks at the desk whenever the bell rings, and keeps the board. Nothing else asks the desk what there is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from sayso.asks.desk import Desk
from sayso.asks.model import Ask
from sayso.errors import StoreError
from sayso.tui.shared import Shared

_PAGE = 500
_QUIET = 0.05
"""Seconds between two looks at least: many rings at once are one."""
_REST_AFTER = 0.5
"""Seconds after new asks before all are looked at: it costs more the more there are, and seldom shows anything."""
_AGAIN_AFTER = 1.0
"""Seconds before a store that was away is looked for again."""


@dataclass(frozen=True, kw_only=True)
class Sight:
    """What one look has shown."""

    asks: Sequence[Ask]
    new: Sequence[Ask]
    saved: Mapping[str, str] = field(default_factory=dict)


class Lookout:
    """Writes the board and calls `changed` with the asks that are new, or `failed` when the store is away."""

    def __init__(
        self, shared: Shared, *, changed: Callable[[Sequence[Ask]], None], failed: Callable[[StoreError], None]
    ) -> None:
        self._shared, self._changed, self._failed = shared, changed, failed
        self._rung = asyncio.Event()
        self._later: asyncio.TimerHandle | None = None
        self._wants_all = False

    def look_soon(self) -> None:
        self._rung.set()

    def look_later(self) -> None:
        """Look for a store that is away: nothing rings when it is back."""
        self._wait(_AGAIN_AFTER)

    def _wait(self, seconds: float) -> None:
        if self._later is None:
            self._later = asyncio.get_running_loop().call_later(seconds, self._look_at_all)

    def _look_at_all(self) -> None:
        self._later, self._wants_all = None, True
        self.look_soon()

    async def watch(self) -> None:
        """Endless until cancelled: look after each ring, and not more often than a screen can follow."""
        while True:
            await self._rung.wait()
            self._rung.clear()
            began = time.monotonic()
            try:
                await self._look()
            except StoreError as error:
                self._failed(error)
            await asyncio.sleep(max(_QUIET, time.monotonic() - began))

    async def release_the_dead(self) -> None:
        """Agents that died hold nothing any more; the ring that follows shows it."""
        try:
            await self._shared.link.do(Desk.release_the_dead)
        except StoreError as error:
            self._failed(error)

    async def _look(self) -> None:
        """First what is new, which must be seen at once; then all, for what has changed: now if nothing was new, else
        when the screen has been drawn and others may have come too."""
        if self._shared.board.looked and (sight := await self._shared.link.do(self._only_new)).new:
            self._take_in(sight)
            if not self._wants_all:
                self._wait(_REST_AFTER)
                return
        self._wants_all = False
        first = not self._shared.board.looked
        self._take_in(await self._shared.link.do(self._everything))
        if first:
            self._shared.board.drafts |= await self._shared.link.do(self._begun)
            self._changed(())

    def _take_in(self, sight: Sight) -> None:
        board = self._shared.board
        self._shared.link.watch_over(frozenset(ask.wait.process for ask in sight.asks if ask.wait))
        first, board.looked = not board.looked, True
        board.show(sight.asks)
        board.trouble, board.trouble_since = "", None
        board.drafts |= sight.saved.keys()
        board.unsaved = {key: body for key, body in board.unsaved.items() if sight.saved.get(key) != body}
        if first:
            board.seen |= {ask.id for ask in sight.asks}
        elif sight.new:
            board.newest = max(sight.new, key=lambda ask: ask.created_at)
        self._changed(() if first else sight.new)

    # In the desk's thread

    def _only_new(self, desk: Desk) -> Sight:
        """The asks opened since the last look, beside those known."""
        known = self._shared.board.asks
        page = desk.inbox(after=known[-1] if known else None, most=_PAGE)
        return self._sight([*known, *page])

    def _everything(self, desk: Desk) -> Sight:
        """All asks; and what could not be kept while the store was away is kept now."""
        person, unsaved = self._shared.config.person, dict(self._shared.board.unsaved)
        for ask_id, body in unsaved.items():
            desk.keep_draft(ask_id, person, body)
        return replace(self._sight(all_asks(desk)), saved=unsaved)

    def _sight(self, asks: Sequence[Ask]) -> Sight:
        known = {ask.id for ask in self._shared.board.asks}
        return Sight(asks=asks, new=[ask for ask in asks if ask.id not in known])

    def _begun(self, desk: Desk) -> set[str]:
        """Those that something was entered for before. Looked for once: what is new nobody can have begun."""
        person = self._shared.config.person
        return {ask.id for ask in self._shared.board.asks if desk.draft(ask.id, person)}


def all_asks(desk: Desk) -> list[Ask]:
    """Every ask that can be answered, oldest first."""
    asks = page = desk.inbox(most=_PAGE)
    while len(page) == _PAGE:
        page = desk.inbox(after=page[-1], most=_PAGE)
        asks = asks + page
    return asks


class Ears:
    """Hears the bell in its thread and tells a loop of it, from the moment there is one."""

    def __init__(self) -> None:
        self._tell: Callable[[], None] | None = None

    def begin(self, loop: asyncio.AbstractEventLoop, tell: Callable[[], None]) -> None:
        def told() -> None:
            # The loop is closed when the app has ended before the bell.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(tell)

        self._tell = told

    def hear(self) -> None:
        if self._tell:
            self._tell()
