"""What a client is told outside its results, in both protocol eras: changed tools and operations, late results, and
what is wrong with tool files or what a running command reports, as log messages.

Handshake clients are sent notifications; from 2026-07-28 on they reach those who opened `subscriptions/listen`, and log
messages those who asked for them with a call that is still open.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import get_args

import anyio
import mcp_types as types
from mcp.server.lowlevel.server import Server
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

_LEVELS: tuple[types.LoggingLevel, ...] = get_args(types.LoggingLevel)
_WANTED_LEVEL = "io.modelcontextprotocol/logLevel"


class Push:
    """Tells the one client of a stdio server."""

    def __init__(self) -> None:
        bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(bus)
        self._bus = bus
        self._session: ServerSession | None = None
        self._subscribed: set[str] = set()
        self._least: types.LoggingLevel = _LEVELS[0]
        self._calls: list[Context] = []

    def register(self, server: Server[None]) -> None:
        server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, self.listen)
        server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, self._set_level)

    async def _set_level(self, _: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
        self._least = params.level
        return types.EmptyResult()

    def meet(self, ctx: Context) -> bool:
        """Remember how to reach a handshake client; whether it was not known before."""
        if is_modern(ctx):
            return False
        known, self._session = self._session, ctx.session
        return known is None

    @contextmanager
    def during(self, ctx: Context) -> Iterator[None]:
        """While this call is open, its client can be sent log messages with it."""
        self._calls.append(ctx)
        try:
            yield
        finally:
            self._calls.remove(ctx)

    async def say(self, level: types.LoggingLevel, about: str, text: str) -> None:
        """Send a log message to whoever wants such: on 2026-07-28 once, with the latest open call that asks for it."""
        message = types.LoggingMessageNotification(
            params=types.LoggingMessageNotificationParams(level=level, logger=f"sayso.{about}", data=text)
        )
        if self._session and _LEVELS.index(level) >= _LEVELS.index(self._least):
            await _sent(self._session.send_notification(message))
        for ctx in [ctx for ctx in reversed(self._calls) if _wants(ctx, level)][:1]:
            await _sent(ctx.session.send_notification(message, related_request_id=ctx.request_id))

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


def _wants(ctx: Context, level: types.LoggingLevel) -> bool:
    wanted = dict(ctx.meta or {}).get(_WANTED_LEVEL)
    return is_modern(ctx) and wanted in _LEVELS and _LEVELS.index(level) >= _LEVELS.index(wanted)


async def _sent(notification: Awaitable[None]) -> None:
    try:
        await notification
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        logger.debug("The client left before it could be told")
