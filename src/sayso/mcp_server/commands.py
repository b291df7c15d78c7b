"""Calls of the tools that tool files give: what is listed, how a call becomes an operation, how it is answered."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from types import TracebackType
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel.server import Server

from sayso.clients import OTHER_NAMES, call_limit
from sayso.clock import now_ms
from sayso.dialects import ahma, operation_replies
from sayso.dialects.dialect import ASK_TOOLS, Tool
from sayso.dialects.profiles import Profile
from sayso.errors import InvalidInput, SaysoError
from sayso.mcp_server.caller import Context
from sayso.mcp_server.elicit import is_modern
from sayso.mcp_server.office import Office
from sayso.mcp_server.operation_calls import OperationCalls
from sayso.mcp_server.operation_resources import LEFT_OUT_URI, OperationResources, uri_of
from sayso.mcp_server.push import Push
from sayso.mcp_server.replies import result
from sayso.mcp_server.tasks import Tasks
from sayso.mcp_server.works import Notify, Works
from sayso.operations.job import Job
from sayso.operations.operation import Operation, OperationState
from sayso.operations.order import Order
from sayso.operations.workshop import SAY_SO, Workshop
from sayso.toolfiles.catalog import Catalog, CommandTool, Stock
from sayso.toolfiles.changes import Changes
from sayso.toolfiles.guidance import start_hint

logger = logging.getLogger(__name__)

FIRST_MOMENT = 1.0
"""Seconds that a background call waits at most to hear that its command runs, or could not be started."""

NEWS_SHARE = 4
"""What has ended meanwhile is told with a fourth of the usual output, or less where there is much of it."""

LEAST_NEWS = 512

Result = types.CallToolResult | dict[str, Any]


class CommandCalls:
    """Serves the command tools of one server process. `async with` it: entering loads the tool files."""

    def __init__(self, office: Office, shown: Profile, notify: Notify) -> None:
        self._office, self._shown, self._config = office, shown, office.config
        own = {tool.name for tool in shown.tools} | {*ahma.NAMES, *ASK_TOOLS, *OTHER_NAMES}
        self.catalog = Catalog(self._config, reserved=own)
        self._push = Push()
        self._works = Works(office, self.catalog, notify, self._observe)
        self._operations = OperationCalls(self._works, self.catalog)
        self._resources = OperationResources(self._works, self.catalog, self._push)
        self._tasks = Tasks(self._works)
        self._listing: tuple[Stock | None, list[Tool]] = (None, [])
        self._tokens: dict[str, str | int] = {}
        self._held: dict[str, Context] = {}
        """The open calls that wait for their commands."""
        self._server: Server[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._end = self._works.leave

    async def __aenter__(self) -> CommandCalls:
        await anyio.to_thread.run_sync(self.catalog.load)
        self._watching = asyncio.get_running_loop().create_task(self._watch())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._watching:
            self._watching.cancel()
        await self._end()

    def stop_on_leaving(self) -> None:
        """The server was told to end: take every command along instead of letting them go on."""
        self._end = self._works.stop

    # What there is

    def register(self, server: Server[None]) -> None:
        """Put on the server what goes beyond tools."""
        self._server = server
        server.instructions = self.instructions()
        self._resources.register(server)
        self._tasks.register(server)
        self._push.register(server)

    def instructions(self) -> str:
        """What the profile says, and which tool files were left out."""
        stock = self.catalog.stock
        parts = [self._shown.instructions, self._shown.commands if self._shows(stock) else ""]
        if stock.faults:
            parts.append(operation_replies.left_out(stock.faults))
        return "\n\n".join(part for part in parts if part)

    def listed(self, ctx: Context) -> list[Tool]:
        """The tools for operations, and one for each command."""
        self._meet(ctx)
        stock, known = self._listing
        if stock is not self.catalog.stock:
            stock = self.catalog.stock
            known = [*ahma.tools(), *map(ahma.command_tool, stock.tools.values())] if self._shows(stock) else []
            self._listing = stock, known
        return known

    def serves(self, name: str) -> bool:
        stock = self.catalog.stock
        return name in stock.tools or (name in ahma.NAMES and self._shows(stock))

    def _shows(self, stock: Stock) -> bool:
        """Beside other tools, only where there are tool files."""
        return bool(stock.files) or self._shown.strict

    # Calls

    async def call(self, ctx: Context, params: types.CallToolRequestParams) -> Result:
        """Every end is a result; only a cancel is not."""
        self._meet(ctx)
        with self._push.during(ctx):
            answer = await self._answer(ctx, params)
        if isinstance(answer, types.CallToolResult):
            await self.put_news_first(ctx, answer)
        return answer

    async def _answer(self, ctx: Context, params: types.CallToolRequestParams) -> Result:
        try:
            tool = self.catalog.stock.tools.get(params.name)
            return await (self._run(tool, ctx, params) if tool else self._operations.call(ctx, params))
        except InvalidInput as error:
            return result(operation_replies.refused(error))
        except SaysoError as error:
            logger.warning("A call of %s failed: %s", params.name, error)
            return result(operation_replies.failed(error))

    async def _run(self, tool: CommandTool, ctx: Context, params: types.CallToolRequestParams) -> Result:
        order = Order(tool=tool, arguments=params.arguments or {}, asker=self._office.asker_of(ctx))
        shop = await self._works.shop()
        job = await shop.start(order)
        if not job.operation.background:
            return await self._wait_for(shop, job, ctx)
        with anyio.move_on_after(FIRST_MOMENT):
            await job.under_way.wait()
        if self._tasks.wanted(ctx):
            return self._tasks.handle(job.operation)
        said = tool.leaf.settings.inline_ms
        with anyio.move_on_after((self._config.inline_ms if said is None else said) / 1000):
            await asyncio.shield(job.end)
        return await self._first_reply(job, tool, ctx)

    async def _wait_for(self, shop: Workshop, job: Job, ctx: Context) -> types.CallToolResult:
        """The result of a command that is waited for. A client that lets go of the call ends the command."""
        self._held[job.id] = ctx
        try:
            if not await self._allowed_in_time(job, ctx):
                await shop.postpone(job)
                text = "Not run: nobody allowed it while this call could wait. Call again to ask once more."
                return result(operation_replies.failed(text))
            operation = await asyncio.shield(job.end)
        except asyncio.CancelledError:
            with anyio.CancelScope(shield=True):
                await shop.cancel(job.id, "the client, which let go of the call")
            raise
        finally:
            del self._held[job.id]
        return result(operation_replies.direct_result(await self._works.report(operation)))

    async def _allowed_in_time(self, job: Job, ctx: Context) -> bool:
        """Whether it could begin before the client's patience ends. Only a person's say-so can take that long."""
        limit = call_limit(job.operation.asker.client, dict(ctx.meta or {}), self._config)
        with anyio.move_on_after(limit if job.operation.state is OperationState.QUEUED else None):
            await job.running.wait()
        return job.running.is_set() or job.waits_for != SAY_SO

    async def _first_reply(self, job: Job, tool: CommandTool, ctx: Context) -> types.CallToolResult:
        operation = job.operation
        never_ran = operation.status is not None and operation.status.reason == "spawn_failed"
        inline = tool.leaf.settings.inline_ms if tool.leaf.settings.inline_ms is not None else self._config.inline_ms
        if operation.state.ended and (inline or never_ran):
            reply, told = operation_replies.result(await self._works.report(operation)), [operation]
        else:
            reply, told = operation_replies.started(operation, start_hint(tool.file, tool.leaf), job.waits_for), []
            self._promise_progress(job, ctx)
        self._works.hand_over(ctx, told)
        return result(reply)

    async def put_news_first(self, ctx: Context, answer: types.CallToolResult) -> None:
        """Put the results that the agent has not heard of in front of a reply, whichever tool's it is."""
        try:
            if self._shows(self.catalog.stock) and await self._works.has_news(self._office.asker_of(ctx)):
                await self._put_first(ctx, answer)
        except SaysoError as error:  # the reply itself counts as handed over, whatever becomes of an addition to it
            logger.warning("Could not look for results of commands: %s", error)

    async def _put_first(self, ctx: Context, answer: types.CallToolResult) -> None:
        asker = self._office.asker_of(ctx)
        told = answer.structured_content or {}
        own: list[dict[str, Any]] = told.get("finished", [])
        owed = await self._works.owed(asker, but=[str(each.get("id", "")) for each in (told, *own)])
        limit = max(LEAST_NEWS, self._config.reply_bytes // max(NEWS_SHARE, len(owed)))
        reports = [await self._works.report(operation, limit) for operation in owed]
        text, facts = operation_replies.news(reports, await self._works.alerts(asker))
        if text:
            answer.content.insert(0, types.TextContent(type="text", text=text))
            if answer.structured_content is not None:
                finished = [*own, *facts.get("finished", [])]
                answer.structured_content = {**told, **facts, **({"finished": finished} if finished else {})}
            self._works.hand_over(ctx, owed)

    # Telling

    def _promise_progress(self, job: Job, ctx: Context) -> None:
        """A handshake client that gave a token hears of the end after its reply; only the strict profile does that."""
        meta: dict[str, Any] = dict(ctx.meta or {})
        token = meta.get("progress_token", meta.get("progressToken"))
        if self._shown.strict and not is_modern(ctx) and token is not None:
            self._office.when_written(ctx, partial(self._owe_progress, job, token))

    def _owe_progress(self, job: Job, token: str | int, written: bool) -> None:
        if written:
            self._tokens[job.id] = token
            if job.operation.state.ended:
                self._office.send_out(self._late_progress(job.operation))

    def _meet(self, ctx: Context) -> None:
        """A handshake client that comes for the first time hears which tool files were left out."""
        if self._push.meet(ctx) and self.catalog.stock.faults:
            self._office.send_out(self._say_what_is_left_out())

    async def _say_what_is_left_out(self) -> None:
        faults = self.catalog.stock.faults
        text = operation_replies.left_out(faults) if faults else "All tool files are in order again."
        await self._push.say("error" if faults else "info", "toolfiles", text)

    def _observe(self, job: Job) -> None:
        if job.operation.background:
            self._office.send_out(self._announce(job))
        if lines := list(job.new_alerts):
            job.new_alerts.clear()
            self._office.send_out(self._report(job, lines))

    async def _report(self, job: Job, lines: list[str]) -> None:
        """What a running command reports, while it runs: as a log message, and as progress of the call that waits."""
        text = "\n".join([f"{job.operation.tool} (operation {job.id}) reports:", *lines])
        await self._push.say("warning", "operations", text)
        if ctx := self._held.get(job.id):
            now = job.operation.lasted_ms(now_ms()) / 1000
            await ctx.session.report_progress(now, None, text)

    async def _announce(self, job: Job) -> None:
        operation = job.operation
        await self._push.updated(uri_of(operation.id))
        await self._push.resources_changed()
        if operation.state.ended:
            await self._late_progress(operation)

    async def _late_progress(self, operation: Operation) -> None:
        if (token := self._tokens.pop(operation.id, None)) is not None:
            reply = operation_replies.result(await self._works.report(operation))
            await self._push.late_progress(token, reply.text)

    def say_that_tools_changed(self) -> None:
        """The client has another list than there is."""
        self._office.send_out(self._push.tools_changed())

    async def _watch(self) -> None:
        """Endless until the server ends: load changed tool files and tell the client."""
        with Changes(self._config.tools_dirs) as changes:
            while True:
                await anyio.to_thread.run_sync(changes.arm)
                before = await anyio.to_thread.run_sync(self.catalog.look)
                if before is not None:
                    await self._announce_tools(before)
                await changes.wait()

    async def _announce_tools(self, before: Stock) -> None:
        now = self.catalog.stock
        if self._server:
            self._server.instructions = self.instructions()
        if now.tools != before.tools or bool(now.files) != bool(before.files):
            await self._push.tools_changed()
        if now.faults != before.faults:
            await self._push.updated(LEFT_OUT_URI)
            await self._push.resources_changed()
            await self._say_what_is_left_out()
