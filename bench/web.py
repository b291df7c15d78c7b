"""MCP over HTTP and the event streams of the page: how fast an answer comes back, what a call costs, what streams do.

Everything is measured on one real `sayso web` process with a store of its own. Calls are compared with servers of the
SDK alone on the same uvicorn, taking turns in one run, so that whatever else the machine does hits all alike.
Usage: python -m bench.web [--rounds N] [--calls N] [--streams N]
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
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
import psutil
from bench.tables import ratio, setting, table
from bench.web_rivals import TOKEN
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from playwright.async_api import async_playwright

from sayso.accounts import Accounts
from sayso.asks.desk import AskDesk
from sayso.asks.model import Answer, Ask, Settler
from sayso.config import Config, load
from sayso.desks import Desks
from sayso.store import Store, open_store
from sayso.web.site import Site

ROOT = Path(__file__).parents[1]
MODERN = "2026-07-28"
TOOL = "ask_user_questions"
LANES = 8
"""Connections that calls are made on at the same time."""
TURNS = 9
"""How often the servers take turns, and how many asks go to all event streams."""

AS_IT_COMES = "SDK server that does nothing"
BARE = "the same on httptools"
ALIKE = "SDK server that does the same work"
OURS = "Sayso, get_answers"
ABOUT = f"""{LANES} calls at a time, all of 2026-07-28, all on uvicorn, the first with h11, which the SDK brings, the
others with httptools, all with the Host and Origin headers checked; in brackets how that compares with the SDK server
that does the same work. The one that does nothing lets everybody in, and its tool returns a word. The one that does the
same work has the SDK check a bearer token, which it looks up in SQLite, and its tool looks up in SQLite what there is
for its caller. So does Sayso, and it also counts the call, sets the headers that protect browsers, and watches whether
what it returns is handed over."""

Figures = dict[str, list[float]]


# The servers


@contextmanager
def sayso_web(folder: Path) -> Iterator[tuple[Config, psutil.Process, int]]:
    environ = {**os.environ, "HOME": str(folder), "SAYSO_STATE_DIR": str(folder / "state"), "SAYSO_LOG_LEVEL": "error"}
    environ["SAYSO_MAX_OPEN_ASKS"] = "1000000"
    command = [str(Path(sys.executable).parent / "sayso"), "web", "--port", "0", "--json"]
    with _running(command, environ, folder / "log") as process:
        assert process.stdout is not None
        told = ""
        while not told.endswith("}\n"):
            assert process.poll() is None, (folder / "log").read_text()
            told += process.stdout.readline()
        port = urlsplit(json.loads(told)["address"]).port
        assert port is not None
        yield load(environ=environ, cwd=folder), psutil.Process(process.pid), port


@contextmanager
def rival(kind: str, folder: Path) -> Iterator[tuple[psutil.Process, int]]:
    """A server of the SDK alone."""
    command = [sys.executable, "-m", "bench.web_rivals", kind, str(folder / f"{kind}.db")]
    with _running(command, {**os.environ, "PYTHONPATH": str(ROOT)}, folder / f"{kind}-log") as process:
        assert process.stdout is not None
        yield psutil.Process(process.pid), int(process.stdout.readline())


@contextmanager
def _running(command: Sequence[str], environ: dict[str, str], log: Path) -> Iterator[subprocess.Popen[str]]:
    with log.open("w") as stderr:
        process = subprocess.Popen(
            command, env=environ, cwd=log.parent, stdout=subprocess.PIPE, stderr=stderr, text=True
        )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=30)


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


async def submit_to_result(port: int, token: str, desk: AskDesk, mode: str, rounds: int) -> list[float]:
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


async def opened(desk: AskDesk) -> Ask:
    """The ask that is open, once there is one and its agent waits."""
    while True:
        asks = await asyncio.to_thread(desk.inbox)
        if asks and asks[0].wait:
            return asks[0]
        await asyncio.sleep(0.002)


def answer(desk: AskDesk, ask: Ask) -> None:
    given = Answer(question=ask.questions[0].id, chosen=(ask.questions[0].options[0].id,))
    desk.answer(ask.id, [given], Settler(person="bench", surface="bench"))


def _question(text: str) -> dict[str, Any]:
    return {"questions": [{"prompt": text, "options": [{"label": "Yes"}, {"label": "No"}]}]}


# Ask to page


def chromium() -> str:
    script = Path(__file__).parents[1] / "scripts" / "install_browser.py"
    return subprocess.run([sys.executable, script], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[0]


SEEN = """
window.seen = new Map();
new MutationObserver((changes) => {
  const there = performance.timeOrigin + performance.now();
  for (const node of changes.flatMap((change) => [...change.addedNodes])) {
    const number = /Is number (\\d+) in the page/.exec(node.textContent ?? "")?.[1];
    if (number && !window.seen.has(Number(number))) window.seen.set(Number(number), there);
  }
}).observe(document, { subtree: true, childList: true });
"""
"""Notes by the page's own clock, which is the machine's, when each question appears in it."""


async def ask_to_page(port: int, visitor: Visitor, token: str, desk: AskDesk, rounds: int) -> list[float]:
    """Seconds from an agent's call to the question in the DOM of an open page, in a real browser."""
    times = []
    where = {"name": visitor.cookie, "value": visitor.secret, "url": f"http://{visitor.host}:{port}"}
    async with async_playwright() as playwright, agent(port, token, "auto") as client:
        browser = await playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        context = await browser.new_context()
        await context.add_cookies([where])  # type: ignore[list-item]  # a TypedDict of the library's own
        await context.add_init_script(SEEN)
        page = await context.new_page()
        await page.goto(f"http://{visitor.host}:{port}/")
        for number in range(rounds + 1):
            text, begun = f"Is number {number} in the page?", time.time()
            call = asyncio.create_task(client.call_tool(TOOL, _question(text)))
            await page.wait_for_selector(f"text={text}")
            times.append(await page.evaluate(f"window.seen.get({number})") / 1000 - begun)
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


@dataclass(frozen=True, kw_only=True)
class Visitor:
    """A browser that is signed in: by which name it calls the server, and its cookie."""

    host: str
    cookie: str
    secret: str


class Stream:
    """One open event stream of a browser."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, port: int, visitor: Visitor) -> Stream:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
        who = f"Host: {visitor.host}:{port}\r\nCookie: {visitor.cookie}={visitor.secret}"
        writer.write(f"GET /events HTTP/1.1\r\n{who}\r\n\r\n".encode())
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


@dataclass(frozen=True, kw_only=True)
class Streamed:
    """Kilobytes that each stream takes in the server, the seconds after which an ask had reached each of them, and the
    seconds of processor time that the server took for one ask."""

    each_kb: float
    reached: list[float]
    cpu: float


async def streams(
    port: int, server: psutil.Process, visitor: Visitor, token: str, desk: AskDesk, count: int
) -> Streamed:
    first = await Stream.open(port, visitor)
    before = server.memory_info().rss
    opened_ = [first, *[await Stream.open(port, visitor) for _ in range(count - 1)]]
    each = (server.memory_info().rss - before) / 1024 / max(count - 1, 1)
    reached: list[float] = []
    used: list[float] = []
    async with agent(port, token, "auto") as client:
        for number in range(TURNS + 1):
            text, cpu, begun = f"Does everyone see number {number}?", cpu_seconds(server), time.perf_counter()
            call = asyncio.create_task(client.call_tool(TOOL, _question(text)))
            seen = await asyncio.gather(*(stream.hears(text.encode()) for stream in opened_))
            used.append(cpu_seconds(server) - cpu)
            # The first turn warms it up.
            reached += [moment - begun for moment in seen] if number else []
            answer(desk, await opened(desk))
            await call
    for stream in opened_:
        stream.close()
    return Streamed(each_kb=each, reached=reached, cpu=statistics.mean(used[1:]))


async def signed_in(config: Config, store: Store) -> Visitor:
    accounts = Accounts(store)
    accounts.add_user("bench")
    return Visitor(
        host=accounts.private_name("bench"),
        cookie=await Site(Desks(config, store)).cookie(),
        secret=accounts.redeem(accounts.make_link("bench")),
    )


# Telling


def cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def milliseconds(name: str, times: Sequence[float]) -> list[str]:
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    return [name, *(f"{seconds * 1000:.1f}" for seconds in (min(times), cuts[49], cuts[98]))]


async def measure(rounds: int, calls: int, count: int) -> None:
    with tempfile.TemporaryDirectory(prefix="sayso-bench-") as name, ExitStack() as stack:
        folder = Path(name)
        config, server, port = stack.enter_context(sayso_web(folder))
        store = stack.enter_context(closing(open_store(config)))
        token, desk = Accounts(store).add_token("bench"), AskDesk(store)
        visitor = await signed_in(config, store)
        rows = [milliseconds("ask made to question in the page", await ask_to_page(port, visitor, token, desk, rounds))]
        for mode in ("auto", "legacy"):
            times = await submit_to_result(port, token, desk, mode, rounds)
            rows.append(milliseconds(f"answer sent to result at the agent ({mode})", times))
        told = await streams(port, server, visitor, token, desk, count)
        rows.append(milliseconds(f"ask made to told on each of {count} event streams", told.reached))
        print(f"{setting()}\n\n{table(['on the way', 'least ms', 'p50 ms', 'p99 ms'], rows)}\n")
        print(
            f"An event stream takes {told.each_kb:.0f} kB in the server. To tell all {count} of an ask took it "
            f"{told.cpu * 1000:.0f} ms of processor time.\n"
        )
        kinds = {"as-it-comes": (AS_IT_COMES, ""), "bare": (BARE, ""), "alike": (ALIKE, TOKEN)}
        shown = {name: (*stack.enter_context(rival(kind, folder)), key) for kind, (name, key) in kinds.items()}
        shown[OURS] = server, port, token
        print(await compare(shown, calls))


async def compare(servers: Mapping[str, tuple[psutil.Process, int, str]], calls: int) -> str:
    """Calls a second, and processor time of the server for one, of each server in turns."""
    rates: Figures = {kind: [] for kind in servers}
    costs: Figures = {kind: [] for kind in servers}
    for _ in range(TURNS + 1):
        for kind, (process, port, token) in servers.items():
            before = cpu_seconds(process)
            rates[kind].append(await calls_per_second(port, token, "get_answers", calls))
            costs[kind].append((cpu_seconds(process) - before) / calls * 1000)
    # The first turn warms them up.
    rate = {kind: statistics.median(measured[1:]) for kind, measured in rates.items()}
    cost = {kind: statistics.median(measured[1:]) for kind, measured in costs.items()}
    rows = [
        [
            kind,
            f"{rate[kind]:.0f} ({ratio(rate[kind], rate[ALIKE])})",
            f"{cost[kind]:.2f} ms ({ratio(cost[kind], cost[ALIKE])})",
        ]
        for kind in servers
    ]
    return f"{table(['tools/call over HTTP', 'calls/s', 'CPU a call'], rows)}\n\n{ABOUT}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--calls", type=int, default=400)
    parser.add_argument("--streams", type=int, default=500)
    given = parser.parse_args()
    anyio.run(measure, given.rounds, given.calls, given.streams)


if __name__ == "__main__":
    main()
