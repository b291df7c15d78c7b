"""What the calls of one server process share: the store, the waits, background work. Opened at the first call."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, nullcontext
from pathlib import Path
from types import TracebackType
from typing import TypeVar, TypeVarTuple

from sayso.asks.desk import Held
from sayso.asks.handed_files import HandedFile, has_files
from sayso.asks.model import Ask, Asker
from sayso.asks.sessions import Lives, always
from sayso.asks.waiting import Waiting
from sayso.bridge import BackgroundTasks, Patience, Threads, in_thread, seen_through
from sayso.clock import now_ms
from sayso.config import Config
from sayso.desks import Desks, open_desks
from sayso.errors import SaysoError
from sayso.mcp_server.context import CallContext
from sayso.mcp_server.held_calls import HeldCalls
from sayso.mcp_server.run_link import RunLink
from sayso.protocol.request import Tell

logger = logging.getLogger(__name__)
T = TypeVar("T")
Ts = TypeVarTuple("Ts")

ERRANDS_GRACE = 1.0
"""Seconds that a notification under way may keep an ending process: clients kill what does not end within two."""

CLEAN_EVERY = 1.0
"""Seconds between two beginnings of tidying up: it takes as much as a question does, and finds what has been there for
long, or what a process that ended has left behind."""

NOTE_EVERY, MOST_NOTED = 60.0, 256
"""Seconds after which a session that calls is noted again as being at work; how many are remembered."""

AskerOf = Callable[[CallContext], Asker]
"""Tells who is behind a request; each transport knows that in its own way."""

FolderOf = Callable[[CallContext], Path]
"""The folder that an agent's project lies in, as far as this machine knows."""


class Backend:
    """Holds the store open for the calls of one process. `async with` it; leaving lets go of every ask."""

    def __init__(
        self,
        config: Config,
        *,
        asker_of: AskerOf,
        folder_of: FolderOf | None = None,
        desks: Desks | None = None,
        link: RunLink | None = None,
        lives: Lives = always,
        handed_over: Tell = lambda _: None,
    ) -> None:
        """With desks that are open already, those are used, and left open. With a link, asks belong to a run.
        `lives` tells which sessions are still there, where one process serves many; `handed_over` is told whether an
        outcome was written to its agent."""
        self.config = config
        self._lives, self._handed_over = lives, handed_over
        self._asker_of = asker_of
        self.folder_of = folder_of or (lambda _: config.project)
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._waiting: Waiting | None = None
        self._desks: Desks | None = desks
        self._looks: Threads | None = None
        self._link = link
        self._secret = b""
        self._patience: set[Patience] = set()
        self.held_calls = HeldCalls()
        self.stopping = False
        """Whether calls that wait are to end now, so that their clients can call again elsewhere."""
        self._tasks, self._errands = BackgroundTasks(), BackgroundTasks()
        self.start = self._tasks.start
        """Does something beside the calls; leaving waits for it."""
        self.send_out = self._errands.start
        """Does something that may take long or come to nothing; leaving waits a moment at most."""
        self._noted: dict[Asker, float] = {}
        self._met_at: dict[Asker, int] = {}
        self._leaving = asyncio.Event()
        self._cleaning: asyncio.Task[None] | None = None
        self._cleaned_at = -CLEAN_EVERY
        self._ending = threading.Event()

    def asker_of(self, ctx: CallContext) -> Asker:
        """Who calls. Looked up once for each call."""
        if ctx.asker is None:
            ctx.asker = self._asker_of(ctx)
        return ctx.asker

    async def __aenter__(self) -> Backend:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.set()
        self._leaving.set()
        await seen_through(self._leave())

    async def _leave(self) -> None:
        await self._tasks.finish(within=5)
        await self._errands.finish(within=ERRANDS_GRACE)
        await self._stack.aclose()  # each thing in it leaves in its own time

    async def waiting(self) -> Waiting:
        """The waits of this process; the store is opened when they are first needed."""
        async with self._opening:
            if self._waiting is None:
                if self._desks is None:
                    self._desks = await in_thread(open_desks, self.config)
                    self._stack.callback(self._desks.close)
                waiting = self._desks.waiting(self._desks.asks_where(self._lives))
                self._waiting = await self._stack.enter_async_context(waiting)
                for asker in self._met_at:
                    self.note_at_work(asker)
            return self._waiting

    async def look(self, work: Callable[[*Ts], T], *args: *Ts) -> T:
        """What plain code finds that only reads, for a call that may be cancelled meanwhile."""
        desks = await self.desks()
        if desks.near:
            return work(*args)
        if self._looks is None:
            self._looks = Threads(desks.threads, "sayso-look")
            self._stack.callback(self._looks.close)
        return await self._looks.look(work, *args)

    def secret(self) -> bytes:
        """The key that seals what clients hand back to us, the same in every process of the store."""
        if not self._secret:
            with nullcontext(self._desks) if self._desks else open_desks(self.config) as desks:
                self._secret = desks.secret("request_state_key")
        return self._secret

    async def claim(self, key: str) -> bool:
        """Whether this is the first time, in all processes of the store, that the key is claimed."""
        return await (await self.waiting()).do((await self.desks()).claim, key)

    async def desks(self) -> Desks:
        """For what is not asks."""
        await self.waiting()
        assert self._desks is not None
        return self._desks

    async def find_run(self) -> None:
        """Find out in which run the agent works, if it is one of ours, before it is known as the asker."""
        if self._link:
            await self._link.find(await self.desks(), await self.waiting())

    async def note_in_run(self, ask: Ask) -> None:
        """Have an ask shown in the conversation that it comes from, seen through: its call may hold it already."""
        if self._link:
            await seen_through(self._link.note(ask, await self.waiting()))

    def note_delivery(self, ctx: CallContext, held: Held) -> None:
        """Once the response to this request has been written, the held ask counts as delivered; else it is let go."""
        assert self._waiting is not None
        ctx.when_written(self._waiting.leaving.hand_over(held))
        ctx.when_written(self._handed_over)

    async def files_of(self, ask: Ask, asker: Asker) -> Sequence[HandedFile]:
        """The pictures and files of an answer, where this agent finds them."""
        if not has_files(ask):
            return ()
        from sayso.mcp_server.files import handed  # few answers have any

        waiting = await self.waiting()
        return await waiting.do(handed, waiting.desk, self.config.attachments_dir, ask, asker)

    def note_at_work(self, asker: Asker) -> None:
        """Have it known that this session is at work, once a minute at most. What needs no store opens none for it: the
        note is then made when the store is opened, with the moment of this one."""
        if self._waiting is None:
            if len(self._met_at) < MOST_NOTED:
                self._met_at.setdefault(asker, now_ms())
            return
        last, now = self._noted.get(asker), time.monotonic()
        if last is not None and now - last < NOTE_EVERY:
            return
        if len(self._noted) >= MOST_NOTED:
            self._noted.clear()
        self._noted[asker] = now
        self.send_out(self._note(asker))

    async def _note(self, asker: Asker) -> None:
        try:
            waiting, desks = await self.waiting(), await self.desks()
            # Else it would be on the roster as nobody's, for everybody to see, until it asks something.
            await self.find_run()
            noted = self._link.asker_in_run(asker) if self._link else asker
            await waiting.do(desks.roster.note_server, noted, self._met_at.get(asker))
        except SaysoError as error:
            logger.warning("Could not note who is at work: %s", error)

    def clean_up(self) -> None:
        """Tidy up behind a call's back, one at a time, and not all the time. The call is already open and does not wait
        for it."""
        if self._desks and (self._cleaning is None or self._cleaning.done()):
            self._cleaning = self.start(self._tidy(self._desks))

    async def _tidy(self, desks: Desks) -> None:
        if (early := self._cleaned_at + CLEAN_EVERY - time.monotonic()) > 0:
            await self.pause(early)
        self._cleaned_at = time.monotonic()
        try:
            done = await in_thread(desks.clean_up, self._ending)
        except SaysoError as error:
            logger.warning("Cleaning up expired sessions failed: %s", error)
            return
        if done.deleted or done.expired:
            logger.info("Cleaned up %d expired sessions", done.deleted + done.expired)

    def end_when_stopping(self, patience: Patience) -> None:
        """Let the patience of a call that waits end early when this process is about to."""
        self._patience.add(patience)
        if self.stopping:
            patience.end()

    def is_over(self, patience: Patience) -> None:
        self._patience.discard(patience)

    def stop_waiting(self) -> None:
        """End every wait, now and from now on. The asks stay open."""
        self.stopping = True
        for patience in self._patience:
            patience.end()

    async def pause(self, seconds: float) -> None:
        """Wait so long, or until the backend is left."""
        async with Patience(seconds):
            await self._leaving.wait()
