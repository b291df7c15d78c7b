"""Operations as MCP resources, `operation://ID`: listed, read and subscribed to; and the tool files left out."""

from __future__ import annotations

from collections.abc import Mapping

from sayso.dialects import operation_replies
from sayso.errors import ProtocolError, SaysoError
from sayso.mcp_server.agent_commands import AgentCommands
from sayso.mcp_server.context import CallContext, Handler
from sayso.operations.operation import Operation
from sayso.protocol.messages import INVALID_PARAMS, Json
from sayso.toolfiles.catalog import Catalog

SCHEME = "operation://"
LEFT_OUT_URI = "toolfiles://left-out"
MOST_LISTED = 50
_TEXT = "text/plain"


def uri_of(operation_id: str) -> str:
    return SCHEME + operation_id


class OperationResources:
    """Serves the resources of one server process."""

    def __init__(self, commands: AgentCommands, catalog: Catalog) -> None:
        self._commands, self._catalog = commands, catalog

    @property
    def handlers(self) -> Mapping[str, Handler]:
        return {
            "resources/list": self.list,
            "resources/templates/list": self.templates,
            "resources/read": self.read,
            "resources/subscribe": self.subscribe,
            "resources/unsubscribe": self.unsubscribe,
        }

    async def list(self, ctx: CallContext) -> Json:
        faults = [_left_out()] if self._catalog.loaded.faults else []
        if not self._catalog.loaded.files:
            return {"resources": faults}
        supervisor = await self._commands.supervisor()
        asker = self._commands.backend.asker_of(ctx)
        operations = await supervisor.do(supervisor.desk.of_agent, asker, MOST_LISTED)
        return {"resources": [*faults, *map(_described, operations)]}

    async def templates(self, ctx: CallContext) -> Json:
        about = "How an operation stands or ended, and what it printed."
        template = {"uriTemplate": uri_of("{id}"), "name": "operation", "description": about, "mimeType": _TEXT}
        return {"resourceTemplates": [template]}

    async def read(self, ctx: CallContext) -> Json:
        uri = ctx.params["uri"]
        if uri == LEFT_OUT_URI:
            faults = self._catalog.loaded.faults
            return _contents(uri, operation_replies.left_out(faults) if faults else "No tool file is left out.")
        operation = await self._find(ctx, uri)
        reply = operation_replies.result(await self._commands.report(operation))
        self._commands.hand_over(ctx, [operation])
        return _contents(uri, reply.text)

    async def subscribe(self, ctx: CallContext) -> Json:
        uri = ctx.params["uri"]
        if uri != LEFT_OUT_URI:
            await self._find(ctx, uri)
        ctx.connection.subscribed |= {uri}
        return {}

    async def unsubscribe(self, ctx: CallContext) -> Json:
        ctx.connection.subscribed -= {ctx.params["uri"]}
        return {}

    async def _find(self, ctx: CallContext, uri: str) -> Operation:
        if not uri.startswith(SCHEME):
            told = f"There is no resource {uri!r}. Operations are {uri_of('ID')}."
            raise ProtocolError(INVALID_PARAMS, told, {"uri": uri})
        try:
            return await self._commands.find(uri.removeprefix(SCHEME).rstrip("/"), self._commands.backend.asker_of(ctx))
        except SaysoError as error:
            raise ProtocolError(INVALID_PARAMS, str(error), {"uri": uri}) from error


def _left_out() -> Json:
    return _resource(LEFT_OUT_URI, "tool files left out", "Which are not served, and why.")


def _described(operation: Operation) -> Json:
    return _resource(uri_of(operation.id), f"{operation.tool} {operation.id}", operation_replies.headline(operation))


def _resource(uri: str, name: str, about: str) -> Json:
    return {"uri": uri, "name": name, "description": about, "mimeType": _TEXT}


def _contents(uri: str, text: str) -> Json:
    return {"contents": [{"uri": uri, "mimeType": _TEXT, "text": text}]}
