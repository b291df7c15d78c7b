"""From the event loop to plain code and back: threads for the store, the bell as an event, tasks beside the calls.

Single trips to a thread, for a file or a page, are anyio's business; what is done again and again is done here.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import partial
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar, TypeVarTuple

from sayso.errors import StoreError
from sayso.store.bell import Bell, Listener

P = ParamSpec("P")
T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0
"""Seconds until work is tried again: the first time, and the most that this grows to."""


class Threads:
    """Runs plain code that must be seen through, such as writes, in so many threads at once."""

    def __init__(self, most: int) -> None:
        # Only now, as below: the terminal inbox does without, and must be there at once.
        import anyio

        self._limiter = anyio.CapacityLimiter(most)

    async def do(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What this plain code returns. Once begun it is never abandoned halfway."""
        import anyio.to_thread

        return await anyio.to_thread.run_sync(lambda: work(*args, **kwargs), limiter=self._limiter)


async def insistently(work: Callable[[], Awaitable[T]], on_trouble: Callable[[StoreError], None]) -> T:
    """What comes of work that must get into the store, once that is no longer full or away. Endless until cancelled;
    each failure is told."""
    pause = _FIRST_PAUSE
    while True:
        try:
            return await work()
        except StoreError as error:
            on_trouble(error)
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


class DaemonThreads:
    """Threads of our own that neither a cancelled task nor an ending process waits for. They start when needed, and
    begin what they are given in order. A call costs a quarter of what it does where work must be seen through."""

    def __init__(self, most: int, name: str) -> None:
        self._most, self._name = most, name
        self._threads: list[threading.Thread] = []
        self._wanted: SimpleQueue[Callable[[], object] | None] = SimpleQueue()

    async def do(self, work: Callable[[*Ts], T], *args: *Ts) -> T:
        """What this plain code returns. It is done even if nobody waits for it any more."""
        found: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        tell = from_threads(partial(_settle, found))

        def one() -> None:
            try:
                tell(work(*args), None)
            except BaseException as error:
                tell(None, error)

        self.put(one)
        return await found

    def put(self, work: Callable[[], object]) -> None:
        """Have this done, without waiting for it. It must not raise."""
        if len(self._threads) < self._most:
            thread = threading.Thread(target=self._serve, name=self._name, daemon=True)
            self._threads.append(thread)
            thread.start()
        self._wanted.put(work)

    def close(self, patience: float = 0) -> None:
        """End the threads, once what they were given is done. That is waited for no longer than `patience` seconds."""
        threads, self._threads = self._threads, []
        for _ in threads:
            self._wanted.put(None)
        for thread in threads if patience else ():
            thread.join(timeout=patience)

    def _serve(self) -> None:
        """Endless until closed."""
        while work := self._wanted.get():
            work()


def _settle(found: asyncio.Future[T], what: T, error: BaseException | None) -> None:
    if not found.done():
        found.set_exception(error) if error else found.set_result(what)


def from_threads(work: Callable[[*Ts], object]) -> Callable[[*Ts], None]:
    """`work` as other threads may call it: the loop that runs now does it, unless it has ended by then."""
    loop = asyncio.get_running_loop()

    def call(*args: *Ts) -> None:
        with suppress(RuntimeError):  # the loop is closed, and with it all that wanted to know
            loop.call_soon_threadsafe(work, *args)

    return call


@asynccontextmanager
async def listening(bell: Bell, heard: Callable[[], object]) -> AsyncIterator[None]:
    """Have the event loop call `heard` after each ring of the bell."""
    import anyio.to_thread

    listener = Listener(bell, from_threads(heard))
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(listener.close)


class Rings:
    """The bell as an event: who takes `next` before looking at the store, and then waits for it, misses nothing."""

    def __init__(self) -> None:
        self.next = asyncio.Event()

    def ring(self) -> None:
        rung, self.next = self.next, asyncio.Event()
        rung.set()


class BackgroundTasks:
    """Tasks that nobody waits for until the end: `finish` or `cancel` them then."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Future[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self.add(task)
        return task

    def add(self, task: asyncio.Future[None]) -> None:
        """The same for something that has been begun elsewhere."""
        if not task.done():
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def finish(self, within: float) -> None:
        """Wait so many seconds, then cancel what is left."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=within)
        await self.cancel(within)

    async def cancel(self, within: float | None = None) -> None:
        """Cancel all, and wait for their end, at most so many seconds."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=within)

    async def idle(self) -> None:
        """Wait until there are none, those included that the others begin. Endless: they end by themselves."""
        while self._tasks:
            await asyncio.wait(self._tasks)
