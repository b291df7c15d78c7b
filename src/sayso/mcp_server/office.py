"""What the calls of one server process share: the store, the waits, background work. Opened at the first call."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from functools import partial
from types import TracebackType
from typing import Any

import anyio
import anyio.to_thread

from sayso.asks.desk import Desk, Held, Retention, now_ms
from sayso.asks.model import Asker
from sayso.asks.waiting import Waiting
from sayso.config import Config
from sayso.errors import SaysoError
from sayso.mcp_server.caller import Context
from sayso.store import Store, open_store

logger = logging.getLogger(__name__)

AfterWrite = Callable[[Context, Callable[[bool], None]], None]
"""Calls back when the response to a request has been written (True), or once it is clear that it never will be."""

AskerOf = Callable[[Context], Asker]
"""Tells who is behind a request; each transport knows that in its own way."""


class Office:
    """Holds the store open for the calls of one process. `async with` it; leaving lets go of every ask."""

    def __init__(self, config: Config, *, asker_of: AskerOf, after_write: AfterWrite) -> None:
        self.config = config
        self.asker_of = asker_of
        self._after_write = after_write
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._waiting: Waiting | None = None
        self._store: Store | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._cleaning: asyncio.Task[None] | None = None
        self._ending = threading.Event()

    async def __aenter__(self) -> Office:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.set()
        with anyio.CancelScope(shield=True), anyio.move_on_after(5):
            if self._tasks:
                await asyncio.wait(self._tasks)
            await self._stack.aclose()

    async def waiting(self) -> Waiting:
        """The waits of this process; the store is opened when they are first needed."""
        async with self._opening:
            if self._waiting is None:
                self._store = await anyio.to_thread.run_sync(open_store, self.config)
                self._stack.callback(self._store.close)
                desk = Desk(self._store, keeps_history=lambda _: self.config.history)
                self._waiting = await self._stack.enter_async_context(Waiting(self._store, desk))
            return self._waiting

    def secret(self) -> bytes:
        """The key that seals what clients hand back to us, the same in every process of the store."""
        store = self._store or open_store(self.config)
        try:
            return store.secret("request_state_key")
        finally:
            if store is not self._store:
                store.close()

    async def claim(self, key: str) -> bool:
        """Whether this is the first time, in all processes of the store, that the key is claimed."""
        waiting = await self.waiting()
        assert self._store is not None
        return await waiting.do(self._store.claim, key, now_ms())

    def note_delivery(self, ctx: Context, held: Held) -> None:
        """Once the response to this request has been written, the held ask counts as delivered; else it is let go."""
        self._after_write(ctx, partial(self._handed_over, held))

    def _handed_over(self, held: Held, written: bool) -> None:
        assert self._waiting is not None
        waiting = self._waiting
        self.start(waiting.delivered(held) if written else waiting.release(held, "the result could not be handed over"))

    def clean_up(self) -> None:
        """Tidy up behind a call's back, one at a time. The call is already open and does not wait for it."""
        if self._waiting and (self._cleaning is None or self._cleaning.done()):
            self._cleaning = self.start(self._tidy(self._waiting.desk))

    async def _tidy(self, desk: Desk) -> None:
        config = self.config
        keep = Retention(
            ended=config.keep_ended, undelivered=config.keep_undelivered, unattended=config.keep_unattended
        )
        try:
            done = await anyio.to_thread.run_sync(desk.clean_up, keep, self._ending)
        except SaysoError as error:
            logger.warning("Cleaning up expired sessions failed: %s", error)
            return
        if done.deleted or done.expired:
            logger.info("Cleaned up %d expired sessions", done.deleted + done.expired)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Do something beside the calls; leaving the office waits for it a moment."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
