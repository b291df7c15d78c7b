"""A bridge from HTTP to stdio, for a client that speaks only HTTP: each session gets a server process of its own, and
all requests without a session share one. What HTTP itself asks for, the bridge does; all else is the server's."""

from __future__ import annotations

import asyncio
import itertools
import json
import secrets
import socket
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import uvicorn
from anyio.from_thread import start_blocking_portal
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from tests.e2e.stdio.person import WAIT
from tests.e2e.stdio.transport import streams_of

from sayso.web.serve import HttpConnection

Message = dict[str, Any]
Start = Callable[..., subprocess.Popen[bytes]]
"""Starts a server, and is told what its streams are."""

SESSION = "mcp-session-id"
PREFIX = "io.modelcontextprotocol/"
SUBSCRIPTION = f"{PREFIX}subscriptionId"
MODERN = "2026-07-28"
STATUS = {-32601: 404, -32602: 400, -32600: 400, -32020: 400, -32021: 400, -32022: 400}
"""Which errors of the protocol are also errors of HTTP since 2026-07-28."""


class Call:
    """A request that a server has not answered yet."""

    def __init__(self, message: Message) -> None:
        self.id = message["id"]
        self.token = _meta(message).get("progressToken")
        self.said: asyncio.Queue[Message] = asyncio.Queue()


class Process:
    """One server on stdio."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        writer: asyncio.StreamWriter,
        reader: asyncio.StreamReader,
        reading: asyncio.ReadTransport,
    ) -> None:
        self._process, self._writer, self._reader, self._read_end = process, writer, reader, reading
        self._ids = itertools.count(1)
        self._open: dict[int, Call] = {}
        self._reading = asyncio.create_task(self._read())

    async def send(self, message: Message) -> None:
        self._writer.write(json.dumps(message).encode() + b"\n")
        await self._writer.drain()

    async def messages(self, message: Message) -> AsyncIterator[Message]:
        """Everything the server says about a request, its answer last. Leaving early cancels the request."""
        number, call = next(self._ids), Call(message)
        self._open[number] = call
        try:
            await self.send({**message, "id": number})
            while number in self._open or not call.said.empty():
                yield await call.said.get()
        finally:
            if self._open.pop(number, None):
                await self.send(
                    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
                )

    async def settle(self) -> None:
        """Speak 2026-07-28 from now on. Over HTTP a header says so; here the first request does."""
        meta = {f"{PREFIX}protocolVersion": MODERN, f"{PREFIX}clientCapabilities": {}}
        async for _ in self.messages({"jsonrpc": "2.0", "id": 0, "method": "tools/list", "params": {"_meta": meta}}):
            pass

    async def end(self) -> None:
        self._writer.close()
        await self._reading
        self._read_end.close()
        await anyio.to_thread.run_sync(self._process.wait, WAIT)

    async def _read(self) -> None:
        while line := await self._reader.readline():
            self._hand_on(json.loads(line))

    def _hand_on(self, message: Message) -> None:
        if "method" not in message:
            call = self._open.pop(message["id"])
            call.said.put_nowait({**message, "id": call.id})
        elif about := self._about(message):
            about.said.put_nowait(message)

    def _about(self, message: Message) -> Call | None:
        """The request that a message belongs to. Where it does not say so, the last one."""
        number = _meta(message).get(SUBSCRIPTION)
        if number in self._open:
            _meta(message)[SUBSCRIPTION] = self._open[number].id
            return self._open[number]
        token = message.get("params", {}).get("progressToken")
        calls = [call for call in self._open.values() if token is None or call.token == token]
        return calls[-1] if calls else None


class Bridge:
    """The HTTP side."""

    def __init__(self, start: Start) -> None:
        self._start = start
        self._processes: dict[str, Process] = {}
        self._starting = asyncio.Lock()
        self.app = Starlette(
            routes=[Route("/mcp", self.post, methods=["POST"]), Route("/mcp", self.delete, methods=["DELETE"])]
        )

    async def post(self, request: Request) -> Response:
        message = await request.json()
        opens = message.get("method") == "initialize"
        session = secrets.token_hex(8) if opens else request.headers.get(SESSION, "")
        if session and not opens and session not in self._processes:
            return Response(status_code=404)
        process = await self._process(session)
        if "method" not in message or "id" not in message:
            await process.send(message)
            return Response(status_code=202)
        headers = {SESSION: session} if session else {}
        messages = process.messages(message)
        first = await anext(messages)
        if "method" not in first:
            code = first.get("error", {}).get("code")
            return JSONResponse(first, 200 if session else STATUS.get(code, 200), headers)
        return StreamingResponse(_events(first, messages), media_type="text/event-stream", headers=headers)

    async def delete(self, request: Request) -> Response:
        process = self._processes.pop(request.headers.get(SESSION, ""), None)
        if process:
            await process.end()
        return Response(status_code=200 if process else 404)

    async def _process(self, session: str) -> Process:
        async with self._starting:
            if session not in self._processes:
                started = self._start(stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                self._processes[session] = Process(started, *await streams_of(started))
                if not session:
                    await self._processes[session].settle()
        return self._processes[session]

    async def close(self) -> None:
        await asyncio.gather(*(process.end() for process in self._processes.values()))


def _meta(message: Message) -> Message:
    meta: Message = (message.get("params") or {}).get("_meta") or {}
    return meta


async def _events(first: Message, messages: AsyncIterator[Message]) -> AsyncIterator[str]:
    yield _event(first)
    async for message in messages:
        yield _event(message)


def _event(message: Message) -> str:
    return f"event: message\ndata: {json.dumps(message)}\n\n"


class QuietServer(uvicorn.Server):
    """Runs beside the tests."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are for the tests."""
        yield


@contextmanager
def bridge(start: Start) -> Iterator[str]:
    """The address at which the servers that are started here are reached over HTTP."""
    with start_blocking_portal() as portal, socket.create_server(("127.0.0.1", 0)) as listening:
        made = Bridge(start)
        server = QuietServer(
            uvicorn.Config(made.app, http=HttpConnection, lifespan="off", ws="none", log_level="error")
        )
        serving = portal.start_task_soon(server.serve, [listening])
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            portal.call(made.close)
            server.should_exit = True
            serving.result()
