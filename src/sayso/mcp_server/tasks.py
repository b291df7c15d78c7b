"""Operations as tasks, for clients that declare the tasks extension: the call returns a handle that they poll."""

from __future__ import annotations

from collections.abc import Mapping

from sayso.dialects import operation_replies
from sayso.errors import ProtocolError, SaysoError
from sayso.mcp_server.agent_commands import AgentCommands
from sayso.mcp_server.context import CallContext, Handler
from sayso.mcp_server.offer import TASKS
from sayso.mcp_server.replies import result
from sayso.operations.operation import Operation, OperationState
from sayso.protocol.messages import INVALID_PARAMS, Json
from sayso.text import iso_time, one_line

POLL_MS = 1000


class Tasks:
    """Serves the extension's methods for one server process."""

    def __init__(self, commands: AgentCommands) -> None:
        self._commands = commands

    @property
    def handlers(self) -> Mapping[str, Handler]:
        return {"tasks/get": self.get, "tasks/cancel": self.cancel}

    def wanted(self, ctx: CallContext) -> bool:
        """Whether the client of this request knows tasks."""
        return ctx.comes_again and ctx.client.knows(TASKS)

    def handle(self, operation: Operation) -> Json:
        """What a call returns in place of its result."""
        return {"resultType": "task", **self._facts(operation)}

    async def get(self, ctx: CallContext) -> Json:
        operation = await self._find(ctx)
        told = {"resultType": "complete", **self._facts(operation)}
        if operation.state.ended and operation.state is not OperationState.CANCELLED:
            answer = result(operation_replies.result(await self._commands.report(operation)))
            told["result"] = answer.on_the_wire()
        self._commands.hand_over(ctx, [operation])
        return told

    async def cancel(self, ctx: CallContext) -> Json:
        operation = await self._find(ctx)
        client = one_line(operation.asker.client) or "the agent"
        await (await self._commands.supervisor()).cancel(operation.id, client)
        return {"resultType": "complete"}

    async def _find(self, ctx: CallContext) -> Operation:
        try:
            return await self._commands.find(ctx.params["taskId"], self._commands.backend.asker_of(ctx))
        except SaysoError as error:
            raise ProtocolError(INVALID_PARAMS, str(error)) from error

    def _facts(self, operation: Operation) -> Json:
        return {
            "taskId": operation.id,
            "status": _status(operation),
            "statusMessage": operation_replies.headline(operation),
            "createdAt": iso_time(operation.created_at),
            "lastUpdatedAt": iso_time(operation.changed_at),
            "ttlMs": self._commands.config.keep_operations,
            "pollIntervalMs": POLL_MS,
        }


def _status(operation: Operation) -> str:
    """A command that failed is a task that is done: its result says so."""
    if not operation.state.ended:
        return "working"
    return "cancelled" if operation.state is OperationState.CANCELLED else "completed"
