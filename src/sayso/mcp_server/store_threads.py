"""Short looks at the store from the event loop: for what every call does before it can do anything else.

Not for writes: a call that is cancelled does not wait for its look. In return each costs a quarter of what it does to
run plain code that must be seen through.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class StoreThreads:
    """Threads that stay, as many as the store can serve at once. They start when they are needed."""

    def __init__(self, threads: int) -> None:
        self._most, self._started = threads, 0
        self._wanted: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    async def look(self, work: Callable[[*Ts], T], *args: *Ts) -> T:
        """What this plain code finds."""
        loop = asyncio.get_running_loop()
        found: asyncio.Future[T] = loop.create_future()

        def one() -> None:
            try:
                end = partial(_tell, found, work(*args))
            except BaseException as error:
                end = partial(_fail, found, error)
            with suppress(RuntimeError):  # the loop has ended, and with it whoever wanted to know
                loop.call_soon_threadsafe(end)

        if self._started < self._most:
            self._started += 1
            threading.Thread(target=self._serve, name="sayso-look", daemon=True).start()
        self._wanted.put(one)
        return await found

    def close(self) -> None:
        """End the threads, once those looks are over that were begun."""
        for _ in range(self._started):
            self._wanted.put(None)
        self._started = 0

    def _serve(self) -> None:
        """Endless until closed."""
        while one := self._wanted.get():
            one()


def _tell(found: asyncio.Future[T], what: T) -> None:
    if not found.done():
        found.set_result(what)


def _fail(found: asyncio.Future[T], error: BaseException) -> None:
    if not found.done():
        found.set_exception(error)
