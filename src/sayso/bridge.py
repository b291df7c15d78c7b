"""From the event loop to plain code and back: threads, the bell as an event, tasks beside the calls.

And what a cancel does here: what must be seen through is, and whoever was cancelled meanwhile notices at the next wait.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import partial
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar, TypeVarTuple, cast

from sayso.errors import SaysoError, StoreError
from sayso.store.bell import Bell, Listener

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0
"""Seconds until work is tried again: the first time, and the most that this grows to."""
_PAUSE_AFTER_FAULT = 1.0
"""Seconds until something endless that failed unexpectedly begins anew."""
_IDLE_SECONDS = 10.0
"""How long a thread without work is kept."""
_SINGLE_TRIPS = 16

WHEN_LOST = "sayso.when_lost"
"""Under this name our own web server gives each request what takes a function to call when its connection is lost."""


# Being cancelled


async def seen_through(work: Coroutine[Any, Any, T]) -> T:
    """What comes of work that is done to its end, however often whoever waits for it is cancelled."""
    return await _outlasting(asyncio.get_running_loop().create_task(work))


async def _outlasting(end: asyncio.Future[T], withdrawn: Callable[[], bool] = lambda: False) -> T:
    """The result of something that was begun, unless it can be withdrawn on a cancel. Otherwise that is noticed at the
    next wait: whoever gets the result may have to let go of it."""
    cancelled = False
    while not end.done():
        try:
            await asyncio.wait((end,))  # endless: whatever was begun has an end of its own
        except asyncio.CancelledError:
            if withdrawn():
                raise
            cancelled = True
    if cancelled:
        _cancel_again()
    return end.result()


async def notice_cancel() -> None:
    """Be cancelled here, if a cancel is yet to be noticed."""
    if _this_task().cancelling():
        await asyncio.sleep(0)


def _this_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task


def _cancel_again() -> None:
    """Have the next wait of this task notice a cancel that it was spared; it counts as one all the same."""
    task = _this_task()
    task.uncancel()
    task.cancel()


class Patience:
    """Around what is waited for: after so many seconds, or as soon as somebody calls `end`, it is left without a word.
    Good for one `async with`."""

    __slots__ = ("_cancels", "_seconds", "_task", "_timer", "over")

    def __init__(self, seconds: float | None = None) -> None:
        self.over = False
        """Whether it was ended, by the time or by somebody."""
        self._seconds = seconds
        self._task: asyncio.Task[Any] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._cancels = 0

    def end(self) -> None:
        if not self.over:
            self.over = True
            if self._task:
                self._task.cancel()

    async def __aenter__(self) -> Self:
        self._task = _this_task()
        self._cancels = self._task.cancelling()
        if self.over:
            self._task.cancel()
        elif self._seconds is not None:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self.end)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if self._timer:
            self._timer.cancel()
        task, self._task = self._task, None
        if not self.over or task is None:
            return False
        # A cancel that came too late for any wait inside must not meet the next one outside.
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(0)
        noticed = isinstance(error, asyncio.CancelledError)
        if task.uncancel() <= self._cancels:
            return noticed
        if not noticed:
            _cancel_again()  # somebody else wants this task to end
        return False


# Threads


class Threads:
    """Threads for plain code, so many at once. They start when needed, begin what they are given in order, and end when
    there was nothing to do for a while. An ending process does not wait for them."""

    def __init__(self, most: int, name: str = "sayso-work") -> None:
        self._most, self._name = most, name
        self._threads: set[threading.Thread] = set()
        self._to_do = 0
        """What was given and is not done: there is a thread for each, up to the most."""
        self._counting = threading.Lock()
        self._wanted: SimpleQueue[Callable[[], object] | None] = SimpleQueue()

    async def do(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What this plain code returns. Once begun it is never abandoned halfway."""
        await notice_cancel()
        # Whoever comes first takes it: the thread that begins it, or the cancel that withdraws it.
        first = partial(threading.Lock().acquire, blocking=False)

        def one() -> T:
            return work(*args, **kwargs) if first() else cast("T", None)

        return await _outlasting(self._end_of(one), first)

    async def look(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The same for what may be left to itself: whoever is cancelled does not wait for it, and it is done all the
        same."""
        return await self._end_of(partial(work, *args, **kwargs))

    def put(self, work: Callable[[], object]) -> None:
        """Have this done, without waiting for it. It must not raise."""
        with self._counting:
            self._to_do += 1
            if len(self._threads) < min(self._to_do, self._most):
                self._start_thread()
            self._wanted.put(work)

    def _start_thread(self) -> None:
        """One more. Where the system has none to give, those that are there have to do; without any, this fails."""
        thread = threading.Thread(target=self._serve, args=(self._wanted,), name=self._name, daemon=True)
        self._threads.add(thread)
        try:
            thread.start()
        except RuntimeError:
            self._threads.discard(thread)
            if not self._threads:
                self._to_do -= 1
                raise

    def close(self, patience: float = 0) -> None:
        """End the threads, once what they were given is done. That is waited for no longer than `patience` seconds."""
        with self._counting:
            threads, self._threads = self._threads, set()
            # What comes from now on is for others: they must not take the end that these are waiting for.
            wanted, self._wanted = self._wanted, SimpleQueue()
        for _ in threads:
            wanted.put(None)
        for thread in threads if patience else ():
            thread.join(timeout=patience)

    def _end_of(self, work: Callable[[], T]) -> asyncio.Future[T]:
        found: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        tell = from_threads(partial(_settle, found))

        def one() -> None:
            try:
                tell(work(), None)
            except BaseException as error:  # whoever waits is told
                tell(None, error)

        self.put(one)
        return found

    def _serve(self, wanted: SimpleQueue[Callable[[], object] | None]) -> None:
        """Until closed, or no longer needed."""
        while True:
            try:
                work = wanted.get(timeout=_IDLE_SECONDS)
            except Empty:
                if self._leaves():
                    return
                continue
            if work is None:
                return
            work()
            with self._counting:
                self._to_do -= 1

    def _leaves(self) -> bool:
        """Whether this thread may end: the others are enough, and it is not just being closed."""
        with self._counting:
            if len(self._threads) <= self._to_do or threading.current_thread() not in self._threads:
                return False
            self._threads.discard(threading.current_thread())
            return True


in_thread = Threads(_SINGLE_TRIPS).do
"""Single trips to a thread, for a file or a page."""


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


async def endless(what: str, work: Callable[[], Awaitable[None]]) -> None:
    """Do something that has no end until cancelled, and begin it anew whatever goes wrong in it: one fault that nobody
    thought of must not stop it for the rest of the process. `what` names it in the log."""
    while True:
        try:
            await work()
        except Exception:
            logger.exception("%s failed, and begins anew", what)
        await asyncio.sleep(_PAUSE_AFTER_FAULT)


def _settle(found: asyncio.Future[T], what: T, error: BaseException | None) -> None:
    if found.done():
        return
    if isinstance(error, StopIteration):
        # No future takes it: whoever waits would take it for an end of its own.
        error = RuntimeError(f"plain code raised {error!r}")
    found.set_result(what) if error is None else found.set_exception(error)


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
    listener = Listener(bell, from_threads(heard))
    try:
        yield
    finally:
        await seen_through(in_thread(listener.close))


class Rings:
    """The bell as an event: who takes `next` before looking at the store, and then waits for it, misses nothing."""

    def __init__(self) -> None:
        self.next = asyncio.Event()

    def ring(self) -> None:
        rung, self.next = self.next, asyncio.Event()
        rung.set()

    async def look_after_each(
        self, look: Callable[[], Awaitable[float | None]], what: str, *, gather: float, again: float
    ) -> None:
        """Endless until cancelled: look now, after each ring, and after as many seconds as the look has said. Rings
        within `gather` seconds join one look; one that the store does not let be is tried again `again` seconds later.
        `what` names it in the log."""
        while True:
            rung = self.next
            try:
                wait = await look()
            except SaysoError as error:
                logger.warning("Cannot look %s just now: %s", what, error)
                wait = again
            await asyncio.sleep(gather)
            async with Patience(wait):
                await rung.wait()


class LightEvent:
    """As `asyncio.Event`, in a tenth of the memory: of some there are several for each connection."""

    __slots__ = ("_is_set", "_waiting")

    def __init__(self, *, is_set: bool = False) -> None:
        self._is_set = is_set
        self._waiting: tuple[asyncio.Future[None], ...] = ()

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        self._is_set = True
        waiting, self._waiting = self._waiting, ()
        for each in waiting:
            if not each.done():
                each.set_result(None)

    def clear(self) -> None:
        self._is_set = False

    def wait(self) -> asyncio.Future[None]:
        """What is to be awaited. Endless by itself: whoever waits sets the limit."""
        rung: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._is_set:
            rung.set_result(None)
        else:
            # Those of others who were cancelled meanwhile are left out.
            self._waiting = (*(each for each in self._waiting if not each.done()), rung)
        return rung


class BackgroundTasks:
    """Tasks that nobody waits for until the end: `finish` or `cancel` them then. What goes wrong in one is logged."""

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
            task.add_done_callback(self._ended)

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
        """Wait until there are none, those included that the others begin. No limit of its own: every task ends by
        itself."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _ended(self, task: asyncio.Future[None]) -> None:
        self._tasks.discard(task)
        if task.cancelled() or (error := task.exception()) is None:
            return
        # What we raise on purpose says all in its text.
        trace = None if isinstance(error, SaysoError) else error
        logger.error("Something in the background ended too early: %s", error, exc_info=trace)
