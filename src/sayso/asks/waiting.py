"""Where coroutines wait for asks.

One listener on the bell and one look at the store serve every wait of the process, however many there are.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Coroutine, Sequence, Set
from types import TracebackType
from typing import Any

from sayso.asks.desk import AskDesk, Held
from sayso.asks.holding import RAN_OUT, new_wait_id
from sayso.asks.leaving import FINISH_SECONDS, LeavingWaits
from sayso.asks.model import Ask, Asker, NewAsk, State
from sayso.asks.quorum import next_escalation
from sayso.bridge import LightEvent, Patience, Threads, endless, from_threads, notice_cancel, seen_through
from sayso.clock import now_ms
from sayso.errors import NotFound, SaysoError, StoreError
from sayso.records import replace
from sayso.store import Store
from sayso.store.bell import LOOK_EVERY, Listener

logger = logging.getLogger(__name__)

CONFIRM_AFTER = 15.0
"""Seconds after something has happened until it is checked that the store and we know of the same waits."""
PUT_BACK_AT_ONCE = 50
"""How many waits come back in one transaction: with each of its own, a thousand of them would take minutes."""


class End(LightEvent):
    """The end of a wait, for all who want to hear of it."""

    __slots__ = ("_found", "held")

    def __init__(self, held: Held) -> None:
        super().__init__()
        self.held = held
        self._found: Ask | NotFound | None = None

    @property
    def ask(self) -> Ask | None:
        """The ask as it ended, once it has."""
        return self._found if isinstance(self._found, Ask) else None

    def come(self, found: Ask | NotFound) -> None:
        self._found = found
        self.set()

    async def awaited(self) -> Ask:
        """Endless by itself: whoever waits sets the limit."""
        await self.wait()
        assert self._found is not None
        if isinstance(self._found, NotFound):
            raise self._found
        return self._found


class Waiting:
    """Waits on asks for the coroutines of one process. `async with` it; leaving lets go of all that is held."""

    def __init__(self, store: Store, desk: AskDesk) -> None:
        self.desk = desk
        self._store = store
        self._threads = threads = Threads(store.threads)
        self.do = threads.do
        """Runs plain code of the desk."""
        self._rung = asyncio.Event()
        self._rings = 0
        """How often the bell has rung for the waits of this process."""
        self._ends: dict[str, End] = {}
        self.leaving = LeavingWaits(desk, threads, self._forget, self._rung.set)
        self.release, self.delivered = self.leaving.release, self.leaving.delivered
        self._listener: Listener | None = None
        self._watcher: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Waiting:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await seen_through(self._leave())

    async def _leave(self) -> None:
        if self._watcher:
            self._watcher.cancel()
            await asyncio.wait([self._watcher])
        await self.leaving.finish()
        if self._listener:
            self._listener.close()
        # Of those that the store may have, though the word of it was lost, nobody here knows.
        if self._listener or self.leaving.take().doubtful:
            await self._let_go_of_all()

    async def _let_go_of_all(self) -> None:
        # Whoever looks next finds this process dead, and lets go in its place.
        try:
            async with Patience(FINISH_SECONDS) as patience:
                await self._threads.look(self.desk.release_all)
        except StoreError as error:
            logger.warning("Could not let go of the open asks: %s", error)
        if patience.over:
            logger.warning("Could not let go of the open asks within %g seconds", FINISH_SECONDS)

    async def hold(self, new: NewAsk) -> Held:
        """Open the ask, or take up the same one again, and begin to wait. End it with `release` or `delivered`."""
        wait_id, leaving, rings = new_wait_id(), self.leaving.take(), self._rings
        try:
            held = await self.do(self.desk.hold, new, wait_id, leaving)
        except BaseException:
            # Refused, failed or cancelled: what was to leave with it may not have.
            self.leaving.stay(replace(leaving, doubtful=leaving.doubtful | {wait_id}))
            raise
        self.leaving.told(leaving)
        return await self._begin(held, rings)

    async def succeed(self, new: NewAsk, told: Set[str] = frozenset()) -> Held:
        """The same, in the place of what its run has asked before. `told` are those whose outcome it has heard."""
        rings = self._rings
        return await self._begin(await self.do(self.desk.succeed, new, told), rings)

    async def attach(self, ask_id: str, timeout_ms: int | None = None, asker: Asker | None = None) -> Held | None:
        rings = self._rings
        held = await self.do(self.desk.attach, ask_id, timeout_ms, asker)
        return await self._begin(held, rings) if held else None

    def holds(self, held: Held) -> bool:
        """Whether this wait has neither been let go of nor handed over its outcome."""
        return held.wait.id in self._ends

    def outcome(self, held: Held, tell: Callable[[Ask], object] = lambda _: None) -> Coroutine[Any, Any, Ask]:
        """The ask once it is no longer pending: settled by a person, or timed out by the wait's own limit. Whenever
        more people are asked because nobody has decided, `tell` hears of it."""
        at, end = next_escalation(held.ask), self._ends[held.wait.id]
        # Most wait like this: thousands of them, with a frame less for each.
        return end.awaited() if at is None and held.wait.until is None else self._in_time(held, end, at, tell)

    async def _in_time(self, held: Held, end: End, at: int | None, tell: Callable[[Ask], object]) -> Ask:
        until, begun = held.wait.until, time.monotonic()
        lasts = math.inf if until is None else (until - held.wait.since) / 1000

        def left() -> float:
            return max(0, lasts - (time.monotonic() - begun))

        while at is not None and left():
            async with Patience(min(left(), max(0, at - now_ms()) / 1000)):
                return await end.awaited()
            at = await self._escalate(held, tell) if at <= now_ms() else at
        if until is None:
            return await end.awaited()
        async with Patience(left()):
            return await end.awaited()
        ask = await self.do(self.desk.time_out, held)
        self._end(held.wait.id, ask)
        return ask

    async def _escalate(self, held: Held, tell: Callable[[Ask], object]) -> int | None:
        """Have those asked as well whose turn it is, and say when it is the next one's; if the store cannot be told
        now, when to try again."""
        try:
            ask, more = await self.do(self.desk.escalate, held)
        except StoreError as error:
            logger.warning("Could not ask more people for %s yet: %s", held.ask.id, error)
            return now_ms() + int(LOOK_EVERY * 1000)
        if more:
            tell(ask)
        return next_escalation(ask) if ask.state is State.PENDING else None

    async def _begin(self, held: Held, rings: int) -> Held:
        """Wait for it from now on, unless whoever wants that was cancelled meanwhile. `rings` is how often the
        bell had rung before the store knew of the wait."""
        end = self._ends[held.wait.id] = End(held)
        if held.ask.state is not State.PENDING:
            end.come(held.ask)
        self._listen()
        if self._rings > rings:
            # It may have been settled between the commit and this line, and whoever looked then knew of no such wait.
            # Else the ring for that is yet to come.
            self._rung.set()
        try:
            await notice_cancel()
        except asyncio.CancelledError:
            names = f"sessionId={held.ask.id} callId={held.ask.call_id}"
            logger.info("Session failed: the client let go of it %s", names)
            self.leaving.let_go(held, "the client let go of the call")
            raise
        return held

    def _listen(self) -> None:
        if self._listener is None:
            bell = self._store.bell()
            self._listener = Listener(bell, from_threads(self._hear), about=bell.process)
            self._watcher = asyncio.get_running_loop().create_task(endless("Looking for answers", self._watch))

    def _hear(self) -> None:
        self._rings += 1
        self._rung.set()

    async def _watch(self) -> None:
        """Endless until cancelled on leaving: look for ended waits after each ring, and once more some time later."""
        bell, falls = self._store.bell(), self._store.bell().hung_again
        confirm_at: float | None = None
        self._rung.set()  # whatever rang before it began, or began anew
        while True:
            async with Patience(None if confirm_at is None else confirm_at - time.monotonic()):
                await self._rung.wait()
            if confirm_at is None:
                confirm_at = time.monotonic() + CONFIRM_AFTER
            self._rung.clear()
            try:
                await self._resolve()
                if time.monotonic() >= confirm_at or bell.hung_again > falls:
                    falls = bell.hung_again
                    await self._confirm()
                    confirm_at = time.monotonic() + CONFIRM_AFTER if self.leaving.unsettled else None
            except SaysoError as error:
                logger.warning("Cannot look for answers just now: %s", error)
                # Once it works again, see at once what became of our waits.
                confirm_at = time.monotonic() + LOOK_EVERY
                await asyncio.sleep(LOOK_EVERY)

    async def _resolve(self) -> None:
        # Those that ended stay until their outcome is noted as handed over; where there are many, that takes a while.
        known = {wait_id for wait_id, end in self._ends.items() if end.is_set()}
        if len(known) == len(self._ends):
            return
        look = self.desk.ended_waits
        for ask in look(known) if self._store.near else await self.do(look, known):
            assert ask.wait is not None
            self._end(ask.wait.id, ask)

    async def _confirm(self) -> None:
        """Put back waits that others ended because they took us for dead; end those that nobody here waits on."""
        known = await self.do(self.desk.wait_ids)
        gone = [wait_id for wait_id in self._ends if wait_id not in known]
        for start in range(0, len(gone), PUT_BACK_AT_ONCE):
            # While others were put back, its call may have ended.
            there = [self._ends[each] for each in gone[start : start + PUT_BACK_AT_ONCE] if each in self._ends]
            if waits := [end.held for end in there if not end.is_set()]:
                await self._put_back(waits)
            # Nor do answers to those that are back wait for the rest.
            await self._resolve()
        await self.leaving.end_strays(known - self._ends.keys())

    async def _put_back(self, waits: Sequence[Held]) -> None:
        found = await self.do(self.desk.hold_each_again, waits)
        over = [held for held in waits if held.wait.id not in self._ends or self._ends[held.wait.id].is_set()]
        if over:
            # Its call has told of a timeout meanwhile, and would be asked again while its former wait is there.
            await self.do(self.desk.release_each, [(held, RAN_OUT) for held in over])
        for held in waits:
            ask = found[held.wait.id]
            if isinstance(ask, NotFound) or ask.state is not State.PENDING:
                self._end(held.wait.id, ask)

    @property
    def in_hand(self) -> set[str]:
        """The asks that calls of this process wait for or hand over, also while others take it for dead."""
        return {end.held.ask.id for end in self._ends.values()} | self.leaving.handed_over

    def _forget(self, held: Held) -> Held:
        end = self._ends.pop(held.wait.id, None)
        return replace(held, ask=end.ask) if end and end.ask and not held.ask.outcome else held

    def _end(self, wait_id: str, ask: Ask | NotFound) -> None:
        """Unless its call has ended: a wait that nobody is there for any more is a stray."""
        if (end := self._ends.get(wait_id)) and not end.is_set():
            end.come(ask)
