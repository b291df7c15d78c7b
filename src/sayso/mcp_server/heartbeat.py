"""While a call is held: signs of life for its client, so that it neither gives up nor looks dead, and a timely end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from sayso.bridge import BackgroundTasks, Patience
from sayso.clients import has_progress
from sayso.mcp_server.backend import Backend
from sayso.mcp_server.context import CallContext


@asynccontextmanager
async def held_call(
    ctx: CallContext,
    backend: Backend,
    limit: float | None = None,
    waited_ms: int = 0,
    beside: Callable[[], Coroutine[Any, Any, None]] | None = None,
) -> AsyncIterator[Patience]:
    """Around what a call waits for: it ends without a word when its client's patience does, after `limit` seconds, or
    when this process stops. `beside` is done meanwhile."""
    meanwhile = BackgroundTasks()
    if has_progress(ctx.meta):
        meanwhile.start(beat(ctx, backend.config.heartbeat, waited_ms))
    if beside:
        meanwhile.start(beside())
    try:
        async with Patience(limit) as patience:
            with backend.until_stopped(patience):
                yield patience
    finally:
        await meanwhile.cancel()


async def beat(ctx: CallContext, every_ms: int, waited_ms: int = 0, total: int | None = None) -> None:
    """Endless until cancelled, for a client that wants to hear of progress. The number only rises, also over the rounds
    of one call: `waited_ms` were before. `total` is for how many seconds the call is held at most."""
    begun = time.monotonic() - max(waited_ms, 0) / 1000
    while True:
        await asyncio.sleep(every_ms / 1000)
        waited = time.monotonic() - begun
        await ctx.progress(round(waited, 3), total, f"Waiting for the user, {waited:.0f} s")
