"""A chat service on loopback: an application with an event loop of its own, in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, TypeVar

from aiohttp import web

T = TypeVar("T")
WAIT = 60.0
"""Seconds after which what has not come never will."""


class Served:
    """What services have in common: requests are handled in their loop, tests look at it and act from outside."""

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop
        self.port = 0
        self.news: SimpleQueue[Any] = SimpleQueue()
        """What was sent, changed or said, in the order in which it came."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def routes(self) -> list[web.AbstractRouteDef]:
        raise NotImplementedError

    def begin(self) -> None:
        """Forget what belongs to a loop that has ended."""

    def next(self, wait: float = WAIT) -> Any:
        return self.news.get(timeout=wait)

    def has_news(self) -> bool:
        return not self.news.empty()

    def soon(self, work: Callable[[], T]) -> T:
        """Do something in the loop, and wait for it."""

        async def one() -> T:
            return work()

        return asyncio.run_coroutine_threadsafe(one(), self.loop).result(timeout=WAIT)

    async def _run(self, ready: threading.Event, stop: asyncio.Event) -> None:
        app = web.Application()
        app.add_routes(self.routes())
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self.port)
        await site.start()
        self.port = runner.addresses[0][1]
        ready.set()
        await stop.wait()
        await runner.cleanup()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    @contextmanager
    def running(self) -> Iterator[None]:
        """May be entered again at the same port, as a service that was away."""
        self.loop, ready, stop = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
        self.begin()
        thread = threading.Thread(target=lambda: self.loop.run_until_complete(self._run(ready, stop)), daemon=True)
        thread.start()
        assert ready.wait(WAIT)
        try:
            yield
        finally:
            self.loop.call_soon_threadsafe(stop.set)
            thread.join(timeout=WAIT)
            self.loop.close()
