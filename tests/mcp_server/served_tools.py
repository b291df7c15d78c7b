"""A server on stdio, each of whose tools shows one thing that could go wrong on the way. It imports little: many are
started."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import subprocess
import sys
from typing import Any

from sayso.errors import ProtocolError
from sayso.mcp_server.claim import claim_stdio
from sayso.mcp_server.context import CallContext
from sayso.mcp_server.transport import StdioTransport
from sayso.protocol import connection as core
from sayso.protocol.results import ToolResult


def say(text: str) -> None:
    os.write(2, f"{text}\n".encode())


def misbehave() -> str:
    print("a stray print", flush=True)
    os.write(1, b"a stray write\n")
    subprocess.run(["echo", "a stray child"], check=True)
    return repr((sys.stdin.read(), subprocess.run(["cat"], capture_output=True, check=True).stdout))


class Tools:
    """What the server can be asked to do; `say` reports beside the protocol."""

    async def echo(self, ctx: CallContext, text: str) -> str:
        return text

    async def fill(self, ctx: CallContext, size: int) -> str:
        ctx.when_written(lambda written: say(f"written {ctx.request.id}") if written else None)
        return "x" * size

    async def nap(self, ctx: CallContext) -> str:
        for _ in range(3):
            await asyncio.sleep(0.01)
        say("awake")
        return "awake"

    async def hang(self, ctx: CallContext) -> str:
        ctx.when_written(lambda written: say("written, though nothing was") if written else None)
        say("hanging")
        await asyncio.Event().wait()
        return "never"

    async def forsaken(self, ctx: CallContext) -> str:
        given_up = asyncio.get_running_loop().create_future()
        given_up.cancel()
        return str(await given_up)

    async def stray(self, ctx: CallContext) -> str:
        return misbehave()

    async def ask(self, ctx: CallContext) -> str:
        schema: dict[str, Any] = {"type": "object", "properties": {}}
        params = {"mode": "form", "message": "?", "requestedSchema": schema}
        try:
            return str((await ctx.ask("elicitation/create", params))["action"])
        except ProtocolError as error:
            return str(error)

    async def peak(self, ctx: CallContext) -> str:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return str(peak if sys.platform == "darwin" else peak * 1024)


async def list_tools(ctx: CallContext) -> dict[str, Any]:
    return {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}


async def call_tool(ctx: CallContext) -> dict[str, Any]:
    return ToolResult(await getattr(Tools(), ctx.tool)(ctx, **ctx.arguments)).on_the_wire()


HANDLERS = {"tools/list": list_tools, "tools/call": call_tool}


async def serve(fds: tuple[int, int]) -> None:
    transport = StdioTransport(read_fd=fds[0], write_fd=fds[1])
    await transport.serve(core.Connection(core.Served(name="pipes", version="1", methods=HANDLERS)), HANDLERS)
    say(f"ended broken={transport.broken} input_ended={transport.input_ended.is_set()}")


if __name__ == "__main__":
    logging.basicConfig()
    asyncio.run(serve(claim_stdio()))
