"""Where coroutines wait for asks.

One listener on the bell and one look at the store serve every wait of the process, however many there are.
"""

from __future__ import annotations

import asyncio
import logging
from types import TracebackType

import anyio

from sayso.asks.desk import AskDesk, Held, Leaving
from sayso.asks.holding import new_wait_id
from sayso.asks.model import Ask, Asker, NewAsk, State
from sayso.bridge import Threads, from_threads
from sayso.errors import NotFound, SaysoError, StoreError
from sayso.store import Store
from sayso.store.bell import LOOK_EVERY, Listener

logger = logging.getLogger(__name__)

CONFIRM_EVERY = 15.0
"""Seconds between two checks that the store and we know of the same waits."""


class Waiting:
    """Waits on asks for the coroutines of one process. `async with` it; leaving lets go of all that is held."""

    def __init__(self, store: Store, desk: AskDesk) -> None:
        self.desk = desk
        self._store = store
        self.do = Threads(store.threads).do
        """Runs plain code of the desk."""
        self._rung = asyncio.Event()
        self._ends: dict[str, tuple[Held, asyncio.Future[Ask]]] = {}
        self._strays: set[str] = set()
        self._stuck: list[tuple[Held, str]] = []
        self._doubtful: set[str] = set()
        self._leaving: list[tuple[Held, str]] = []
        self._letting_go = asyncio.Lock()
        self._listener: Listener | None = None
        self._watcher: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Waiting:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with anyio.CancelScope(shield=True):
            if self._watcher:
                self._watcher.cancel()
                await asyncio.wait([self._watcher])
            if self._listener:
                self._listener.close()
                await self._let_go_of_all()

    async def _let_go_of_all(self) -> None:
        try:
            await self.do(self.desk.release_all)
        except StoreError as error:
            # Whoever looks next finds this process dead and lets go in its place.
            logger.warning("Could not let go of the open asks: %s", error)

    async def hold(self, new: NewAsk) -> Held:
        """Open the ask, or take up the same one again, and begin to wait. End it with `release` or `delivered`."""
        # What the store would not let go of leaves in the same step: else the same call, made again, may find its own
        # former wait still there, and a person is asked twice.
        wait_id, leaving = new_wait_id(), Leaving(known=tuple(self._stuck), doubtful=frozenset(self._doubtful))
        self._stuck, self._doubtful = [], set()
        try:
            return self._begin(await self.do(self.desk.hold, new, wait_id, leaving))
        except StoreError:
            self._stuck += leaving.known
            self._doubtful |= {*leaving.doubtful, wait_id}
            raise

    async def succeed(self, new: NewAsk) -> Held:
        """The same, in the place of what its run has asked before."""
        return self._begin(await self.do(self.desk.succeed, new))

    async def attach(self, ask_id: str, timeout_ms: int | None = None, asker: Asker | None = None) -> Held | None:
        held = await self.do(self.desk.attach, ask_id, timeout_ms, asker)
        return self._begin(held) if held else None

    async def outcome(self, held: Held) -> Ask:
        """The ask once it is no longer pending: settled by a person, or timed out by the wait's own limit."""
        until = held.wait.until
        with anyio.move_on_after(None if until is None else (until - held.wait.since) / 1000):
            return await asyncio.shield(self._ends[held.wait.id][1])
        ask = await self.do(self.desk.time_out, held)
        self._end(held.wait.id, ask)
        return ask

    async def release(self, held: Held, why: str) -> None:
        """Let the wait end without an outcome, whatever else is being cancelled around it."""
        self._ends.pop(held.wait.id, None)
        self._leaving.append((held, why))
        with anyio.CancelScope(shield=True):
            async with self._letting_go:
                # The first of many that leave together takes all of them along.
                leaving, self._leaving = self._leaving, []
                if leaving:
                    await self._let_go_of(leaving)

    async def _let_go_of(self, waits: list[tuple[Held, str]]) -> None:
        try:
            await self.do(self.desk.release_each, waits)
        except SaysoError as error:
            logger.warning("Could not let go of ask %s: %s", ", ".join(held.ask.id for held, _ in waits), error)
            if isinstance(error, StoreError):
                self._stuck += waits

    async def delivered(self, held: Held) -> None:
        """Note that the outcome has reached the agent."""
        self._ends.pop(held.wait.id, None)
        try:
            await self.do(self.desk.delivered, held)
        except SaysoError as error:
            # The agent may get the same answer once more; better than never.
            logger.warning("Could not note the delivery of ask %s: %s", held.ask.id, error)

    async def take_back(self, held: Held) -> None:
        """Note that the outcome, though it was handed over, was not read."""
        try:
            await self.do(self.desk.take_back, held)
        except SaysoError as error:
            logger.warning("Could not note that ask %s was not read: %s", held.ask.id, error)

    def _begin(self, held: Held) -> Held:
        end: asyncio.Future[Ask] = asyncio.get_running_loop().create_future()
        if held.ask.state is not State.PENDING:
            end.set_result(held.ask)
        self._ends[held.wait.id] = (held, end)
        self._listen()
        # It may have been settled between the commit and this line, before anyone listened for it.
        self._rung.set()
        return held

    def _listen(self) -> None:
        if self._listener is None:
            bell = self._store.bell()
            self._listener = Listener(bell, from_threads(self._rung.set), about=bell.process)
            self._watcher = asyncio.get_running_loop().create_task(self._watch())

    async def _watch(self) -> None:
        """Endless until cancelled on leaving: look for ended waits after each ring, and now and then without."""
        bell = self._store.bell()
        confirm_at, falls = anyio.current_time() + CONFIRM_EVERY, bell.hung_again
        while True:
            with anyio.CancelScope(deadline=confirm_at):
                await self._rung.wait()
            self._rung.clear()
            try:
                await self._resolve()
                if anyio.current_time() >= confirm_at or bell.hung_again > falls:
                    falls = bell.hung_again
                    await self._confirm()
                    confirm_at = anyio.current_time() + CONFIRM_EVERY
            except SaysoError as error:
                logger.warning("Cannot look for answers just now: %s", error)
                # Once it works again, see at once what became of our waits.
                confirm_at = anyio.current_time() + LOOK_EVERY
                await anyio.sleep_until(confirm_at)

    async def _resolve(self) -> None:
        if all(end.done() for _, end in self._ends.values()):
            return
        for ask in await self.do(self.desk.ended_waits):
            assert ask.wait is not None
            self._end(ask.wait.id, ask)

    async def _confirm(self) -> None:
        """Put back waits that others ended because they took us for dead; end those that nobody here waits on."""
        known = await self.do(self.desk.wait_ids)
        for held in [held for wait_id, (held, end) in self._ends.items() if wait_id not in known and not end.done()]:
            await self._put_back(held)
        # Seen twice: one seen once may be just about to begin here.
        strays = known - self._ends.keys()
        if lost := strays & self._strays:
            held_here = await self.do(self.desk.held_here)
            for wait_id in lost & held_here.keys():
                await self.release(held_here[wait_id], "nobody waits for it any more")
        self._strays = strays - self._strays

    async def _put_back(self, held: Held) -> None:
        try:
            ask = await self.do(self.desk.hold_again, held)
        except NotFound as error:
            if (entry := self._ends.get(held.wait.id)) and not entry[1].done():
                entry[1].set_exception(error)
            return
        if ask.state is not State.PENDING:
            self._end(held.wait.id, ask)

    def _end(self, wait_id: str, ask: Ask) -> None:
        if (entry := self._ends.get(wait_id)) and not entry[1].done():
            entry[1].set_result(ask)
