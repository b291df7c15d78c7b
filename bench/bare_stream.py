"""The least that what an agent prints takes to a reader: a bare Starlette application that sends the lines of the
stand-in for Claude as server-sent events. Each `POST /` starts an agent that does as its body says.

Usage: python -m bench.bare_stream HOME, which prints its port and serves until its standard input ends.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from tests.e2e.talk.stage import STAND_IN

PATIENCE = 60.0


def application(home: str) -> Starlette:
    async def printed(script: str) -> AsyncIterator[bytes]:
        agent = await asyncio.create_subprocess_exec(
            *(sys.executable, str(STAND_IN), "-p", "--input-format", "stream-json"),
            *("--verbose", "--replay-user-messages"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "HOME": home},
        )
        assert agent.stdin
        assert agent.stdout
        message = {"role": "user", "content": script}
        agent.stdin.write(json.dumps({"type": "user", "message": message}).encode() + b"\n")
        agent.stdin.close()
        async for line in agent.stdout:
            yield b"data: " + line + b"\n"
        await agent.wait()

    async def events(request: Request) -> Response:
        script = (await request.body()).decode()
        return StreamingResponse(printed(script), media_type="text/event-stream")

    return Starlette(routes=[Route("/", events, methods=["POST"])])


@contextmanager
def serving(home: str) -> Iterator[int]:
    """The application in a thread of this process; its port."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(application(home), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(PATIENCE)


def main() -> None:
    with serving(sys.argv[1]) as port:
        print(port, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
