"""A small MCP server on the SDK's low-level `Server` and its stock stdio: something known to drive clients against.

What a client cannot see of it (a call cancelled, a form lost, the end) it writes to standard error. It shares nothing
with Sayso on purpose.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from anyio.abc import TaskGroup
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata

STARTS = "REFERENCE_SERVER_STARTS"
MODERN = "2026-07-28"
TOOLS = ["echo", "ask", "pick", "race", "settle", "wait", "say", "grow"]

Context = ServerRequestContext[TaskGroup, Any]
Result = types.CallToolResult | types.InputRequiredResult

bus = InMemorySubscriptionBus()
names = list(TOOLS)
races: list[anyio.Event] = []


class FormNeeded(Exception):
    """Unwinds a tool in the modern era, where a form travels in the result of the call."""

    def __init__(self, form: types.ElicitRequest) -> None:
        self.form = form


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def result(structured: dict[str, Any]) -> types.CallToolResult:
    text = ", ".join(f"{key}={value}" for key, value in structured.items())
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)],
        structured_content=structured,
        _meta={"reference/answered": True},
    )


def form(message: str, properties: dict[str, Any]) -> types.ElicitRequest:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


async def elicit(ctx: Context, params: types.CallToolRequestParams, request: types.ElicitRequest) -> types.ElicitResult:
    if ctx.protocol_version >= MODERN:
        given = (params.input_responses or {}).get("form")
        if isinstance(given, types.ElicitResult):
            return given
        raise FormNeeded(request)
    related = ServerMessageMetadata(related_request_id=ctx.request_id)
    try:
        return await ctx.session.send_request(request, types.ElicitResult, metadata=related)
    except MCPError as error:
        note(f"form failed: {error.error.code}")
        raise
    except anyio.get_cancelled_exc_class():
        note(f"form withdrawn: {request.params.message}")
        raise


def echo(ctx: Context, arguments: dict[str, Any]) -> types.CallToolResult:
    client = ctx.session.client_params
    assert client is not None
    declared = client.capabilities.elicitation
    return result(
        {
            "text": arguments.get("text"),
            "client": [client.client_info.name, client.client_info.version],
            "elicitation": declared.model_dump(exclude_none=True) if declared else None,
            "meta": ctx.meta,
        }
    )


async def ask(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    asked = form("What is your name?", {"name": {"type": "string", "title": "Name"}})
    given = await elicit(ctx, params, asked)
    return result({"action": given.action, "content": given.content})


async def pick(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    colours = [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}, {"const": "b", "title": "Blue"}]
    several = {"type": "array", "title": "Colours", "minItems": 1, "items": {"anyOf": colours}}
    given = await elicit(ctx, params, form("Which colours?", {"colours": several}))
    return result({"action": given.action, "content": given.content})


async def race(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    """A form of the handshake era that is answered elsewhere while it is open: withdrawn by a call of `settle`."""
    races.append(anyio.Event())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(elicit, ctx, params, form("Who is first?", {"name": {"type": "string"}}))
        await races[-1].wait()
        tasks.cancel_scope.cancel()
    return result({"action": "withdrawn"})


async def note_when_sent(text: str) -> None:
    """A moment after the result: nothing tells when it has left."""
    await anyio.sleep(0.3)
    note(text)


async def wait(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    """So many beats of progress, or more than any test lasts."""
    arguments = params.arguments or {}
    beats = arguments.get("beats", 1000)
    try:
        for beat in range(1, beats + 1):
            await ctx.session.report_progress(beat, beats, f"beat {beat}")
            await anyio.sleep(0.1)
    except anyio.get_cancelled_exc_class():
        note(f"wait cancelled: {arguments['label']}")
        raise
    ctx.lifespan_context.start_soon(note_when_sent, f"wait sent: {arguments['label']}")
    return result({"waited": arguments["label"]})


async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> Result:
    try:
        return await run_tool(ctx, params)
    except FormNeeded as needed:
        return types.InputRequiredResult(input_requests={"form": needed.form})


async def run_tool(ctx: Context, params: types.CallToolRequestParams) -> Result:
    arguments = params.arguments or {}
    match params.name:
        case "echo":
            return echo(ctx, arguments)
        case "ask":
            return await ask(ctx, params)
        case "pick":
            return await pick(ctx, params)
        case "race":
            return await race(ctx, params)
        case "settle":
            races.pop().set()
            return result({"settled": True})
        case "wait":
            return await wait(ctx, params)
        case "say":
            await ctx.session.send_log_message("info", arguments["text"], related_request_id=ctx.request_id)
            return result({"said": arguments["text"]})
        case "grow":
            names.append("grown")
            await bus.publish(ToolsListChanged())
            await ctx.session.send_tool_list_changed()
            return result({"tools": len(names)})
        case _:
            raise MCPError(code=types.INVALID_PARAMS, message=f"no tool {params.name!r}")


async def list_tools(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    """One tool a page, so that a client must turn pages."""
    at = int(params.cursor) if params and params.cursor else 0
    schema = {"type": "object", "properties": {"text": {"type": "string", "default": None}}}
    tool = types.Tool(name=names[at], description=f"The tool {names[at]}.", input_schema=schema, _meta={"at": at})
    following = str(at + 1) if at + 1 < len(names) else None
    return types.ListToolsResult(tools=[tool], next_cursor=following, ttl_ms=0, cache_scope="private")


@asynccontextmanager
async def lifespan(server: Server[TaskGroup]) -> AsyncIterator[TaskGroup]:
    async with anyio.create_task_group() as tasks:
        yield tasks
        tasks.cancel_scope.cancel()


async def main() -> None:
    server = Server(
        "reference",
        version="1.0",
        instructions="Only for tests.",
        lifespan=lifespan,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_subscriptions_listen=ListenHandler(bus),
    )
    options = server.create_initialization_options(NotificationOptions(tools_changed=True))
    async with stdio_server() as (read, write):
        await server.run(read, write, options)
    note("reference server ended")


if __name__ == "__main__":
    if STARTS in os.environ:
        with Path(os.environ[STARTS]).open("a") as starts:
            print(os.getpid(), file=starts)
    anyio.run(main)
