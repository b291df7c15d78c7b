"""The server on stdio: lists the profile's tools, hands calls on, and ends when the client or the system says so."""

from __future__ import annotations

import gc
import logging
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError

from sayso.config import Config
from sayso.dialects import get_answers, swissarmyhammer
from sayso.dialects.dialect import AskTool, Tool
from sayso.dialects.profiles import Profile, profile
from sayso.mcp_server.ask import AskCalls, Result
from sayso.mcp_server.caller import Context, on_stdio
from sayso.mcp_server.collect import CollectCalls
from sayso.mcp_server.office import Office
from sayso.mcp_server.questions import QuestionCalls
from sayso.mcp_server.replies import fault
from sayso.mcp_server.seal import StoreSeal
from sayso.mcp_server.transport import StdioTransport

if TYPE_CHECKING:
    from sayso.mcp_server.commands import CommandCalls

logger = logging.getLogger(__name__)

Call = Callable[[Context, types.CallToolRequestParams], Awaitable[Result]]

STATE_LIFE = 36_500 * 86_400.0
"""Seconds that a client may take to come back with a filled-in form: for ever, as far as people go."""


class Calls:
    """The tools that one server shows, and what serves each of them."""

    def __init__(self, shown: Profile, office: Office, commands: CommandCalls | None) -> None:
        self._shown, self._commands = shown, commands
        self._asks = AskCalls(office, strict=shown.strict)
        self._questions = QuestionCalls(office)
        self._collect = CollectCalls(office)
        self._others: Mapping[str, Call] = {
            get_answers.NAME: self._collect.call,
            swissarmyhammer.ASK: self._questions.ask,
            swissarmyhammer.SUMMARY: self._questions.summarize,
        }

    def listed(self, ctx: Context) -> list[Tool]:
        """The tools that this client can use."""
        asking = [tool for tool in self._shown.tools if not tool.needs_form or self._questions.listed(ctx)]
        return [*asking, *(self._commands.listed(ctx) if self._commands else ())]

    async def call(self, ctx: Context, params: types.CallToolRequestParams) -> Result | dict[str, Any]:
        """Every end is a result, unless there is no such tool or the client cannot do without it."""
        try:
            if self._commands and self._commands.serves(params.name):
                return await self._commands.call(ctx, params)
            return await self._serve(self._tool(ctx, params.name), ctx, params)
        except MCPError:
            raise
        except Exception:
            # The top: an agent must always hear that nothing came of its call, and never see our insides.
            logger.exception("Session failed: a call of %s ended in a fault", params.name)
            return fault()

    def _tool(self, ctx: Context, name: str) -> Tool:
        tool = self._shown.tool(name)
        if tool is None:
            known = ", ".join(tool.name for tool in self.listed(ctx))
            raise MCPError(code=types.INVALID_PARAMS, message=f"There is no tool {name!r}. The tools are {known}.")
        return tool

    async def _serve(self, tool: Tool, ctx: Context, params: types.CallToolRequestParams) -> Result:
        if not isinstance(tool, AskTool):
            told = await self._others[tool.name](ctx, params)
        else:
            told = await self._asks.call(tool, ctx, params)
        if isinstance(told, types.CallToolResult) and not self._shown.strict and tool.name != get_answers.NAME:
            await self._collect.mention(ctx, told)
        return told


def build(shown: Profile, office: Office, commands: CommandCalls | None = None) -> Server[None]:
    """The SDK's server with our tools on it."""
    calls = Calls(shown, office, commands)

    async def list_tools(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        tools = [_definition(tool) for tool in calls.listed(ctx)]
        return types.ListToolsResult(tools=tools, ttl_ms=0, cache_scope="private")

    server = Server(
        shown.server_name,
        version=shown.server_version,
        instructions=shown.instructions,
        lifespan=_no_lifespan,
        on_list_tools=list_tools,
    )
    # Not as `on_call_tool`, which knows no results but the core's: an extension may bring its own.
    server.add_request_handler("tools/call", types.CallToolRequestParams, calls.call)
    sealed = RequestStateSecurity(codec=StoreSeal(office.secret), ttl=STATE_LIFE)
    server.middleware.append(RequestStateBoundary(sealed, default_audience=shown.server_name))
    if commands:
        commands.register(server)
    return server


async def serve_stdio(config: Config, claimed: tuple[int, int] | None = None) -> None:
    """Serve one client on stdin and stdout until it leaves or a signal comes."""
    # What was imported stays. Looking through all of it again and again costs more than all that is made from here on.
    gc.freeze()
    transport = StdioTransport.over(*claimed) if claimed else StdioTransport.claim()

    def after_write(ctx: Context, tell: Callable[[bool], None]) -> None:
        if ctx.request_id is not None:
            transport.after_write(ctx.request_id, partial(tell, True), otherwise=partial(tell, False))

    def if_cancelled(ctx: Context, tell: Callable[[], None]) -> None:
        if ctx.request_id is not None:
            transport.after_write(ctx.request_id, _nothing, otherwise=tell)

    shown = profile(config)
    office = Office(config, asker_of=on_stdio(config), after_write=after_write, if_cancelled=if_cancelled)
    async with office, _commands(shown, office) as commands, anyio.create_task_group() as tasks:
        tasks.start_soon(_stop_on_signal, tasks.cancel_scope, commands)
        async with transport.streams() as (incoming, outgoing):
            server = build(shown, office, commands)
            changing = NotificationOptions(tools_changed=bool(commands), resources_changed=bool(commands))
            await server.run(incoming, outgoing, server.create_initialization_options(changing))
        tasks.cancel_scope.cancel()


def _nothing() -> None:
    """What is to be done about a response that was written as it should be."""


@asynccontextmanager
async def _commands(shown: Profile, office: Office) -> AsyncIterator[CommandCalls | None]:
    """The command tools, where the profile has any."""
    if not shown.commands:
        yield None
        return
    # Only now: it takes its time to import, and a fast start is a feature.
    from sayso.mcp_server.commands import CommandCalls

    async with CommandCalls(office, shown, AskCalls(office, strict=shown.strict).notify) as commands:
        yield commands


async def _stop_on_signal(scope: anyio.CancelScope, commands: CommandCalls | None) -> None:
    """Endless: ends with the task group it stops."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for number in signals:
            logger.info("Stopping on %s", signal.Signals(number).name)
            if commands:
                commands.stop_on_leaving()
            scope.cancel()


@asynccontextmanager
async def _no_lifespan(_: Server[None]) -> AsyncIterator[None]:
    yield None


def _definition(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title or None,
        description=tool.description,
        input_schema=dict(tool.schema),
        annotations=types.ToolAnnotations.model_validate(tool.annotations),
        _meta={"anthropic/alwaysLoad": True} if tool.always_loaded else None,
    )
