"""The server on stdio: lists the profile's tools, hands calls on, and ends when the client or the system says so."""

from __future__ import annotations

import logging
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial

import anyio
import mcp_types as types
from mcp.server.lowlevel.server import Server
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
from sayso.mcp_server.seal import StoreSeal
from sayso.mcp_server.transport import StdioTransport

logger = logging.getLogger(__name__)

Call = Callable[[Context, types.CallToolRequestParams], Awaitable[Result]]

STATE_LIFE = 7 * 86400.0
"""Seconds that a client may take to come back with a filled-in form."""


def build(shown: Profile, office: Office) -> Server[None]:
    """The SDK's server with our tools on it."""
    asks = AskCalls(office, strict=shown.strict)
    questions = QuestionCalls(office)
    others: Mapping[str, Call] = {
        get_answers.NAME: CollectCalls(office).call,
        swissarmyhammer.ASK: questions.ask,
        swissarmyhammer.SUMMARY: questions.summarize,
    }

    async def list_tools(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        tools = [tool for tool in shown.tools if not tool.needs_form or questions.listed(ctx)]
        return types.ListToolsResult(tools=[_definition(tool) for tool in tools], ttl_ms=0, cache_scope="private")

    async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> Result:
        tool = shown.tool(params.name)
        if tool is None:
            known = ", ".join(tool.name for tool in shown.tools)
            raise MCPError(
                code=types.INVALID_PARAMS, message=f"There is no tool {params.name!r}. The tools are {known}."
            )
        if isinstance(tool, AskTool):
            return await asks.call(tool, ctx, params)
        return await others[tool.name](ctx, params)

    server = Server(
        shown.server_name,
        version=shown.server_version,
        instructions=shown.instructions,
        lifespan=_no_lifespan,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    sealed = RequestStateSecurity(codec=StoreSeal(office.secret), ttl=STATE_LIFE)
    server.middleware.append(RequestStateBoundary(sealed, default_audience=shown.server_name))
    return server


async def serve_stdio(config: Config) -> None:
    """Serve one client on stdin and stdout until it leaves or a signal comes."""
    transport = StdioTransport.claim()

    def after_write(ctx: Context, tell: Callable[[bool], None]) -> None:
        if ctx.request_id is not None:
            transport.after_write(ctx.request_id, partial(tell, True), otherwise=partial(tell, False))

    office = Office(config, asker_of=on_stdio(config), after_write=after_write)
    async with office, anyio.create_task_group() as tasks:
        tasks.start_soon(_stop_on_signal, tasks.cancel_scope)
        async with transport.streams() as (incoming, outgoing):
            server = build(profile(config), office)
            await server.run(incoming, outgoing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _stop_on_signal(scope: anyio.CancelScope) -> None:
    """Endless: ends with the task group it stops."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for number in signals:
            logger.info("Stopping on %s", signal.Signals(number).name)
            scope.cancel()


@asynccontextmanager
async def _no_lifespan(_: Server[None]) -> AsyncIterator[None]:
    yield None


def _definition(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=dict(tool.schema),
        annotations=types.ToolAnnotations.model_validate(tool.annotations),
        _meta={"anthropic/alwaysLoad": True},
    )
