"""While a call is held: signs of life for its client, so that it neither gives up nor looks dead, and a timely end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio

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
) -> AsyncIterator[anyio.CancelScope]:
    """Around what a call waits for: it ends without a word when its client's patience does, after `limit` seconds, or
    when this process stops. `beside` is done meanwhile."""
    trouble: SaysoError | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(beat, ctx, ctx.meta, backend.config.heartbeat, waited_ms)
        if beside:
            tasks.start_soon(beside)
        with anyio.move_on_after(limit) as patience, backend.until_stopped(patience):
            try:
                yield patience
            except SaysoError as error:
                # Told afterwards: a task group would make a group of it.
                trouble = error
        tasks.cancel_scope.cancel()
    if trouble:
        raise trouble


async def beat(
    ctx: CallContext, meta: Mapping[str, Any], every_ms: int, waited_ms: int = 0, total: int | None = None
) -> None:
    """Endless until cancelled. The number only rises, also over the rounds of one call: `waited_ms` were before.
    `total` is for how many seconds the call is held at most."""
    if not has_progress(meta):
        return
    begun = anyio.current_time() - max(waited_ms, 0) / 1000
    while True:
        await anyio.sleep(every_ms / 1000)
        waited = anyio.current_time() - begun
        await ctx.progress(round(waited, 3), total, f"Waiting for the user, {waited:.0f} s")
