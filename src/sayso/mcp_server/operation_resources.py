"""Operations as MCP resources, `operation://ID`: listed, read and subscribed to; and the tool files left out."""

from __future__ import annotations

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from sayso.dialects import operation_replies
from sayso.errors import SaysoError
from sayso.mcp_server.caller import Context
from sayso.mcp_server.push import Push
from sayso.mcp_server.works import Works
from sayso.operations.operation import Operation
from sayso.toolfiles.catalog import Catalog

SCHEME = "operation://"
LEFT_OUT_URI = "toolfiles://left-out"
MOST_LISTED = 50
_TEXT = "text/plain"


def uri_of(operation_id: str) -> str:
    return SCHEME + operation_id


class OperationResources:
    """Serves the resources of one server process."""

    def __init__(self, works: Works, catalog: Catalog, push: Push) -> None:
        self._works, self._catalog, self._push = works, catalog, push

    def register(self, server: Server[None]) -> None:
        server.add_request_handler("resources/list", types.PaginatedRequestParams, self.list)
        server.add_request_handler("resources/templates/list", types.PaginatedRequestParams, self.templates)
        server.add_request_handler("resources/read", types.ReadResourceRequestParams, self.read)
        server.add_request_handler("resources/subscribe", types.SubscribeRequestParams, self.subscribe)
        server.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, self.unsubscribe)

    async def list(self, ctx: Context, params: types.PaginatedRequestParams) -> types.ListResourcesResult:
        self._push.meet(ctx)
        faults = [_left_out()] if self._catalog.stock.faults else []
        if not self._catalog.stock.files:
            return types.ListResourcesResult(resources=[*faults])
        shop = await self._works.shop()
        asker = self._works.office.asker_of(ctx)
        operations = await shop.do(shop.desk.recent, asker=asker, most=MOST_LISTED)
        return types.ListResourcesResult(resources=[*faults, *map(_described, operations)])

    async def templates(self, ctx: Context, params: types.PaginatedRequestParams) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            uri_template=uri_of("{id}"),
            name="operation",
            description="How an operation stands or ended, and what it printed.",
            mime_type=_TEXT,
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        self._push.meet(ctx)
        if params.uri == LEFT_OUT_URI:
            faults = self._catalog.stock.faults
            return _contents(params.uri, operation_replies.left_out(faults) if faults else "No tool file is left out.")
        operation = await self._find(ctx, params.uri)
        reply = operation_replies.result(await self._works.report(operation))
        self._works.hand_over(ctx, [operation])
        return _contents(params.uri, reply.text)

    async def subscribe(self, ctx: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        self._push.meet(ctx)
        if params.uri != LEFT_OUT_URI:
            await self._find(ctx, params.uri)
        self._push.subscribe(params.uri)
        return types.EmptyResult()

    async def unsubscribe(self, ctx: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        self._push.unsubscribe(params.uri)
        return types.EmptyResult()

    async def _find(self, ctx: Context, uri: str) -> Operation:
        if not uri.startswith(SCHEME):
            raise MCPError(types.INVALID_PARAMS, f"There is no resource {uri!r}. Operations are {uri_of('ID')}.")
        try:
            return await self._works.find(uri.removeprefix(SCHEME).rstrip("/"), self._works.office.asker_of(ctx))
        except SaysoError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error


def _left_out() -> types.Resource:
    return types.Resource(
        uri=LEFT_OUT_URI, name="tool files left out", description="Which are not served, and why.", mime_type=_TEXT
    )


def _described(operation: Operation) -> types.Resource:
    return types.Resource(
        uri=uri_of(operation.id),
        name=f"{operation.tool} {operation.id}",
        description=operation_replies.headline(operation),
        mime_type=_TEXT,
    )


def _contents(uri: str, text: str) -> types.ReadResourceResult:
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=_TEXT, text=text)])
