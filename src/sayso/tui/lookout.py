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


@dataclass(frozen=True, kw_only=True)
class Sight:
    """What one look has shown."""

    asks: Sequence[Ask]
    new: Sequence[Ask]
    drafts: set[str]
    saved: Mapping[str, str] = field(default_factory=dict)


class Lookout:
    """Writes the board and calls `changed` with the asks that are new, or `failed` when the store is away."""

    def __init__(
        self, shared: Shared, *, changed: Callable[[Sequence[Ask]], None], failed: Callable[[StoreError], None]
    ) -> None:
        self._shared, self._changed, self._failed = shared, changed, failed
        self._rung = asyncio.Event()

    def look_soon(self) -> None:
        self._rung.set()

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
        """First what is new, which must be seen at once; then all, for what has changed."""
        if self._shared.board.looked and (sight := await self._shared.link.do(self._only_new)).new:
            self._take_in(sight)
        self._take_in(await self._shared.link.do(self._everything))

    def _take_in(self, sight: Sight) -> None:
        board = self._shared.board
        first, board.looked = not board.looked, True
        board.show(sight.asks)
        board.trouble, board.trouble_since = "", None
        board.drafts |= sight.drafts | sight.saved.keys()
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
        return self._sight(desk, [*known, *page])

    def _everything(self, desk: Desk) -> Sight:
        """All asks; and what could not be kept while the store was away is kept now."""
        person, unsaved = self._shared.config.person, dict(self._shared.board.unsaved)
        for ask_id, body in unsaved.items():
            desk.keep_draft(ask_id, person, body)
        return replace(self._sight(desk, all_asks(desk)), saved=unsaved)

    def _sight(self, desk: Desk, asks: Sequence[Ask]) -> Sight:
        person, known = self._shared.config.person, {ask.id for ask in self._shared.board.asks}
        new = [ask for ask in asks if ask.id not in known]
        return Sight(asks=asks, new=new, drafts={ask.id for ask in new if desk.draft(ask.id, person)})


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
