"""What a client is told outside its calls, in both protocol eras: changed tools, changed operations, late results.

Handshake clients are sent notifications; from 2026-07-28 on they reach those who opened `subscriptions/listen`.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable

import anyio
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)

from sayso.mcp_server.caller import Context
from sayso.mcp_server.elicit import is_modern

logger = logging.getLogger(__name__)


class Push:
    """Tells the one client of a stdio server."""

    def __init__(self) -> None:
        bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(bus)
        self._bus = bus
        self._session: ServerSession | None = None
        self._subscribed: set[str] = set()

    def meet(self, ctx: Context) -> None:
        """Remember how to reach a handshake client."""
        if not is_modern(ctx):
            self._session = ctx.session

    def subscribe(self, uri: str) -> None:
        self._subscribed.add(uri)

    def unsubscribe(self, uri: str) -> None:
        self._subscribed.discard(uri)

    async def tools_changed(self) -> None:
        await self._bus.publish(ToolsListChanged())
        if self._session:
            await _sent(self._session.send_tool_list_changed())

    async def resources_changed(self) -> None:
        await self._bus.publish(ResourcesListChanged())
        if self._session:
            await _sent(self._session.send_resource_list_changed())

    async def updated(self, uri: str) -> None:
        await self._bus.publish(ResourceUpdated(uri=uri))
        if self._session and uri in self._subscribed:
            await _sent(self._session.send_resource_updated(uri))

    async def late_progress(self, token: str | int, text: str) -> None:
        """The end of an operation as progress of the call that began it, which has long been answered."""
        if self._session:
            await _sent(self._session.send_progress_notification(token, 1.0, 1.0, text))


async def _sent(notification: Awaitable[None]) -> None:
    try:
        await notification
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        logger.debug("The client left before it could be told")
