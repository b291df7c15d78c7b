"""Calls of `status`, `await`, `cancel` and `output`: what an agent may do with its operations."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from sayso.asks.model import Asker
from sayso.bridge import BackgroundTasks, Patience, seen_through
from sayso.clients import call_limit, has_progress
from sayso.dialects import ahma, operation_replies
from sayso.dialects.dialect import ToolReply
from sayso.mcp_server.agent_commands import AgentCommands
from sayso.mcp_server.context import CallContext
from sayso.mcp_server.replies import result
from sayso.operations.operation import Operation, OperationState
from sayso.protocol.results import ToolResult
from sayso.running.excerpt import Excerpts
from sayso.text import counted, one_line
from sayso.toolfiles.catalog import Catalog

CANCEL_SECONDS = 5.0
"""How long a cancel waits, beyond the command's grace, to tell how it ended."""

MOST_LOOKED_AT = 500
MOST_ENDED = 20
FEW = 4
"""So many results of one `await` are told in full; more of them share the room of these."""

LEAST_BYTES = 512


class OperationCalls:
    """Serves the four tools of one server process."""

    def __init__(self, commands: AgentCommands, catalog: Catalog) -> None:
        self._commands, self._catalog, self._config = commands, catalog, commands.config

    async def call(self, ctx: CallContext) -> ToolResult:
        asker = self._commands.backend.asker_of(ctx)
        arguments = ctx.arguments
        match ctx.tool:
            case ahma.STATUS:
                return await self._status(ctx, asker, ahma.read_status(arguments))
            case ahma.AWAIT:
                return await self._await(ctx, asker, ahma.read_await(arguments))
            case ahma.CANCEL:
                return await self._cancel(ctx, asker, *ahma.read_cancel(arguments))
        return await self._output(asker, ahma.read_output(arguments))

    async def _status(self, ctx: CallContext, asker: Asker, operation_id: str) -> ToolResult:
        if operation_id:
            operation = await self._commands.find(operation_id, asker)
            reply = operation_replies.result(await self._commands.report(operation))
            self._commands.hand_over(ctx, [operation])
            return result(ToolReply(text=reply.text, data=reply.data))
        recent = await self._recent(asker)
        ended = [operation for operation in recent if operation.state.ended][:MOST_ENDED]
        listed = [operation for operation in recent if not operation.state.ended or operation in ended]
        return result(operation_replies.listed(listed, self._catalog.loaded.faults))

    async def _await(self, ctx: CallContext, asker: Asker, wanted: ahma.Awaited) -> ToolResult:
        operations = [await self._commands.find(each, asker) for each in wanted.ids] or await self._under_way(asker)
        limit = call_limit(asker.client, ctx.meta, self._config)
        await self._until_ended(ctx, operations, min(wanted.seconds, limit or wanted.seconds))
        supervisor = await self._commands.supervisor()
        now = [await supervisor.do(supervisor.desk.get, operation.id) for operation in operations]
        self._commands.hand_over(ctx, now)
        return result(
            await self._told([each for each in now if each.state.ended], [e for e in now if not e.state.ended])
        )

    async def _under_way(self, asker: Asker) -> list[Operation]:
        """All that has not ended, and what has but was not told."""
        running = [operation for operation in await self._recent(asker) if not operation.state.ended]
        return [*await self._commands.owed(asker, but=[operation.id for operation in running]), *running]

    async def _recent(self, asker: Asker) -> list[Operation]:
        supervisor = await self._commands.supervisor()
        recent = await supervisor.do(supervisor.desk.of_agent, asker, MOST_LOOKED_AT)
        return await supervisor.do(supervisor.desk.belonging, recent, asker)

    async def _until_ended(self, ctx: CallContext, operations: Sequence[Operation], seconds: float) -> None:
        supervisor = await self._commands.supervisor()
        left = {operation.id for operation in operations}

        async def see_out(operation_id: str) -> None:
            await supervisor.ended(operation_id)
            left.discard(operation_id)

        tasks = BackgroundTasks()
        waits = [tasks.start(see_out(operation_id)) for operation_id in left]
        tasks.start(self._beat(ctx, left))
        ended = set[asyncio.Task[None]]()
        try:
            if waits:
                ended, _ = await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            await seen_through(tasks.cancel())
        for each in ended:
            each.result()

    async def _beat(self, ctx: CallContext, left: set[str]) -> None:
        """Endless until cancelled: tell the client that its call is not forgotten."""
        begun = time.monotonic()
        while has_progress(ctx.meta):
            await asyncio.sleep(self._config.heartbeat / 1000)
            waited = time.monotonic() - begun
            await ctx.progress(
                round(waited, 3), None, f"{counted(len(left), 'operation')} still running, {waited:.0f} s"
            )

    async def _told(self, ended: list[Operation], running: list[Operation]) -> ToolReply:
        limit = max(LEAST_BYTES, self._config.reply_bytes * FEW // max(FEW, len(ended)))
        replies = [operation_replies.result(await self._commands.report(operation, limit)) for operation in ended]
        texts = [reply.text for reply in replies]
        if running:
            texts.append(operation_replies.still_running(running, "the time this call could wait"))
        text = (
            "\n\n".join(texts) or "Nothing of yours is under way, and you have been told of everything that has ended."
        )
        data = {
            "finished": [reply.data for reply in replies],
            "running": [{"id": each.id, "tool": each.tool, "status": str(each.state)} for each in running],
            "message": text if running or not ended else f"All {len(ended)} have ended.",
        }
        return ToolReply(
            text=text, data=data, is_error=any(each.state is not OperationState.COMPLETED for each in ended)
        )

    async def _cancel(self, ctx: CallContext, asker: Asker, operation_id: str, reason: str) -> ToolResult:
        operation = await self._commands.find(operation_id, asker)
        supervisor = await self._commands.supervisor()
        why = f" ({one_line(reason, 200)})" if reason.strip() else ""
        operation = await supervisor.cancel(operation.id, f"{one_line(asker.client) or 'the agent'}{why}")
        async with Patience(self._config.command_grace / 1000 + CANCEL_SECONDS):
            operation = await supervisor.ended(operation.id)
        self._commands.hand_over(ctx, [operation])
        return result(operation_replies.cancelling(operation))

    async def _output(self, asker: Asker, wanted: ahma.Range) -> ToolResult:
        operation = await self._commands.find(wanted.id, asker)
        supervisor = await self._commands.supervisor()
        if operation.is_sequence:
            steps = await supervisor.do(supervisor.desk.steps, operation.id)
            operation = steps[-1] if steps else operation
        return result(
            await supervisor.in_thread(_read, operation, wanted, supervisor.excerpts, self._config.reply_bytes)
        )


def _read(operation: Operation, wanted: ahma.Range, excerpts: Excerpts, most: int) -> ToolReply:
    folder, stream = operation.folder, wanted.stream
    if wanted.grep:
        found = excerpts.grep(folder, stream, wanted.grep, limit=min(wanted.limit or 100, 1000))
        return operation_replies.matches(operation, stream, wanted.grep, found)
    if wanted.tail is not None:
        return operation_replies.piece(operation, stream, excerpts.last_lines(folder, stream, wanted.tail))
    if wanted.offset is None:
        return operation_replies.piece(operation, stream, excerpts.tail(folder, stream, limit=wanted.limit or most))
    part = excerpts.read(folder, stream, offset=wanted.offset, limit=wanted.limit or most)
    return operation_replies.piece(operation, stream, part)
