"""A client program on `mcp` 1.x, which knows only the handshake era. Runs in a virtual environment of its own.

The checker sees the 2.x of the main environment, so everything of this library is `Any` here.
"""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from tests.e2e.clients.driver_python import Driver, Json, OnProgress, drive, emit, server_stderr

mcp: Any = importlib.import_module("mcp")
http: Any = importlib.import_module("mcp.client.streamable_http")
stdio: Any = importlib.import_module("mcp.client.stdio")
types: Any = importlib.import_module("mcp.types")


def _wire(model: Any) -> Any:
    return model.model_dump(by_alias=True, mode="json", exclude_unset=True)


class Mcp1Session:
    """A `ClientSession`, initialized."""

    def __init__(self, session: Any, initialized: Any) -> None:
        self._session = session
        self._initialized = initialized
        self._request_ids: dict[str, int] = {}

    def describe(self) -> Json:
        described: Json = _wire(self._initialized)
        return {"instructions": None, **described}

    async def list_tools(self) -> list[Json]:
        page = await self._session.list_tools()
        tools = list(page.tools)
        while page.nextCursor is not None:
            page = await self._session.list_tools(params=types.PaginatedRequestParams(cursor=page.nextCursor))
            tools += page.tools
        return [_wire(tool) for tool in tools]

    async def call(self, command: Json, on_progress: OnProgress | None) -> Json:
        limit = command.get("timeout_ms")
        # The id the request is about to get: the library tells it to nobody, and `withdraw` must name it.
        self._request_ids[command["id"]] = self._session._request_id
        result = await self._session.call_tool(
            command["name"],
            command["arguments"],
            read_timeout_seconds=timedelta(milliseconds=limit) if limit is not None else None,
            progress_callback=on_progress,
            meta=command.get("meta"),
        )
        wired: Json = _wire(result)
        return wired

    async def withdraw(self, key: str) -> None:
        """This library stops waiting without a word, so a program that cancels must send the word itself."""
        params = types.CancelledNotificationParams(requestId=self._request_ids[key], reason="cancelled by the test")
        notification = types.CancelledNotification(method="notifications/cancelled", params=params)
        await self._session.send_notification(types.ClientNotification(notification))

    @asynccontextmanager
    async def watching_tools(self) -> AsyncIterator[None]:
        yield  # the handshake era sends changes unasked


@asynccontextmanager
async def open_session(command: Json, driver: Driver) -> AsyncIterator[Mcp1Session]:
    async def on_form(context: Any, params: Any) -> Any:
        reply = await driver.answer(_wire(params))
        if reply["action"] == "error":
            return types.ErrorData(code=types.INTERNAL_ERROR, message=reply["message"])
        return types.ElicitResult(action=reply["action"], content=reply.get("content"))

    async def on_log(params: Any) -> None:
        emit("log", params=_wire(params))

    async def on_message(message: Any) -> None:
        if isinstance(getattr(message, "root", None), types.ToolListChangedNotification):
            emit("tools_changed")

    if command["mode"] != "legacy":
        raise RuntimeError("mcp 1 has no mode but 'legacy'")
    if command["elicitation"] not in (None, {"form": {}, "url": {}}):
        raise RuntimeError("mcp 1 can declare elicitation only as {'form': {}, 'url': {}} or not at all")
    async with (
        _streams(command) as (read, write),
        mcp.ClientSession(
            read,
            write,
            client_info=types.Implementation(**command["client"]),
            elicitation_callback=on_form if command["elicitation"] is not None else None,
            logging_callback=on_log,
            message_handler=on_message,
        ) as session,
    ):
        yield Mcp1Session(session, await session.initialize())


@asynccontextmanager
async def _streams(command: Json) -> AsyncIterator[tuple[Any, Any]]:
    server = command["server"]
    if "url" in server:
        async with http.streamablehttp_client(server["url"], headers=server["headers"]) as (read, write, _):
            yield read, write
        return
    parameters = mcp.StdioServerParameters(
        command=server["command"], args=server["args"], env=server["env"], cwd=server["cwd"]
    )
    with server_stderr(command) as stderr:
        async with stdio.stdio_client(parameters, errlog=stderr) as (read, write):
            yield read, write


def main() -> None:
    drive(open_session)


if __name__ == "__main__":
    main()
