"""The server on stdio: lists the profile's tools, hands calls on, and ends when the client or the system says so."""

from __future__ import annotations

import gc
import logging
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.runner import serve_loop
from mcp.shared.exceptions import MCPError
from opentelemetry import trace

from sayso.clients import known
from sayso.config import RELAYED_PROFILE, Config
from sayso.dialects import approve, get_answers, swissarmyhammer
from sayso.dialects.dialect import AskTool, Tool
from sayso.dialects.profiles import Profile, profile
from sayso.mcp_server.approvals import ApproveCalls
from sayso.mcp_server.ask import AskCalls, Result
from sayso.mcp_server.caller import Context, described, on_stdio
from sayso.mcp_server.collect import CollectCalls
from sayso.mcp_server.office import AskerOf, Office
from sayso.mcp_server.probed import StaysOpen, UntilHandshake
from sayso.mcp_server.questions import QuestionCalls
from sayso.mcp_server.replies import fault
from sayso.mcp_server.run_link import RunLink
from sayso.mcp_server.seal import StoreSeal
from sayso.mcp_server.transport import Inbound, Outbound, StdioTransport

if TYPE_CHECKING:
    from sayso.agents.relay_file import RelayFile
    from sayso.mcp_server.commands import CommandCalls
    from sayso.mcp_server.relay_calls import RelayCalls

logger = logging.getLogger(__name__)

Call = Callable[[Context, types.CallToolRequestParams], Awaitable[Result]]

STATE_LIFE = 36_500 * 86_400.0
"""Seconds that a client may take to come back with a filled-in form: for ever, as far as people go."""


_INBOX_INSTEAD = " Call ask_user instead: the user answers that in their inbox."


class Calls:
    """The tools that one server shows, and what serves each of them."""

    def __init__(
        self, shown: Profile, office: Office, commands: CommandCalls | None, relay: RelayCalls | None = None
    ) -> None:
        self._shown, self._commands, self._relay = shown, commands, relay
        self._asks = AskCalls(office, strict=shown.strict)
        self._questions = QuestionCalls(office, otherwise="" if shown.strict else _INBOX_INSTEAD)
        self._collect = CollectCalls(office)
        self._others: Mapping[str, Call] = {
            get_answers.NAME: self._collect.call,
            swissarmyhammer.ASK: self._questions.ask,
            swissarmyhammer.SUMMARY: self._questions.summarize,
            approve.NAME: ApproveCalls(office).call,
        }

    def listed(self, ctx: Context) -> list[Tool]:
        """The tools that this client can use."""
        client = known(described(ctx).client)
        asking = [
            replace(tool, name=client.other_names.get(tool.name, tool.name))
            for tool in self._shown.tools
            if not tool.needs_form or (self._questions.listed(ctx) and not client.keeps_lists)
        ]
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
        ours = {other: ours for ours, other in known(described(ctx).client).other_names.items()}
        tool = self._shown.tool(ours.get(name, name))
        if tool is None:
            names = ", ".join(tool.name for tool in self.listed(ctx))
            raise MCPError(code=types.INVALID_PARAMS, message=f"There is no tool {name!r}. The tools are {names}.")
        return tool

    async def _serve(self, tool: Tool, ctx: Context, params: types.CallToolRequestParams) -> Result:
        if not isinstance(tool, AskTool):
            told = await self._others[tool.name](ctx, params)
        elif self._relay:
            return await self._relay.call(tool, ctx, params)
        else:
            told = await self._asks.call(tool, ctx, params)
        if isinstance(told, types.CallToolResult) and not self._shown.strict and tool.name != approve.NAME:
            await self._add_news(tool, ctx, told)
        return told

    async def _add_news(self, tool: Tool, ctx: Context, told: types.CallToolResult) -> None:
        """What else this agent is owed: late answers, unless it has just been given those, and results of commands."""
        try:
            if tool.name != get_answers.NAME:
                await self._collect.mention(ctx, told)
            if self._commands:
                await self._commands.put_news_first(ctx, told)
        except Exception:  # the outcome counts as handed over with this result, whatever becomes of an addition to it
            logger.exception("Could not look for what else the agent is owed")


def build(
    shown: Profile, office: Office, commands: CommandCalls | None = None, relay: RelayCalls | None = None
) -> Server[None]:
    """The SDK's server with our tools on it."""
    calls = Calls(shown, office, commands, relay)

    async def list_tools(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        tools = [_definition(tool) for tool in calls.listed(ctx)]
        return types.ListToolsResult(tools=tools, ttl_ms=0, cache_scope="private")

    server = Server(
        shown.server_name,
        version=shown.server_version,
        instructions=shown.instructions,
        lifespan=_no_lifespan,
        # No tool has arguments that are to be in headers as well; else the SDK would list all tools before each call.
        get_tool_input_schema=_nothing_in_headers,
        on_list_tools=list_tools,
    )
    # Not as `on_call_tool`, which knows no results but the core's: an extension may bring its own.
    server.add_request_handler("tools/call", types.CallToolRequestParams, calls.call)
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        server.middleware.clear()  # spans that nobody collects cost a fifth of a call
    sealed = RequestStateSecurity(codec=StoreSeal(office.secret), ttl=STATE_LIFE)
    server.middleware.append(_Rounds(sealed, default_audience=shown.server_name))
    if commands:
        commands.register(server)
    return server


async def serve_stdio(config: Config, transport: StdioTransport, relay: RelayFile | None = None) -> None:
    """Serve one client on stdin and stdout until it leaves or a signal comes. Where its agent was told of a relay, the
    questions of the profile that knows relays go through that."""

    def after_write(ctx: Context, tell: Callable[[bool], None]) -> None:
        if ctx.request_id is not None:
            transport.after_write(ctx.request_id, partial(tell, True), otherwise=partial(tell, False))

    def if_cancelled(ctx: Context, tell: Callable[[], None]) -> None:
        if ctx.request_id is not None:
            transport.after_write(ctx.request_id, _nothing, otherwise=tell)

    shown = profile(config)
    link = RunLink(config, relay.stream_token) if relay else None
    asker_of = on_stdio(config, link)
    relayed = _relayed(config, relay, asker_of) if relay and config.profile == RELAYED_PROFILE else None
    office = Office(config, asker_of=asker_of, after_write=after_write, if_cancelled=if_cancelled, link=link)
    async with office, _commands(shown, office) as commands, anyio.create_task_group() as tasks:
        # What was imported stays. Looking through it again and again costs more than all that is made from here on.
        gc.freeze()
        gc.enable()
        tasks.start_soon(_stop_on_signal, tasks.cancel_scope, commands)
        if transport.replay and commands:
            transport.replay.on_other_answer = commands.say_that_tools_changed
        async with transport.streams() as (incoming, outgoing):
            server = build(shown, office, commands, relayed)
            changing = NotificationOptions(tools_changed=bool(commands), resources_changed=bool(commands))
            await _run(server, incoming, outgoing, server.create_initialization_options(changing))
        tasks.cancel_scope.cancel()


async def _run(server: Server[None], incoming: Inbound, outgoing: Outbound, options: InitializationOptions) -> None:
    """What `Server.run` does; but it puts a relay before every message, which takes a third of the time of a call, to
    see with which era of the protocol a client opens. For most that is plain to see from the first request."""
    opening = await incoming.opening()
    if opening and opening.method == "server/discover":
        probed = UntilHandshake(incoming)
        await server.run(probed, StaysOpen(outgoing), options)
        if not probed.handshake:
            return
    elif not opening or opening.method != "initialize":
        await server.run(incoming, outgoing, options)
        return
    server.middleware.insert(0, _refuse_other_era)
    await serve_loop(server, incoming, outgoing, lifespan_state=None, init_options=options)


class _Rounds(RequestStateBoundary):
    """Opens what a client hands back of an earlier round. A notification belongs to no round, and what is refused to
    one nobody would hear."""

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        if ctx.request_id is None:
            return await call_next(ctx)
        return await super().__call__(ctx, call_next)


async def _refuse_other_era(ctx: Context, call_next: CallNext) -> HandlerResult:
    is_request = ctx.request_id is not None and ctx.method != "initialize"
    if is_request and ctx.meta and types.PROTOCOL_VERSION_META_KEY in ctx.meta:
        text = "This session began with a handshake, so requests of the 2026-07-28 protocol are not served in it."
        raise MCPError(code=types.INVALID_REQUEST, message=text)
    return await call_next(ctx)


def _relayed(config: Config, relay: RelayFile, asker_of: AskerOf) -> RelayCalls:
    # Only now, as with all that few servers need.
    from sayso.mcp_server.relay_calls import RelayCalls

    return RelayCalls(config, relay, asker_of)


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


def _nothing_in_headers(_: str) -> None:
    """What of a tool's arguments is to be in the headers of its HTTP request."""


def _definition(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title or None,
        description=tool.description,
        input_schema=dict(tool.schema),
        annotations=types.ToolAnnotations.model_validate(tool.annotations),
        _meta={"anthropic/alwaysLoad": True} if tool.always_loaded else None,
    )
