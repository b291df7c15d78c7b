"""Signs of life for a client whose call is held, so that it neither gives up nor looks dead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio

from sayso.clients import has_progress
from sayso.mcp_server.context import CallContext


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
