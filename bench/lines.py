"""How long a line that an agent prints takes to a reader of the page's event stream, beside the least that it takes.

The least is a bare Starlette application that sends what the same agent prints, line by line, as server-sent events.
Both agents are at work at the same time and say a line when their file is there, taking turns. No questions are asked.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from bench.talk import messages
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from tests.e2e.talk.stage import STAND_IN, new_stage

PATIENCE = 60.0


def to_the_stream(rounds: int) -> tuple[list[float], list[float]]:
    """Seconds per line, through Sayso and through the bare application."""
    with tempfile.TemporaryDirectory() as folder, new_stage(relay_dir=f"{folder}/relay") as stage:
        ours, bare = Path(folder, "ours"), Path(folder, "bare")
        visitor, project = stage.visitor(), stage.project("plain", ask_user=False)
        conversation = visitor.start(project, *_script(ours, rounds))
        said = (m for m in messages(stage, visitor, conversation) if m["type"] == "text")
        with _bare_lines(_script(bare, rounds), folder) as lines:
            spoken = (line for line in lines if json.loads(line).get("type") == "assistant")
            pairs = [(_timed(ours, n, said), _timed(bare, n, spoken)) for n in range(rounds)]
        stage.ended(conversation)
    # The first lines also wait for the agents to start.
    return [pair[0] for pair in pairs[1:]], [pair[1] for pair in pairs[1:]]


def _script(folder: Path, rounds: int) -> list[str]:
    folder.mkdir()
    return [step for n in range(rounds) for step in (f"wait {folder / str(n)}", f"say Line {n}")]


def _timed(folder: Path, number: int, lines: Iterator[object]) -> float:
    begun = time.perf_counter()
    (folder / str(number)).touch()
    next(lines)
    return time.perf_counter() - begun


@contextmanager
def _bare_lines(script: Sequence[str], home: str) -> Iterator[Iterator[bytes]]:
    """What an agent prints, as a reader of the bare application gets it."""

    async def printed() -> AsyncIterator[bytes]:
        agent = await asyncio.create_subprocess_exec(
            *(sys.executable, str(STAND_IN), "-p", "--input-format", "stream-json"),
            *("--verbose", "--replay-user-messages"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "HOME": home},
        )
        assert agent.stdin
        assert agent.stdout
        message = {"role": "user", "content": "\n".join(script)}
        agent.stdin.write(json.dumps({"type": "user", "message": message}).encode() + b"\n")
        agent.stdin.close()
        async for line in agent.stdout:
            yield b"data: " + line + b"\n"
        await agent.wait()

    async def events(_: Request) -> Response:
        return StreamingResponse(printed(), media_type="text/event-stream")

    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=[Route("/", events)]), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    connection = http.client.HTTPConnection("127.0.0.1", listening.getsockname()[1], timeout=PATIENCE)
    try:
        connection.request("GET", "/")
        reply = connection.getresponse()
        yield (line[6:] for line in iter(reply.readline, b"") if line.startswith(b"data: "))
    finally:
        connection.close()
        server.should_exit = True
        thread.join(PATIENCE)
