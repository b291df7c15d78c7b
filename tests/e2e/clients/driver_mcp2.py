"""A client program on `mcp` 2.x, in `auto` or `legacy` mode. Started by `driver.py`, not imported by tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import httpx2
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client._transport import TransportStreams
from mcp.client.session import ClientRequestContext, IncomingMessage
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel
from tests.e2e.clients.driver_python import Driver, Json, OnProgress, drive, emit, server_stderr


def _wire(model: BaseModel) -> Json:
    return model.model_dump(by_alias=True, mode="json", exclude_unset=True)


class Mcp2Session:
    """The high-level `Client`, connected."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def describe(self) -> Json:
        info = self._client.server_info
        return {
            "protocolVersion": self._client.protocol_version,
            "serverInfo": _wire(info) if info else None,
            "capabilities": _wire(self._client.server_capabilities),
            "instructions": self._client.instructions,
        }

    async def list_tools(self) -> list[Json]:
        page = await self._client.list_tools(cache_mode="refresh")
        tools = list(page.tools)
        while page.next_cursor is not None:
            page = await self._client.list_tools(cursor=page.next_cursor)
            tools += page.tools
        return [_wire(tool) for tool in tools]

    async def call(self, command: Json, on_progress: OnProgress | None) -> Json:
        limit = command.get("timeout_ms")
        result = await self._client.call_tool(
            command["name"],
            command["arguments"],
            read_timeout_seconds=limit / 1000 if limit is not None else None,
            progress_callback=on_progress,
            meta=command.get("meta"),
        )
        return _wire(result)

    async def withdraw(self, key: str) -> None:
        """Nothing to do: cancelling the waiting task sends `notifications/cancelled`."""

    @asynccontextmanager
    async def watching_tools(self) -> AsyncIterator[None]:
        if self._client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            yield  # the handshake era sends changes unasked
            return
        async with self._client.listen(tools_list_changed=True):
            yield


@asynccontextmanager
async def open_session(command: Json, driver: Driver) -> AsyncIterator[Mcp2Session]:
    async def on_form(
        context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        reply = await driver.answer(_wire(params))
        if reply["action"] == "error":
            return types.ErrorData(code=types.INTERNAL_ERROR, message=reply["message"])
        return types.ElicitResult(action=reply["action"], content=reply.get("content"))

    async def on_log(params: types.LoggingMessageNotificationParams) -> None:
        emit("log", params=_wire(params))

    async def on_message(message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            emit("tools_changed")

    if command["elicitation"] not in (None, {"form": {}, "url": {}}):
        raise RuntimeError("mcp 2 can declare elicitation only as {'form': {}, 'url': {}} or not at all")
    async with (
        _transport(command) as transport,
        Client(
            transport,
            mode=command["mode"],
            client_info=types.Implementation(**command["client"]),
            elicitation_callback=on_form if command["elicitation"] is not None else None,
            logging_callback=on_log,
            log_level=command["log_level"],
            message_handler=on_message,
        ) as client,
    ):
        yield Mcp2Session(client)


@asynccontextmanager
async def _transport(command: Json) -> AsyncIterator[AbstractAsyncContextManager[TransportStreams]]:
    server = command["server"]
    if "url" in server:
        async with httpx2.AsyncClient(headers=server["headers"], timeout=None) as http:
            yield streamable_http_client(server["url"], http_client=http)
        return
    parameters = StdioServerParameters(
        command=server["command"], args=server["args"], env=server["env"], cwd=server["cwd"]
    )
    with server_stderr(command) as stderr:
        yield stdio_client(parameters, errlog=stderr)


def main() -> None:
    drive(open_session)


if __name__ == "__main__":
    main()
