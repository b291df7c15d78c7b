"""Operations as tasks, for clients that declare the tasks extension: the call returns a handle that they poll."""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from pydantic import Field

from sayso.dialects import operation_replies
from sayso.errors import SaysoError
from sayso.mcp_server.caller import Context
from sayso.mcp_server.elicit import is_modern
from sayso.mcp_server.replies import result
from sayso.mcp_server.works import Works
from sayso.operations.operation import Operation, OperationState
from sayso.text import iso_time, one_line

EXTENSION = "io.modelcontextprotocol/tasks"
POLL_MS = 1000


class TaskParams(types.RequestParams):
    """Which task."""

    task_id: str = Field(alias="taskId")


class Tasks:
    """Serves the extension's methods for one server process."""

    def __init__(self, works: Works) -> None:
        self._works = works

    def register(self, server: Server[None]) -> None:
        server.extensions[EXTENSION] = {}
        server.add_request_handler("tasks/get", TaskParams, self.get)
        server.add_request_handler("tasks/cancel", TaskParams, self.cancel)

    def wanted(self, ctx: Context) -> bool:
        """Whether the client of this request knows tasks."""
        capabilities = ctx.session.client_capabilities
        return is_modern(ctx) and bool(capabilities and EXTENSION in (capabilities.extensions or {}))

    def handle(self, operation: Operation) -> dict[str, Any]:
        """What a call returns in place of its result."""
        return {"resultType": "task", **self._facts(operation)}

    async def get(self, ctx: Context, params: TaskParams) -> dict[str, Any]:
        operation = await self._find(ctx, params.task_id)
        told = {"resultType": "complete", **self._facts(operation)}
        if operation.state.ended and operation.state is not OperationState.CANCELLED:
            answer = result(operation_replies.result(await self._works.report(operation)))
            told["result"] = answer.model_dump(by_alias=True, mode="json", exclude_none=True)
        self._works.hand_over(ctx, [operation])
        return told

    async def cancel(self, ctx: Context, params: TaskParams) -> dict[str, Any]:
        operation = await self._find(ctx, params.task_id)
        client = one_line(operation.asker.client) or "the agent"
        await (await self._works.shop()).cancel(operation.id, client)
        return {"resultType": "complete"}

    async def _find(self, ctx: Context, task_id: str) -> Operation:
        try:
            return await self._works.find(task_id, self._works.office.asker_of(ctx))
        except SaysoError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error

    def _facts(self, operation: Operation) -> dict[str, Any]:
        return {
            "taskId": operation.id,
            "status": _status(operation),
            "statusMessage": operation_replies.headline(operation),
            "createdAt": iso_time(operation.created_at),
            "lastUpdatedAt": iso_time(operation.changed_at),
            "ttlMs": self._works.config.keep_operations,
            "pollIntervalMs": POLL_MS,
        }


def _status(operation: Operation) -> str:
    """A command that failed is a task that is done: its result says so."""
    if not operation.state.ended:
        return "working"
    return "cancelled" if operation.state is OperationState.CANCELLED else "completed"
