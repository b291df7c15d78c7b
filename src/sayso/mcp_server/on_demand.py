"""The command tools of a stdio server, imported once there are tool files: most projects have none, and every agent
starts a server."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

from sayso.bridge import in_thread
from sayso.mcp_server.backend import Backend
from sayso.mcp_server.context import CallContext, Handler
from sayso.mcp_server.dispatcher import Dispatcher
from sayso.mcp_server.offer import CORE_ANSWERS, RUNNING, Offer
from sayso.protocol.results import ToolResult
from sayso.toolfiles.folder_watch import FolderWatch

if TYPE_CHECKING:
    from sayso.mcp_server.agent_commands import Notify
    from sayso.mcp_server.command_calls import CommandCalls, Result


class CommandsOnDemand:
    """Stands for the command tools until they are needed. `async with` it, as them."""

    def __init__(self, backend: Backend, offer: Offer, notify: Notify) -> None:
        self._backend, self._offer, self._notify = backend, offer, notify
        self._loading = asyncio.Lock()
        self._dispatcher: Dispatcher | None = None
        self._watching: asyncio.Task[None] | None = None
        self._stops = False
        self.loaded: CommandCalls | None = None

    async def __aenter__(self) -> CommandsOnDemand:
        if self._offer.has_catalog:
            await self._load()
        self._watching = asyncio.get_running_loop().create_task(self._watch())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._watching:
            self._watching.cancel()
        if self.loaded:
            await (self.loaded.stop() if self._stops else self.loaded.leave())

    def stop_on_leaving(self) -> None:
        """The server was told to end: take every command along instead of letting them go on."""
        self._stops = True

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """What serves the methods beyond tools."""
        return {method: partial(self._serve, method) for method in RUNNING if method not in CORE_ANSWERS}

    def speak_to(self, dispatcher: Dispatcher) -> None:
        """The client is there, and can be told things from now on."""
        self._dispatcher = dispatcher
        if self.loaded:
            self.loaded.dispatcher = dispatcher

    def serves(self, name: str) -> bool:
        return self.loaded is not None and self.loaded.serves(name)

    async def call(self, ctx: CallContext) -> Result:
        return await (await self._load()).call(ctx)

    def meet(self) -> None:
        if self.loaded:
            self.loaded.meet()

    async def put_news_first(self, ctx: CallContext, answer: ToolResult) -> None:
        if self.loaded:
            await self.loaded.put_news_first(ctx, answer)

    async def _serve(self, method: str, ctx: CallContext) -> Mapping[str, Any]:
        return await (await self._load()).handlers[method](ctx)

    async def _load(self) -> CommandCalls:
        async with self._loading:
            if self.loaded is None:
                from sayso.mcp_server.command_calls import CommandCalls

                self.loaded = CommandCalls(self._backend, self._offer, self._notify)
                self.loaded.dispatcher = self._dispatcher
            return self.loaded

    async def _watch(self) -> None:
        """Endless until the server ends: look at tool files that have changed or were trusted, once there are any."""
        config = self._backend.config
        with FolderWatch([*config.tools_dirs, config.trust_dir]) as watched:
            while True:
                await in_thread(watched.arm)
                if self.loaded or self._offer.has_files():
                    await (await self._load()).look()
                await watched.wait()
