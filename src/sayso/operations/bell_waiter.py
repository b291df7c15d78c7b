"""Hears the bell for the coroutines of one process that wait for operations of other processes, or for a lock."""

from __future__ import annotations

import asyncio

import anyio
import anyio.to_thread

from sayso.store import Store
from sayso.store.bell import LOOK_EVERY, Listener


class BellWaiter:
    """One listener for all who wait. It hangs on the bell from `open` to `close`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rung = asyncio.Event()
        self._listener: Listener | None = None

    def open(self) -> None:
        loop = asyncio.get_running_loop()
        self._listener = Listener(self._store.bell(), lambda: self._wake(loop), lambda: self._wake(loop))

    async def close(self) -> None:
        if self._listener:
            await anyio.to_thread.run_sync(self._listener.close)

    async def news(self) -> None:
        """Wait until the store has changed, or a second is over."""
        rung = self._rung
        with anyio.move_on_after(LOOK_EVERY):
            await rung.wait()

    def _wake(self, loop: asyncio.AbstractEventLoop) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._ring)

    def _ring(self) -> None:
        rung, self._rung = self._rung, asyncio.Event()
        rung.set()
