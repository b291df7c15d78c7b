"""The server: hands calls to what serves each tool; on stdio, it ends when the client or the system says so."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from sayso.bridge import Patience
from sayso.config import RELAYED_PROFILE, Config
from sayso.dialects import tools
from sayso.dialects.dialect import AskTool, Tool
from sayso.dialects.profiles import Profile
from sayso.errors import ProtocolError
from sayso.mcp_server import elicit
from sayso.mcp_server.ask import AskCalls, Result
from sayso.mcp_server.backend import AskerOf, Backend
from sayso.mcp_server.caller import is_in_session, on_stdio
from sayso.mcp_server.collect import CollectCalls
from sayso.mcp_server.context import CallContext, Handler
from sayso.mcp_server.dispatcher import Dispatcher
from sayso.mcp_server.early import EarlyServer
from sayso.mcp_server.offer import Offer
from sayso.mcp_server.on_demand import CommandsOnDemand
from sayso.mcp_server.questions import QuestionCalls
from sayso.mcp_server.replies import fault
from sayso.mcp_server.run_link import RunLink
from sayso.mcp_server.transport import EarlyInput, StdioTransport
from sayso.protocol.connection import Connection
from sayso.protocol.messages import INVALID_PARAMS, Json
from sayso.protocol.results import InputRequired, ToolResult
from sayso.protocol.seal import Seal
from sayso.records import replace

if TYPE_CHECKING:
    from sayso.agents.relay_file import RelayFile
    from sayso.mcp_server.relay_calls import RelayCalls

logger = logging.getLogger(__name__)

Call = Callable[[CallContext], Awaitable[Result]]

_INBOX_INSTEAD = " Call ask_user instead: the user answers that in their inbox."


class Calls:
    """The tools that one server shows, and what serves each of them."""

    def __init__(
        self, offer: Offer, backend: Backend, commands: CommandsOnDemand | None = None, relay: RelayCalls | None = None
    ) -> None:
        self._offer, self._backend, self._commands, self._relay = offer, backend, commands, relay
        self._strict = offer.shown.strict
        self._seal = Seal(backend.secret, offer.shown.server_name)
        self._asks = AskCalls(backend, strict=self._strict)
        self._questions = QuestionCalls(backend, otherwise="" if self._strict else _INBOX_INSTEAD)
        self._collect = CollectCalls(backend)
        self._others: dict[str, Call] = {
            tools.GET_ANSWERS: self._collect.call,
            tools.QUESTION_ASK: self._questions.ask,
            tools.QUESTION_SUMMARY: self._questions.summarize,
        }
        if backend.config.approve:
            # Only then, as with all that few servers need.
            from sayso.mcp_server.approvals import NAME, ApproveCalls

            self._others[NAME] = ApproveCalls(backend).call

    async def list(self, ctx: CallContext) -> Json:
        self._meet(ctx)
        return self._offer.listed(ctx.client)

    async def call(self, ctx: CallContext) -> Json:
        """Every end is a result, unless there is no such tool or the client cannot do without it."""
        self._meet(ctx)
        self._open_round(ctx)
        try:
            tool = await self._tool(ctx)
            told = await self._serving(tool, ctx)
            if tool and isinstance(told, ToolResult):
                await self._add_news(tool, ctx, told)
        except ProtocolError:
            raise
        except Exception:
            # The top: an agent must always hear that nothing came of its call, and never see our insides.
            logger.exception("Session failed: a call of %s ended in a fault", ctx.tool)
            told = fault(self._offer.tool(ctx.client, ctx.tool))
        self._backend.note_at_work(self._backend.asker_of(ctx))
        if isinstance(told, InputRequired):
            told.state = self._seal.seal(told.state, ctx.params, self._holder(ctx))
        return told if isinstance(told, dict) else told.on_the_wire()

    def _meet(self, ctx: CallContext) -> None:
        if self._commands and not ctx.comes_again:
            self._commands.meet()

    def _open_round(self, ctx: CallContext) -> None:
        """See that what the client brings back of an earlier round is ours and in order."""
        if (sealed := ctx.params.get("requestState")) is not None:
            ctx.state = self._seal.open(sealed, ctx.params, self._holder(ctx))
        elicit.brought_back(ctx)

    def _holder(self, ctx: CallContext) -> str:
        """Whom a round of a call belongs to: on HTTP the agent whose token it is."""
        return self._backend.asker_of(ctx).agent

    async def _tool(self, ctx: CallContext) -> Tool | None:
        """The tool that is called; None for a command."""
        if not self._relay:
            await self._collect.meet(ctx)
            self._backend.note_at_work(self._backend.asker_of(ctx))
        if self._commands and self._commands.serves(ctx.tool):
            return None
        tool = self._offer.tool(ctx.client, ctx.tool)
        if tool is None:
            names = ", ".join(tool.name for tool in self._offer.tools(ctx.client))
            raise ProtocolError(INVALID_PARAMS, f"There is no tool {ctx.tool!r}. The tools are {names}.")
        return tool

    def _serving(self, tool: Tool | None, ctx: CallContext) -> Awaitable[Result | Json]:
        """What is awaited by whoever calls this: each frame of a call that waits takes its memory."""
        if tool is None:
            assert self._commands
            return self._commands.call(ctx)
        if not isinstance(tool, AskTool):
            return self._others[tool.name](ctx)
        return self._relay.call(tool, ctx) if self._relay else self._asks.call(tool, ctx)

    async def _add_news(self, tool: Tool, ctx: CallContext, told: ToolResult) -> None:
        """What else this agent is owed: late answers, unless it has just been given those, and results of commands."""
        if self._strict or tool.for_permissions or (self._relay and isinstance(tool, AskTool)):
            return
        try:
            if tool.name != tools.GET_ANSWERS:
                await self._collect.mention(ctx, told)
            if self._commands:
                await self._commands.put_news_first(ctx, told)
        except Exception:  # the outcome counts as handed over with this result, whatever becomes of an addition to it
            logger.exception("Could not look for what else the agent is owed")


class McpServer:
    """What serves the methods of the protocol, for however many connections."""

    def __init__(
        self, offer: Offer, backend: Backend, commands: CommandsOnDemand | None = None, relay: RelayCalls | None = None
    ) -> None:
        calls = Calls(offer, backend, commands, relay)
        self._offer = offer
        self.handlers: dict[str, Handler] = {"tools/list": calls.list, "tools/call": calls.call}
        if commands:
            self.handlers |= commands.handlers

    def connect(self) -> Connection:
        return self._offer.connect()


def build(shown: Profile, backend: Backend) -> McpServer:
    """A server for many clients: it shows no commands, whose results are for one client."""
    return McpServer(Offer(backend.config, replace(shown, commands="")), backend)


async def serve_stdio(
    config: Config, offer: Offer, fds: tuple[int, int], early: EarlyServer, relay: RelayFile | None = None
) -> None:
    """Go on with the client on stdin and stdout until it leaves or a signal comes. Where its agent was told of a relay,
    the questions of the profile that knows relays go through that."""
    link = RunLink(relay.stream_token) if relay else None
    asker_of = on_stdio(config, link)
    relayed = _relayed(config, relay, asker_of) if relay and config.profile == RELAYED_PROFILE else None
    backend = Backend(config, asker_of=asker_of, link=link, lives=is_in_session)
    transport = StdioTransport(read_fd=fds[0], write_fd=fds[1])
    async with backend, _commands(offer, backend) as commands, Patience() as serving:
        # What was imported stays. Looking through it again and again costs more than all that is made from here on.
        gc.freeze()
        gc.enable()

        def ready(dispatcher: Dispatcher) -> None:
            if commands:
                commands.speak_to(dispatcher)
                if early.listed and early.connection.shook_hands:
                    commands.meet()

        heard = EarlyInput(events=early.left, lines=early.lines, cutter=early.cutter)
        handlers = McpServer(offer, backend, commands, relayed).handlers
        with _ended_by_signals(serving, commands):
            await transport.serve(early.connection, handlers, heard=heard, ready=ready)


def _relayed(config: Config, relay: RelayFile, asker_of: AskerOf) -> RelayCalls:
    # Only now, as with all that few servers need.
    from sayso.mcp_server.relay_calls import RelayCalls

    return RelayCalls(config, relay, asker_of)


@asynccontextmanager
async def _commands(offer: Offer, backend: Backend) -> AsyncIterator[CommandsOnDemand | None]:
    """The command tools, where the profile has any."""
    if not offer.shown.commands:
        yield None
        return
    async with CommandsOnDemand(backend, offer, AskCalls(backend, strict=offer.shown.strict).notify) as commands:
        yield commands


@contextmanager
def _ended_by_signals(serving: Patience, commands: CommandsOnDemand | None) -> Iterator[None]:
    def stop(number: signal.Signals) -> None:
        logger.info("Stopping on %s", number.name)
        if commands:
            commands.stop_on_leaving()
        serving.end()

    loop, numbers = asyncio.get_running_loop(), (signal.SIGINT, signal.SIGTERM)
    for number in numbers:
        loop.add_signal_handler(number, stop, number)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
