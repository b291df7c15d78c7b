"""Looks at the desk whenever the bell rings, and keeps the board. Nothing else asks the desk what there is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sayso.asks.desk import AskDesk
from sayso.asks.model import Ask
from sayso.errors import NotFound, NotYours, StoreError
from sayso.tui.shared import Shared, UnsavedDraft
from sayso.tui.unsaved import keep_each

if TYPE_CHECKING:
    from sayso.asks.snoozing import Snoozed

_FEW = 50
"""So many are read one by one."""
_QUIET = 0.05
"""Seconds between two looks at least: many rings at once are one."""
_AGAIN_AFTER = 1.0
"""Seconds before a store that was away is looked for again."""


@dataclass(frozen=True, kw_only=True)
class InboxSnapshot:
    """What one look has shown."""

    asks: Sequence[Ask]
    new: Sequence[Ask]
    snoozed: Sequence[Snoozed] = ()
    saved: Mapping[str, UnsavedDraft] = field(default_factory=dict)
    begun: Set[str] = frozenset()
    """Those that something was entered for, here or elsewhere."""
    marked: Set[str] = frozenset()
    """Those of which the board said so when the look began."""


class InboxWatcher:
    """Writes the board and calls `changed` with the asks that are new, or `failed` when the store is away."""

    def __init__(
        self, shared: Shared, *, changed: Callable[[Sequence[Ask]], None], failed: Callable[[StoreError], None]
    ) -> None:
        self._shared, self._changed, self._failed = shared, changed, failed
        self._rung = asyncio.Event()
        self._later: asyncio.TimerHandle | None = None
        self._one_is_back: asyncio.TimerHandle | None = None

    def look_soon(self) -> None:
        self._rung.set()

    def look_later(self) -> None:
        """Look for a store that is away: nothing rings when it is back."""
        if self._later is None:
            self._later = asyncio.get_running_loop().call_later(_AGAIN_AFTER, self._look_again)

    def _look_again(self) -> None:
        self._later = None
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
            await self._shared.link.do(AskDesk.release_the_dead)
        except StoreError as error:
            self._failed(error)

    async def _look(self) -> None:
        person, snapshot = self._shared.config.person, await self._shared.link.do(self._everything)
        self._shared.board.absence = await self._shared.link.with_desks(lambda desks: desks.presence.absence(person))
        self._take_in(snapshot)
        if unwritable := self._shared.link.unwritable:
            self._failed(unwritable)

    def _take_in(self, snapshot: InboxSnapshot) -> None:
        board = self._shared.board
        self._shared.link.watch_over(frozenset(ask.wait.process for ask in snapshot.asks if ask.wait))
        first, board.looked = not board.looked, True
        board.show(snapshot.asks, snapshot.snoozed)
        self._look_when_one_is_back(snapshot.snoozed)
        if not self._shared.link.unwritable:
            board.trouble, board.trouble_since = "", None
        # What was begun or emptied here since the look began is newer than what the look has shown.
        newer = board.drafts ^ snapshot.marked
        board.drafts = (snapshot.begun - newer | board.drafts & newer) - board.outgoing.keys()
        board.saved(snapshot.saved)
        if first:
            board.seen |= {ask.id for ask in snapshot.asks}
        elif snapshot.new:
            told_apart = {ask.id for ask in board.lone}
            alone = [ask for ask in snapshot.new if ask.id in told_apart]
            board.newest = max(alone, key=lambda ask: ask.created_at, default=board.newest)
        self._changed(() if first else snapshot.new)

    def _look_when_one_is_back(self, snoozed: Sequence[Snoozed]) -> None:
        """Nothing rings then."""
        if self._one_is_back:
            self._one_is_back.cancel()
        if snoozed:
            seconds = max(snoozed[0].until - self._shared.wording.clock(), 0) / 1000 + _QUIET
            self._one_is_back = asyncio.get_running_loop().call_later(seconds, self.look_soon)

    # In the desk's thread

    def _everything(self, desk: AskDesk) -> InboxSnapshot:
        """All asks; and what could not be kept while the store was away is kept now."""
        board, person = self._shared.board, self._shared.config.person
        marked, going = set(board.drafts), set(board.outgoing)
        unsaved, saved = {} if self._shared.link.unwritable else dict(board.unsaved), dict[str, UnsavedDraft]()
        with suppress(NotYours):
            if unsaved:
                self._shared.link.refuse_agents()
            saved = keep_each(desk, person, unsaved)
        snoozed = desk.snoozed(person)
        put_off, known = {each.ask.id for each in snoozed}, {ask.id for ask in board.asks}
        asks = [ask for ask in _all_as_they_are(desk, board.all) if ask.id not in put_off]
        new = [ask for ask in asks if ask.id not in known]
        begun = desk.drafts(person) & ({ask.id for ask in asks} | put_off) - going
        return InboxSnapshot(asks=asks, new=new, snoozed=snoozed, saved=saved, begun=begun, marked=marked)


def _all_as_they_are(desk: AskDesk, known: Sequence[Ask]) -> list[Ask]:
    """Every ask that can be answered, oldest first. Only those are read that are not known as they are now."""
    kept = {ask.id: ask for ask in known}
    versions = desk.versions()
    other = [ask_id for ask_id, version in versions.items() if ask_id not in kept or kept[ask_id].version != version]
    if len(other) > _FEW:
        return list(desk.all_open())
    for ask_id in other:
        with suppress(NotFound):  # it has just been deleted
            kept[ask_id] = desk.get(ask_id)
    return [kept[ask_id] for ask_id in versions if ask_id in kept and kept[ask_id].state.answerable]
