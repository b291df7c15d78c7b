"""Many agents on one store: each waits for its person over HTTP, through several `sayso web` on one PostgreSQL.

Usage: python -m bench.fleet [--agents 1000 3000 10000] [--seconds 60] [--faults] [--client claude-code]
Each agent has one question open, and asks the next as soon as it is answered. How long one call may wait depends on the
agent's client; where that is not for ever, it goes on with the next call, as the protocol has it. Each person looks at
their own inbox and answers some of it, so that all together they give as many answers a second as was said. Whoever
loses a call makes it again, through another server. Every answer that was taken has to reach the agent that asked,
once, as it was given.
With `--faults` the last fleet goes on while a server is killed every ten seconds, and the store is restarted twice.
Agents and people are one process, so that one clock sees both ends; everything is on one machine, and shares it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from bench.tables import setting, table
from tests.ports import lasting_port
from tests.postgres import Server

from sayso.accounts import Accounts
from sayso.asks.desk import AskDesk
from sayso.config import load
from sayso.store import Store, open_store

SAYSO = Path(sys.executable).parent / "sayso"
MODERN = "2026-07-28"
REPLICAS, PEOPLE = 4, 200
RATE = 100.0
"""Answers that all people together give in a second."""
AT_A_TIME = 5
"""How many a person answers at one look into the inbox."""
AT_ONCE = 40
"""How many people are at it at the same time, and how many agents call for the first time."""
KILL_EVERY = 10.0
PATIENCE, PATIENCE_AFTER_FAULTS = 120.0, 900.0
"""Seconds within which an answer has to be there, whatever has happened; where servers were killed, also until all who
waited there are back, which takes a small machine minutes."""
_ASK = "ask_user_questions"


class Replicas:
    """The servers, each on a port that it keeps."""

    def __init__(self, folder: Path, address: str) -> None:
        self.ports = [lasting_port() for _ in range(REPLICAS)]
        self._folder = folder
        settings = {
            "STORE": address,
            "STATE_DIR": str(folder / "state"),
            "LOG_LEVEL": "error",
            "MAX_OPEN_ASKS": "1000000",
        }
        self.environ = {
            **os.environ,
            "HOME": str(folder),
            **{f"SAYSO_{name}": value for name, value in settings.items()},
        }
        self._processes = [self._started(port) for port in self.ports]
        self.kills = 0

    def _started(self, port: int) -> subprocess.Popen[str]:
        with (self._folder / f"log-{port}").open("a") as log:
            return subprocess.Popen(
                [SAYSO, "web", "--port", str(port), "--json"],
                env=self.environ,
                cwd=self._folder,
                stdout=log,
                stderr=log,
                text=True,
            )

    async def ready(self) -> None:
        for port in self.ports:
            end = time.monotonic() + PATIENCE
            while not await _is_open(port):
                assert time.monotonic() < end, (self._folder / f"log-{port}").read_text()
                await asyncio.sleep(0.05)

    def kill_one(self) -> None:
        place = self.kills % REPLICAS
        self._processes[place].kill()
        self._processes[place].wait(PATIENCE)
        self._processes[place] = self._started(self.ports[place])
        self.kills += 1

    @property
    def processes(self) -> list[psutil.Process]:
        return [psutil.Process(process.pid) for process in self._processes]

    def close(self) -> None:
        for process in self._processes:
            process.send_signal(signal.SIGTERM)
        for process in self._processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(30)
            process.kill()


async def _is_open(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


async def post(port: int, path: str, secret: str, body: Mapping[str, Any] | None, more: str = "") -> tuple[int, bytes]:
    """The status and the body of a reply, read to the end of its connection; 0 where it was cut off."""
    sent = b"" if body is None else json.dumps(body).encode()
    head = (
        f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n"
        f"Authorization: Bearer {secret}\r\nAccept: application/json, text/event-stream\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(sent)}\r\n{more}\r\n"
    )
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return 0, b""
    try:
        writer.write(head.encode() + sent)
        reply = await reader.read(-1)
    except OSError:
        return 0, b""
    finally:
        writer.transport.abort()
    top, _, rest = reply.partition(b"\r\n\r\n")
    return (int(top.split(b" ", 2)[1]) if top else 0), rest


@dataclass
class Score:
    """What was said and what was heard."""

    said: dict[str, tuple[str, float]] = field(default_factory=dict)
    """By its mark: to which question, and when."""
    taken: dict[str, float] = field(default_factory=dict)
    """When a person knew that an answer was taken."""
    heard: dict[str, float] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)

    def lost(self) -> list[str]:
        return [mark for mark in self.taken if mark not in self.heard]


class Agent:
    """One agent: it asks, waits, and asks again."""

    def __init__(self, number: int, client: str, token: str, ports: Sequence[int], score: Score) -> None:
        self._number, self._client, self._token, self._ports, self._score = number, client, token, ports, score
        self._turn = number
        self._state: dict[str, str] = {}
        """What the server wants to be told when the call goes on."""
        self.over = False

    async def work(self, first: asyncio.Semaphore) -> None:
        for count in range(sys.maxsize):
            text = f"May agent {self._number} go on with step {count}?"
            await first.acquire()
            asyncio.get_running_loop().call_later(0.2, first.release)
            while not await self._is_told(text):
                if self.over:
                    return
                self._turn += 1
                if not self._state:
                    await asyncio.sleep(random.uniform(0.1, 2.0))

    async def _is_told(self, text: str) -> bool:
        self._score.calls["made"] += 1
        question = {"prompt": text, "options": [{"label": "Yes"}, {"label": "No"}]}
        meta = {
            "protocolVersion": MODERN,
            "clientInfo": {"name": self._client, "version": "1"},
            "clientCapabilities": {},
        }
        params = {
            "name": _ASK,
            "arguments": {"questions": [question]},
            **self._state,
            "_meta": {
                **{f"io.modelcontextprotocol/{name}": value for name, value in meta.items()},
                "threadId": f"thread {self._number}",
            },
        }
        port = self._ports[self._turn % len(self._ports)]
        more = f"MCP-Protocol-Version: {MODERN}\r\nMcp-Method: tools/call\r\nMcp-Name: {_ASK}\r\n"
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        status, told = await post(port, "/mcp", self._token, call, more)
        lines = [line for line in told.split(b"\n") if line.startswith((b"data: {", b"{"))]
        data: dict[str, Any] = {}
        with suppress(ValueError):
            data = json.loads(lines[-1].removeprefix(b"data: ")) if lines else {}
        whole = data.get("result", {})
        result, state = whole.get("structuredContent", {}), whole.get("requestState", "")
        self._state = {"requestState": state} if state else {}
        if state:
            self._score.calls["to be gone on with"] += 1
            return False
        if result.get("outcome") != "answered":
            self._score.calls[f"ended as {result.get('outcome') or status}"] += 1
            return False
        self._hear(text, result["answers"][0]["text"])
        return True

    def _hear(self, text: str, mark: str) -> None:
        score = self._score
        asked, _ = score.said.get(mark, ("nothing", 0))
        if asked != text:
            score.wrong.append(f"{text!r} was told {mark!r}, which was said to {asked!r}")
        if mark in score.heard:
            score.wrong.append(f"{mark!r} was told twice")
        score.heard[mark] = time.monotonic()


class People:
    """All people; each looks at their own inbox."""

    def __init__(self, sessions: Sequence[str], ports: Sequence[int], score: Score) -> None:
        self._sessions, self._ports, self._score = sessions, ports, score
        self._chance = random.Random(7)
        self._given: set[str] = set()
        self._count = 0
        self._due = 0.0

    async def work(self, until: float) -> None:
        self._due = time.monotonic()
        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(self._answer_until(until))

    async def _answer_until(self, until: float) -> None:
        while time.monotonic() < until:
            secret, port = self._chance.choice(self._sessions), self._chance.choice(self._ports)
            status, body = await post(port, f"/api/asks?limit={4 * AT_A_TIME}", secret, None)
            asks = json.loads(body)["asks"] if status == 200 else []
            left = [ask for ask in asks if ask["id"] not in self._given][:AT_A_TIME]
            self._given.update(ask["id"] for ask in left)
            for ask in left:
                await self._wait_turn(until)
                await self._answer(ask, secret)
            if not left:
                await asyncio.sleep(0.1)

    async def _wait_turn(self, until: float) -> None:
        """Never faster than the rate; what was missed is not made up for."""
        now = time.monotonic()
        self._due = max(self._due + 1 / RATE, now - 1)
        await asyncio.sleep(min(self._due - now, max(until - now, 0)) if self._due > now else 0)

    async def _answer(self, ask: Mapping[str, Any], secret: str) -> None:
        self._count += 1
        mark, question = f"word {self._count}", ask["questions"][0]
        self._score.said[mark] = question["question"], time.monotonic()
        body = {"answers": [{"question": question["id"], "text": mark}]}
        port = self._chance.choice(self._ports)
        status, _ = await post(port, f"/api/asks/{ask['id']}/answer", secret, body)
        if status == 200:
            self._score.taken[mark] = time.monotonic()
        else:
            # Nobody knows, or somebody was told no; whoever looks again finds it, if it is still open.
            self._score.calls[f"answer: {status}"] += 1
            self._given.discard(ask["id"])


class Fleet:
    """All of them, on one store."""

    def __init__(self, folder: Path, server: Server, address: str, count: int, client: str) -> None:
        self._server, self._address, self.count, self._client = server, address, count, client
        self.replicas = Replicas(folder, address)
        self.score = Score()
        with _opened(self.replicas.environ, folder) as store:
            accounts = Accounts(store)
            names = [f"person{number}" for number in range(PEOPLE)]
            for name in names:
                accounts.add_user(name)
            self._sessions = [accounts.redeem(accounts.make_link(name)) for name in names]
            self._tokens = [accounts.add_token(f"agents-of-{name}", user=name) for name in names]
        self._folder = folder
        self._agents: list[Agent] = []
        self._working: list[asyncio.Task[None]] = []

    async def gather(self) -> float:
        """Have all agents ask, and wait until all their questions are there; the seconds that took."""
        await self.replicas.ready()
        self._empty = self.memory()
        begun, first = time.monotonic(), asyncio.Semaphore(AT_ONCE)
        for number in range(self.count):
            agent = Agent(number, self._client, self._tokens[number % PEOPLE], self.replicas.ports, self.score)
            self._agents.append(agent)
            self._working.append(asyncio.create_task(agent.work(first)))
        with _opened(self.replicas.environ, self._folder) as store:
            desk = AskDesk(store)
            while (there := await asyncio.to_thread(desk.inbox_size)) < self.count:
                assert time.monotonic() - begun < 20 * PATIENCE, f"{there} of {self.count} asks"
                await asyncio.sleep(0.2)
        return time.monotonic() - begun

    def memory(self) -> float:
        """Bytes of all servers."""
        return sum(process.memory_info().rss for process in self.replicas.processes)

    @property
    def memory_each(self) -> float:
        """Bytes in a server for each agent that waits there."""
        return (self.memory() - self._empty) / self.count

    def processor(self) -> dict[str, float]:
        """Seconds so far, of the servers, the store, and agents and people."""
        found = {
            "servers": sum(map(_seconds, self.replicas.processes)),
            "store": 0.0,
            "driver": _seconds(psutil.Process()),
        }
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.name() == "postgres" and process.cwd().startswith(str(self._server.folder)):
                    found["store"] += _seconds(process)
        return found

    async def answered(self, seconds: float, *, faults: bool = False) -> None:
        trouble = asyncio.create_task(self._trouble(seconds)) if faults else None
        await People(self._sessions, self.replicas.ports, self.score).work(time.monotonic() + seconds)
        if trouble:
            await trouble
        end = time.monotonic() + (PATIENCE_AFTER_FAULTS if faults else PATIENCE)
        while self.score.lost() and time.monotonic() < end:  # noqa: ASYNC110
            await asyncio.sleep(0.1)

    async def _trouble(self, seconds: float) -> None:
        restarts = [seconds / 3, 2 * seconds / 3]
        begun = time.monotonic()
        next_kill = begun + KILL_EVERY
        while time.monotonic() < begun + seconds:
            await asyncio.sleep(0.5)
            if time.monotonic() >= next_kill:
                next_kill += KILL_EVERY
                await asyncio.to_thread(self.replicas.kill_one)
            if restarts and time.monotonic() >= begun + restarts[0]:
                restarts.pop(0)
                await asyncio.to_thread(self._server.stop)
                await asyncio.to_thread(self._server.start)

    async def leave(self) -> None:
        for agent in self._agents:
            agent.over = True
        for task in self._working:
            task.cancel()
        await asyncio.gather(*self._working, return_exceptions=True)
        self.replicas.close()


def _seconds(process: psutil.Process) -> float:
    try:
        spent = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(spent.user + spent.system)


@contextmanager
def _opened(environ: Mapping[str, str], folder: Path) -> Iterator[Store]:
    store = open_store(load(environ=environ, cwd=folder))
    try:
        yield store
    finally:
        store.close()


HEAD = [
    "agents",
    "answers/s",
    "p50 ms",
    "p99 ms",
    "most ms",
    "taken, p50 ms",
    "kB an agent",
    "servers",
    "store",
    "driver",
    "lost",
    "wrong",
]


async def measured(
    folder: Path, server: Server, count: int, client: str, seconds: float, faults: bool
) -> list[list[str]]:
    name = f"fleet{count}"
    server.make(name)
    fleet = Fleet(folder, server, server.address(name), count, client)
    rows = []
    try:
        gathered = await fleet.gather()
        print(f"{count:,} agents wait after {gathered:.0f} s", file=sys.stderr, flush=True)
        each, before, begun = fleet.memory_each, fleet.processor(), time.monotonic()
        await fleet.answered(seconds)
        rows.append(_row(f"{count:,}", fleet.score, time.monotonic() - begun, each, before, fleet.processor()))
        print(fleet.score.calls, file=sys.stderr, flush=True)
        if faults:
            fleet.score.said.clear()
            fleet.score.taken.clear()
            fleet.score.heard.clear()
            before, begun = fleet.processor(), time.monotonic()
            await fleet.answered(2 * seconds, faults=True)
            label = f"{count:,}, {fleet.replicas.kills} kills, 2 restarts"
            rows.append(
                _row(label, fleet.score, time.monotonic() - begun, fleet.memory_each, before, fleet.processor())
            )
            print(fleet.score.calls, file=sys.stderr, flush=True)
        for each_wrong in fleet.score.wrong[:5]:
            print(each_wrong, file=sys.stderr)
    finally:
        await fleet.leave()
    return rows


def _row(
    label: str, score: Score, seconds: float, each: float, before: Mapping[str, float], after: Mapping[str, float]
) -> list[str]:
    taken = sorted(score.heard[mark] - score.said[mark][1] for mark in score.taken if mark in score.heard)
    words = [score.taken[mark] - score.said[mark][1] for mark in score.taken]
    count = max(len(taken), 1)
    cores = [f"{1000 * max(after[name] - before[name], 0) / count:.1f}" for name in ("servers", "store", "driver")]
    times = (
        (statistics.median(taken), taken[int(0.99 * count)], taken[-1], statistics.median(words))
        if taken
        else (0, 0, 0, 0)
    )
    return [
        label,
        f"{len(taken) / seconds:.0f}",
        *(f"{1000 * each_time:.0f}" for each_time in times),
        f"{each / 1024:.0f}",
        *cores,
        str(len(score.lost())),
        str(len(score.wrong)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--agents", type=int, nargs="+", default=[1_000, 3_000, 10_000])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--client", default="claude-code", help="whose calls they are; an unknown one's wait 50 s")
    parser.add_argument("--faults", action="store_true", help="then kill servers and restart the store")
    given = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    rows = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sayso-fleet-", dir="/tmp")))
        folder.chmod(0o711)
        server = Server(folder / "postgres")
        server.folder.mkdir()
        server.create()
        server.start()
        stack.callback(server.stop)
        for count in given.agents:
            mine = folder / str(count)
            mine.mkdir()
            last = count == given.agents[-1]
            found = asyncio.run(measured(mine, server, count, given.client, given.seconds, given.faults and last))
            # A large one takes minutes, and may never come to its end.
            print(table(HEAD, found), file=sys.stderr, flush=True)
            rows += found
    print(setting())
    print(f"\n{table(HEAD, rows)}")
    if any(row[-1] != "0" or row[-2] != "0" for row in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
