"""While a call is held: signs of life for its client, so that it neither gives up nor looks dead, and a timely end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from functools import partial
from types import TracebackType
from typing import Any, Self

from sayso.bridge import BackgroundTasks, Patience
from sayso.clients import has_progress
from sayso.mcp_server.backend import Backend
from sayso.mcp_server.context import CallContext


class ClientPatience(Patience):
    """Around what a call waits for: it ends without a word when its client's patience does, after `limit` seconds, or
    when this process stops. `beside` is done meanwhile."""

    __slots__ = ("_backend", "_meanwhile", "_request", "_work")

    def __init__(
        self,
        ctx: CallContext,
        backend: Backend,
        limit: float | None = None,
        waited_ms: int = 0,
        beside: Callable[[], Coroutine[Any, Any, None]] | None = None,
    ) -> None:
        super().__init__(limit)
        self._backend, self._request = backend, ctx.request
        self._work: tuple[Callable[[], Coroutine[Any, Any, None]], ...] = (beside,) if beside else ()
        if has_progress(ctx.meta):
            self._work += (partial(beat, ctx, backend.config.heartbeat, waited_ms),)
        self._meanwhile: BackgroundTasks | None = None

    async def __aenter__(self) -> Self:
        if self._work:
            self._meanwhile = BackgroundTasks()
            for work in self._work:
                self._meanwhile.start(work())
        self._request.keep_small()
        self._backend.end_when_stopping(self)
        return await super().__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        try:
            return await super().__aexit__(kind, error, trace)
        finally:
            self._backend.is_over(self)
            if self._meanwhile:
                await self._meanwhile.cancel()


async def beat(ctx: CallContext, every_ms: int, waited_ms: int = 0, total: int | None = None) -> None:
    """Endless until cancelled, for a client that wants to hear of progress. The number only rises, also over the rounds
    of one call: `waited_ms` were before. `total` is for how many seconds the call is held at most."""
    begun = time.monotonic() - max(waited_ms, 0) / 1000
    while True:
        await asyncio.sleep(every_ms / 1000)
        waited = time.monotonic() - begun
        await ctx.progress(round(waited, 3), total, f"Waiting for the user, {waited:.0f} s")
