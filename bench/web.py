"""MCP over HTTP and the event streams of the page: how fast an answer comes back, what a call costs, what streams do.

Everything is measured on one real `sayso web` process with a store of its own. Calls are compared with a bare server
of the SDK on the same uvicorn, taking turns in one run, so that whatever else the machine does hits both alike.
Usage: python bench/web.py [--rounds N] [--calls N] [--streams N]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp_types as types
import psutil
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from playwright.async_api import async_playwright

from sayso.accounts import Accounts
from sayso.asks.desk import Desk
from sayso.asks.model import Answer, Ask, Settler
from sayso.config import Config, load
from sayso.store import Store, open_store
from sayso.web.serve import listen
from sayso.web.site import Site

MODERN = "2026-07-28"
TOOL = "ask_user_questions"
LANES = 8
"""Connections that calls are made on at the same time."""
TURNS = 5
"""How often the two servers take turns."""

Figures = dict[str, list[float]]


# The servers


@contextmanager
def sayso_web(folder: Path) -> Iterator[tuple[Config, psutil.Process, int]]:
    environ = {**os.environ, "HOME": str(folder), "SAYSO_STATE_DIR": str(folder / "state"), "SAYSO_LOG_LEVEL": "error"}
    command = [str(Path(sys.executable).parent / "sayso"), "web", "--port", "0", "--json"]
    with _running(command, environ, folder / "log") as process:
        found = re.search(r"http://127\.0\.0\.1:(\d+)", (folder / "log").read_text())
        assert found is not None
        yield load(environ=environ, cwd=folder), psutil.Process(process.pid), int(found[1])


@contextmanager
def bare_server(folder: Path) -> Iterator[int]:
    with _running([sys.executable, __file__, "--bare"], dict(os.environ), folder / "bare-log") as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())


@contextmanager
def _running(command: Sequence[str], environ: dict[str, str], log: Path) -> Iterator[subprocess.Popen[str]]:
    with log.open("w") as stderr:
        process = subprocess.Popen(
            command, env=environ, cwd=log.parent, stdout=subprocess.PIPE, stderr=stderr, text=True
        )
    try:
        if "--bare" not in command:
            assert process.stdout is not None
            while process.stdout.readline().strip() != "}":
                assert process.poll() is None, log.read_text()
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=30)


def serve_bare() -> None:
    """The SDK's server with one tool that does nothing, on a socket like ours."""
    import uvicorn
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel.server import Server

    async def list_tools(
        ctx: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name="get_answers", input_schema={"type": "object"})])

    async def call_tool(
        ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(type="text", text="done")])

    server: Server[Any] = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
    listening = listen("127.0.0.1", 0)
    print(listening.getsockname()[1], flush=True)
    settings = uvicorn.Config(server.streamable_http_app(), log_level="error", access_log=False)
    asyncio.run(uvicorn.Server(settings).serve([listening]))


# Submit to result


@asynccontextmanager
async def agent(port: int, token: str, mode: str) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http), mode=mode) as client,
    ):
        await client.list_tools()
        yield client


async def submit_to_result(port: int, token: str, desk: Desk, mode: str, rounds: int) -> list[float]:
    """Seconds from the moment a person sends an answer, from another process, to the result at the agent."""
    times = []
    async with agent(port, token, mode) as client:
        for number in range(rounds + 1):
            call = asyncio.create_task(client.call_tool(TOOL, _question(f"Round {number} of {mode}?")))
            ask = await opened(desk)
            begun = time.perf_counter()
            await asyncio.to_thread(answer, desk, ask)
            await call
            times.append(time.perf_counter() - begun)
    return times[1:]


async def opened(desk: Desk) -> Ask:
    """The ask that is open, once there is one and its agent waits."""
    while True:
        asks = await asyncio.to_thread(desk.inbox)
        if asks and asks[0].wait:
            return asks[0]
        await asyncio.sleep(0.002)


def answer(desk: Desk, ask: Ask) -> None:
    given = Answer(question=ask.questions[0].id, chosen=(ask.questions[0].options[0].id,))
    desk.answer(ask.id, [given], Settler(person="bench", surface="bench"))


def _question(text: str) -> dict[str, Any]:
    return {"questions": [{"prompt": text, "options": [{"label": "Yes"}, {"label": "No"}]}]}


# Ask to page


def chromium() -> str:
    script = Path(__file__).parents[1] / "scripts" / "install_browser.py"
    return subprocess.run([sys.executable, script], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


async def ask_to_page(port: int, cookie: tuple[str, str], token: str, desk: Desk, rounds: int) -> list[float]:
    """Seconds from an agent's call to the question in the DOM of an open page, in a real browser."""
    times = []
    where = {"name": cookie[0], "value": cookie[1], "url": f"http://127.0.0.1:{port}"}
    async with async_playwright() as playwright, agent(port, token, "auto") as client:
        browser = await playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        context = await browser.new_context()
        await context.add_cookies([where])  # type: ignore[list-item]  # a TypedDict of the library's own
        page = await context.new_page()
        await page.goto(f"http://127.0.0.1:{port}/")
        for number in range(rounds + 1):
            text = f"Is number {number} in the page?"
            seen = asyncio.create_task(page.wait_for_selector(f"text={text}"))
            await asyncio.sleep(0.05)  # for the browser to begin to look
            begun = time.perf_counter()
            call = asyncio.create_task(client.call_tool(TOOL, _question(text)))
            await seen
            times.append(time.perf_counter() - begun)
            await asyncio.to_thread(answer, desk, await opened(desk))
            await call
        await browser.close()
    return times[1:]


# Calls


def request(port: int, token: str, tool: str) -> bytes:
    """A call as 2026-07-28 wants it, ready to be sent again and again."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": tool, "arguments": {}, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    lines = {
        "Host": f"127.0.0.1:{port}",
        "Authorization": f"Bearer {token}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + body


async def calls_per_second(port: int, token: str, tool: str, calls: int) -> float:
    begun = time.perf_counter()
    await asyncio.gather(*(_call_often(port, request(port, token, tool), calls // LANES) for _ in range(LANES)))
    return calls // LANES * LANES / (time.perf_counter() - begun)


async def _call_often(port: int, call: bytes, times: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(times):
        writer.write(call)
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        length = re.search(rb"content-length: (\d+)", head, re.I)
        assert length is not None, head
        await reader.readexactly(int(length[1]))
    writer.close()


# Event streams


class Stream:
    """One open event stream of a browser."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, port: int, cookie: str) -> Stream:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
        writer.write(f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        stream = cls(reader, writer)
        await stream.hears(b"event: inbox")
        return stream

    async def hears(self, what: bytes) -> float:
        """When it was told so."""
        while what not in await self._reader.readline():
            pass
        return time.perf_counter()

    def close(self) -> None:
        self._writer.close()


async def streams(
    port: int, server: psutil.Process, cookie: tuple[str, str], token: str, desk: Desk, count: int
) -> tuple[float, list[float]]:
    """Kilobytes that each stream takes in the server, and the seconds in which one ask reached each of them."""
    first = await Stream.open(port, "=".join(cookie))
    before = server.memory_info().rss
    opened_ = [first, *[await Stream.open(port, "=".join(cookie)) for _ in range(count - 1)]]
    each = (server.memory_info().rss - before) / 1024 / max(count - 1, 1)
    async with agent(port, token, "auto") as client:
        begun = time.perf_counter()
        call = asyncio.create_task(client.call_tool(TOOL, _question("Does everyone see this?")))
        seen = await asyncio.gather(*(stream.hears(b"Does everyone see this?") for stream in opened_))
        answer(desk, await opened(desk))
        await call
    for stream in opened_:
        stream.close()
    return each, [moment - begun for moment in seen]


async def signed_in(config: Config, store: Store) -> tuple[str, str]:
    """The cookie of a browser that is signed in."""
    accounts = Accounts(store)
    accounts.add_user("bench")
    return await Site(config, store).cookie(), accounts.redeem(accounts.make_link("bench"))


# Telling


def milliseconds(times: Sequence[float]) -> str:
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    return f"{cuts[49] * 1000:8.1f} {cuts[98] * 1000:8.1f}"


async def measure(rounds: int, calls: int, count: int) -> None:
    with tempfile.TemporaryDirectory(prefix="sayso-bench-") as name:
        folder = Path(name)
        with sayso_web(folder) as (config, server, port), bare_server(folder) as bare_port:
            store = open_store(config)
            token, desk = Accounts(store).add_token("bench"), Desk(store)
            cookie = await signed_in(config, store)
            print(f"{'':44}{'p50 ms':>8} {'p99 ms':>8}")
            times = await ask_to_page(port, cookie, token, desk, rounds)
            print(f"{'ask made to question in the page':44}{milliseconds(times)}")
            for mode in ("auto", "legacy"):
                times = await submit_to_result(port, token, desk, mode, rounds)
                print(f"{f'answer sent to result at the agent ({mode})':44}{milliseconds(times)}")
            each, reached = await streams(port, server, cookie, token, desk, count)
            print(f"{f'ask made to told on {count} event streams':44}{milliseconds(reached)}")
            print(f"{'memory of one event stream, kB':44}{each:8.1f}")
            await compare(port, bare_port, token, calls)
            store.close()


async def compare(port: int, bare_port: int, token: str, calls: int) -> None:
    """Calls a second of each server in turns."""
    kinds = {"bare SDK server": (bare_port, "get_answers"), "Sayso, get_answers": (port, "get_answers")}
    rates: Figures = {kind: [] for kind in kinds}
    for _ in range(TURNS + 1):
        for kind, (where, tool) in kinds.items():
            rates[kind].append(await calls_per_second(where, token, tool, calls))
    bare = statistics.median(rates["bare SDK server"][1:])
    print(f"\n{'tools/call over HTTP':44}{'calls/s':>8} {'ratio':>8}")
    for kind, measured in rates.items():
        # The first turn warms both up.
        rate = statistics.median(measured[1:])
        print(f"{kind:44}{rate:8.0f} {rate / bare:8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--calls", type=int, default=800)
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--bare", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.bare:
        serve_bare()
    else:
        anyio.run(measure, given.rounds, given.calls, given.streams)


if __name__ == "__main__":
    main()
