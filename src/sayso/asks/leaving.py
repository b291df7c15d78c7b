"""How the waits of one process end without an outcome that was read: let go of, lost, handed over in vain.

Each has left only once the store knows. What the store could not be told is kept until it can; the same call, made
again before that, would find its own former wait still there, and a person would be asked twice.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence, Set

from sayso.asks.desk import AskDesk, Held, Leaving
from sayso.asks.happening import NOT_WRITTEN
from sayso.bridge import BackgroundTasks, Threads, seen_through
from sayso.errors import SaysoError, StoreError
from sayso.protocol.request import Tell
from sayso.records import replace

logger = logging.getLogger(__name__)

FINISH_SECONDS = 5.0
"""How long an ending process waits for what is yet to be told to the store."""


class EndOfCall:
    """What is waited for of a call whose response nobody will read."""

    __slots__ = ("_awaited", "_going", "_is_over")

    def __init__(self, going: BackgroundTasks) -> None:
        self._going, self._is_over = going, False
        self._awaited: asyncio.Future[None] | None = None

    def __enter__(self) -> Tell:
        return self._tell

    def _tell(self, written: bool) -> None:
        if not (written or self._is_over or self._awaited):
            self._awaited = asyncio.get_running_loop().create_future()
            self._going.add(self._awaited)

    def __exit__(self, *_: object) -> None:
        self._is_over = True
        if self._awaited:
            self._awaited.set_result(None)


class LeavingWaits:
    """The waits that are about to end, and those that the store wrongly has. `forget` is told whom nobody waits for,
    and gives it back with the ask as it ended; `stuck` is called when there is something that the store could not be
    told."""

    def __init__(
        self, desk: AskDesk, threads: Threads, forget: Callable[[Held], Held], stuck: Callable[[], object]
    ) -> None:
        self._desk, self._do, self._forget, self._note_stuck = desk, threads.do, forget, stuck
        self._handing_over: dict[str, asyncio.Future[None]] = {}
        self._next: list[tuple[Held, str]] = []
        self._next_handed_over: list[Held] = []
        self._letting_go, self._telling = asyncio.Lock(), asyncio.Lock()
        self._stuck = Leaving()
        self._strays: Set[str] = set()
        self._going, self._noting = BackgroundTasks(), BackgroundTasks()
        self.over = self._going.idle
        """Waits until those that leave have left: only then may the same be asked again."""

    def call(self) -> EndOfCall:
        """Around a call that may hold an ask. Once it is told that the response will not be written, those that ask
        wait for the end of this call, in which it may yet let go."""
        return EndOfCall(self._going)

    async def finish(self) -> None:
        await self._going.finish(within=FINISH_SECONDS)
        await self._noting.finish(within=FINISH_SECONDS)
        await self._note_again()

    # Letting go

    def let_go(self, held: Held, why: str) -> None:
        """Let the wait end, whatever its call has yet to do before it ends itself."""
        self._going.start(self.release(held, why))

    async def release(self, held: Held, why: str) -> None:
        """Let the wait end without an outcome, whatever else is being cancelled around it."""
        self._forget(held)
        self._next.append((held, why))
        await seen_through(self._release_next())

    async def _release_next(self) -> None:
        async with self._letting_go:
            # The first of many that leave together takes all of them along.
            waits, self._next = self._next, []
            if waits:
                await self._release(waits)

    async def _release(self, waits: list[tuple[Held, str]]) -> None:
        try:
            await self._do(self._desk.release_each, waits)
        except SaysoError as error:
            logger.warning("Could not let go of ask %s: %s", ", ".join(held.ask.id for held, _ in waits), error)
            if isinstance(error, StoreError):
                self.stay(Leaving(known=tuple(waits)))

    # What the store could not be told

    def take(self) -> Leaving:
        """What is yet to be told, for whoever tells the store something anyway. Who does so at the same time gets most
        of it as well, until it is `told`: it may be the first, and would find what was its own still there, or gone."""
        stuck, self._stuck = self._stuck, replace(self._stuck, delivered=())
        return stuck

    def told(self, leaving: Leaving) -> None:
        """The store knows all of this."""
        ended = {held.wait.id for held in (*leaving.unread, *(held for held, _ in leaving.known))}
        self._stuck = replace(
            self._stuck,
            known=tuple((held, why) for held, why in self._stuck.known if held.wait.id not in ended),
            doubtful=self._stuck.doubtful - leaving.doubtful,
            unread=tuple(held for held in self._stuck.unread if held.wait.id not in ended),
        )

    def stay(self, leaving: Leaving) -> None:
        """It could not be told now either."""
        stuck = self._stuck
        there = {held.wait.id for held in (*stuck.unread, *(held for held, _ in stuck.known))}
        self._stuck = Leaving(
            known=stuck.known + tuple((held, why) for held, why in leaving.known if held.wait.id not in there),
            doubtful=stuck.doubtful | leaving.doubtful,
            delivered=stuck.delivered + leaving.delivered,
            unread=stuck.unread + tuple(held for held in leaving.unread if held.wait.id not in there),
        )
        self._note_stuck()

    @property
    def unsettled(self) -> bool:
        """Whether the store is yet to be told something, or has a wait that may be nobody's."""
        # What is doubtful is among the strays, if it is there at all.
        return bool(self._strays or self._stuck.known or self._stuck.delivered or self._stuck.unread)

    async def end_strays(self, strays: Set[str]) -> None:
        """End waits that the store has and nobody here waits on. Seen twice: one seen once may be about to begin."""
        await self._note_again()
        strays = strays - {held.wait.id for held in self._stuck.delivered}
        if lost := strays & self._strays:
            held_here = await self._do(self._desk.held_here)
            for wait_id in lost & held_here.keys():
                await self.release(held_here[wait_id], "nobody waits for it any more")
        self._strays = strays - self._strays

    # Handing over

    def hand_over(self, held: Held) -> Tell:
        """What is to be told whether the response with this outcome has been written; and, if a cancel crosses it
        after that, that nobody will have read it: then the outcome is owed again."""
        noted: asyncio.Task[None] | None = None

        def tell(written: bool) -> None:
            nonlocal noted
            if written:
                noted = self._noting.start(self.delivered(held))
            elif noted:
                self._going.start(self._take_back_after(noted, held))
            else:
                self.let_go(held, NOT_WRITTEN)

        return tell

    async def delivered(self, held: Held) -> None:
        """Note that the outcome has reached the agent."""
        held = self._forget(held)
        noted = self._handing_over[held.ask.id] = asyncio.get_running_loop().create_future()
        self._next_handed_over.append(held)
        try:
            await seen_through(self._note_next())
        finally:
            noted.set_result(None)
            if self._handing_over[held.ask.id] is noted:
                del self._handing_over[held.ask.id]

    async def _note_next(self) -> None:
        async with self._telling:
            # The first of many that are handed over together takes all of them along.
            waits, self._next_handed_over = self._next_handed_over, []
            if waits:
                await self._note(waits)

    async def _note(self, waits: Sequence[Held]) -> None:
        try:
            await self._do(self._desk.delivered_each, waits)
        except SaysoError as error:
            logger.warning("Could not note the delivery of ask %s: %s", ", ".join(each.ask.id for each in waits), error)
            if isinstance(error, StoreError):
                # Until it is noted, the agent may get the same answer once more; better than never.
                self.stay(Leaving(delivered=tuple(waits)))

    @property
    def handed_over(self) -> set[str]:
        """The asks whose outcome the agent has, though the store may not know yet."""
        return self._handing_over.keys() | {held.ask.id for held in self._stuck.delivered}

    async def noted(self, asks: Iterable[str]) -> bool:
        """Wait until the store knows that these were handed over, or could not be told. Whether it was yet to be."""
        yet = [self._handing_over[ask] for ask in asks if ask in self._handing_over]
        if yet:
            await asyncio.wait(yet)
        return bool(yet)

    async def _take_back_after(self, noted: asyncio.Task[None], held: Held) -> None:
        await asyncio.wait([noted])
        # Noted later than this, that it was handed over would be the last word.
        delivered = tuple(each for each in self._stuck.delivered if each.wait.id != held.wait.id)
        self._stuck = replace(self._stuck, delivered=delivered)
        await self._take_back(held)

    async def _take_back(self, held: Held) -> None:
        try:
            await self._do(self._desk.take_back, held)
        except SaysoError as error:
            logger.warning("Could not note that ask %s was not read: %s", held.ask.id, error)
            if isinstance(error, StoreError):
                self.stay(Leaving(unread=(held,)))

    async def _note_again(self) -> None:
        """Tell the store what it could not be told of what was handed over."""
        stuck, self._stuck = self._stuck, replace(self._stuck, delivered=(), unread=())
        for held in stuck.delivered:
            await self.delivered(held)
        for held in stuck.unread:
            await self._take_back(held)
