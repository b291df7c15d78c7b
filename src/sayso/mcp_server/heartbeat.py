"""While a call is held: signs of life for its client, so that it neither gives up nor looks dead, and a timely end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any

from sayso.bridge import Patience
from sayso.clients import has_progress
from sayso.errors import SaysoError
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
    trouble: SaysoError | None = None
    async with asyncio.TaskGroup() as tasks:
        meanwhile = [tasks.create_task(beat(ctx, ctx.meta, backend.config.heartbeat, waited_ms))]
        if beside:
            meanwhile.append(tasks.create_task(beside()))
        async with Patience(limit) as patience:
            with backend.until_stopped(patience):
                try:
                    yield patience
                except SaysoError as error:
                    # Told afterwards: a task group would make a group of it.
                    trouble = error
        for each in meanwhile:
            each.cancel()
    if trouble:
        raise trouble


async def beat(
    ctx: CallContext, meta: Mapping[str, Any], every_ms: int, waited_ms: int = 0, total: int | None = None
) -> None:
    """Endless until cancelled. The number only rises, also over the rounds of one call: `waited_ms` were before.
    `total` is for how many seconds the call is held at most."""
    if not has_progress(meta):
        return
    begun = time.monotonic() - max(waited_ms, 0) / 1000
    while True:
        await asyncio.sleep(every_ms / 1000)
        waited = time.monotonic() - begun
        await ctx.progress(round(waited, 3), total, f"Waiting for the user, {waited:.0f} s")
