"""Calls of the tools that tool files give: what is listed, how a call becomes an operation, how it is answered."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from functools import partial

from sayso.asks.model import OUT_OF_TIME
from sayso.bridge import Patience, in_thread, seen_through
from sayso.clients import call_limit
from sayso.clock import now_ms
from sayso.dialects import ahma, operation_replies
from sayso.errors import InvalidInput, SaysoError
from sayso.mcp_server.agent_commands import AgentCommands, Notify
from sayso.mcp_server.backend import Backend
from sayso.mcp_server.context import CallContext, Handler
from sayso.mcp_server.dispatcher import Dispatcher
from sayso.mcp_server.offer import Offer
from sayso.mcp_server.operation_calls import OperationCalls
from sayso.mcp_server.operation_resources import LEFT_OUT_URI, OperationResources, uri_of
from sayso.mcp_server.replies import result
from sayso.mcp_server.tasks import Tasks
from sayso.operations.approval import CANCELLED
from sayso.operations.job import Job
from sayso.operations.operation import Operation, OperationState
from sayso.operations.order import Order
from sayso.operations.supervisor import SAY_SO, OperationSupervisor
from sayso.protocol.connection import Connection, Send
from sayso.protocol.messages import Json
from sayso.protocol.results import ToolResult
from sayso.toolfiles.catalog import CommandTool
from sayso.toolfiles.guidance import start_hint

logger = logging.getLogger(__name__)

FIRST_MOMENT = 10.0
"""Seconds that a background call waits at most to hear that its command runs, or could not be started."""

NEWS_SHARE = 4
"""What has ended meanwhile is told with a fourth of the usual output, or less where there is much of it."""

LEAST_NEWS = 512

Result = ToolResult | Json


class CommandCalls:
    """Serves the command tools of a stdio server's one client. End it with `leave` or `stop`."""

    def __init__(self, backend: Backend, offer: Offer, notify: Notify) -> None:
        self._backend, self._offer, self._config = backend, offer, backend.config
        self.catalog = offer.catalog
        self.dispatcher: Dispatcher | None = None
        """The client, once it is there and can be told things."""
        self._commands = AgentCommands(backend, self.catalog, notify, self._observe)
        self._operations = OperationCalls(self._commands, self.catalog)
        self._resources = OperationResources(self._commands, self.catalog)
        self._tasks = Tasks(self._commands)
        self._tokens: dict[str, str | int] = {}
        self._held: dict[str, CallContext] = {}
        """The open calls that wait for their commands."""
        self._met = False
        self.leave, self.stop = self._commands.leave, self._commands.stop

    # What there is

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """What serves the methods beyond tools."""
        return {**self._resources.handlers, **self._tasks.handlers}

    def serves(self, name: str) -> bool:
        return name in self.catalog.loaded.tools or (name in ahma.NAMES and self._offer.shows_commands)

    def meet(self) -> None:
        """A client that comes for the first time hears which tool files were left out."""
        if not self._met and self.catalog.loaded.faults:
            self._backend.send_out(self._say_what_is_left_out())
        self._met = True

    # Calls

    async def call(self, ctx: CallContext) -> Result:
        """Every end is a result; only a cancel is not."""
        answer = await self._answer(ctx)
        if isinstance(answer, ToolResult):
            await self.put_news_first(ctx, answer)
        return answer

    async def _answer(self, ctx: CallContext) -> Result:
        try:
            tool = self.catalog.loaded.tools.get(ctx.tool)
            return await (self._run(tool, ctx) if tool else self._operations.call(ctx))
        except InvalidInput as error:
            return result(operation_replies.refused(error))
        except SaysoError as error:
            logger.warning("A call of %s failed: %s", ctx.tool, error)
            return result(operation_replies.failed(error))

    async def _run(self, tool: CommandTool, ctx: CallContext) -> Result:
        order = Order(tool=tool, arguments=ctx.arguments, asker=self._backend.asker_of(ctx))
        supervisor = await self._commands.supervisor()
        job = await supervisor.start(order)
        if not job.operation.background:
            return await self._wait_for(supervisor, job, ctx)
        async with Patience(FIRST_MOMENT):
            await job.under_way.wait()
        if self._tasks.wanted(ctx):
            return self._tasks.handle(job.operation)
        said = tool.leaf.settings.inline_ms
        async with Patience((self._config.inline_ms if said is None else said) / 1000):
            await asyncio.shield(job.end)
        return await self._first_reply(job, tool, ctx)

    async def _wait_for(self, supervisor: OperationSupervisor, job: Job, ctx: CallContext) -> ToolResult:
        """The result of a command that is waited for. A client that lets go of the call ends the command."""
        self._held[job.id] = ctx
        try:
            if not await self._decided_in_time(job, ctx):
                job.dropped_because = OUT_OF_TIME
                job.dropped.set()
            operation = await asyncio.shield(job.end)
        except asyncio.CancelledError:
            await seen_through(supervisor.cancel(job.id, "the client, which let go of the call"))
            raise
        finally:
            del self._held[job.id]
        if operation.status and operation.status.text == CANCELLED:
            text = "Not run: nobody allowed it while this call could wait. Call again to ask once more."
            return result(operation_replies.failed(text))
        return result(operation_replies.direct_result(await self._commands.report(operation)))

    async def _decided_in_time(self, job: Job, ctx: CallContext) -> bool:
        """Whether no person was still being asked when the client's patience ended. What was allowed is seen through,
        however long it takes to start."""
        limit = call_limit(job.operation.asker.client, ctx.meta, self._config)
        async with Patience(limit if job.operation.state is OperationState.QUEUED else None):
            await job.running.wait()
        return job.running.is_set() or job.waits_for != SAY_SO

    async def _first_reply(self, job: Job, tool: CommandTool, ctx: CallContext) -> ToolResult:
        operation = job.operation
        never_ran = operation.status is not None and operation.status.reason == "spawn_failed"
        inline = tool.leaf.settings.inline_ms if tool.leaf.settings.inline_ms is not None else self._config.inline_ms
        if operation.state.ended and (inline or never_ran):
            reply, told = operation_replies.result(await self._commands.report(operation)), [operation]
        else:
            reply, told = operation_replies.started(operation, start_hint(tool.file, tool.leaf), job.waits_for), []
            self._promise_progress(job, ctx)
        self._commands.hand_over(ctx, told)
        return result(reply)

    async def put_news_first(self, ctx: CallContext, answer: ToolResult) -> None:
        """Put the results that the agent has not heard of in front of a reply, whichever tool's it is."""
        try:
            if self._offer.shows_commands and await self._commands.has_news(self._backend.asker_of(ctx)):
                await self._put_first(ctx, answer)
        except SaysoError as error:  # the reply itself counts as handed over, whatever becomes of an addition to it
            logger.warning("Could not look for results of commands: %s", error)

    async def _put_first(self, ctx: CallContext, answer: ToolResult) -> None:
        asker = self._backend.asker_of(ctx)
        told = answer.data or {}
        own: list[Json] = told.get("finished", [])
        owed = await self._commands.owed(asker, but=[str(each.get("id", "")) for each in (told, *own)])
        limit = max(LEAST_NEWS, self._config.reply_bytes // max(NEWS_SHARE, len(owed)))
        reports = [await self._commands.report(operation, limit) for operation in owed]
        text, facts = operation_replies.news(reports, await self._commands.alerts(asker))
        if text:
            answer.say_before(text)
            if answer.data is not None:
                finished = [*own, *facts.get("finished", [])]
                answer.data = {**told, **facts, **({"finished": finished} if finished else {})}
            self._commands.hand_over(ctx, owed)

    # Telling

    def _promise_progress(self, job: Job, ctx: CallContext) -> None:
        """A handshake client that gave a token hears of the end after its reply; only the strict profile does that."""
        token = ctx.request.progress_token
        if self._offer.shown.strict and not ctx.comes_again and token is not None:
            ctx.when_written(partial(self._owe_progress, job, token))

    def _owe_progress(self, job: Job, token: str | int, written: bool) -> None:
        if written:
            self._tokens[job.id] = token
            if job.operation.state.ended:
                self._backend.send_out(self._late_progress(job.operation))

    async def _say_what_is_left_out(self) -> None:
        faults = self.catalog.loaded.faults
        text = operation_replies.left_out(faults) if faults else "All tool files are in order again."
        await self._tell(lambda client: client.log("error" if faults else "info", "sayso.toolfiles", text))

    def _observe(self, job: Job) -> None:
        if job.operation.background:
            self._backend.send_out(self._announce(job))
        if lines := list(job.new_alerts):
            job.new_alerts.clear()
            self._backend.send_out(self._report(job, lines))

    async def _report(self, job: Job, lines: list[str]) -> None:
        """What a running command reports, while it runs: as a log message, and as progress of the call that waits."""
        text = "\n".join([f"{job.operation.tool} (operation {job.id}) reports:", *lines])
        await self._tell(lambda client: client.log("warning", "sayso.operations", text))
        if ctx := self._held.get(job.id):
            now = job.operation.lasted_ms(now_ms()) / 1000
            await ctx.progress(now, None, text)

    async def _announce(self, job: Job) -> None:
        operation = job.operation
        await self._tell(lambda client: client.updated(uri_of(operation.id)), Connection.resources_changed)
        if operation.state.ended:
            await self._late_progress(operation)

    async def _late_progress(self, operation: Operation) -> None:
        if (token := self._tokens.pop(operation.id, None)) is not None:
            reply = operation_replies.result(await self._commands.report(operation))
            await self._tell(lambda client: client.late_progress(token, reply.text))

    async def look(self) -> None:
        """Load changed tool files and tell the client."""
        before = await in_thread(self.catalog.look)
        if before is None:
            return
        now = self.catalog.loaded
        self._offer.refresh()
        if now.tools != before.tools or bool(now.files) != bool(before.files):
            await self._tell(Connection.tools_changed)
        if now.faults != before.faults:
            await self._tell(lambda client: client.updated(LEFT_OUT_URI), Connection.resources_changed)
            await self._say_what_is_left_out()

    async def _tell(self, *news: Callable[[Connection], list[Send]]) -> None:
        """Tell the client something outside its results, if it is there. How is the connection's business."""
        if dispatcher := self.dispatcher:
            for each in news:
                await dispatcher.send(each(dispatcher.connection))
