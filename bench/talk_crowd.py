"""Many conversations at once on one `sayso web`: how long a line takes from each agent to the page's event stream, and
what that costs the server in memory and processor time.

The agents are the stand-in of the tests, which prints as Claude does, in pieces and then whole, each line with its
time; as people have it, each has an MCP server to ask by. Beside it, in turns, as many agents whose lines a bare
Starlette application sends on as they are, which is the least that it takes.
Usage: python -m bench.talk_crowd [--conversations N] [--lines N] [--rounds N]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import psutil
from bench.tables import ratio, setting, table
from bench.wire import own_memory
from tests.e2e.talk.stage import STAND_IN, Stage
from tests.web.house import new_house

from sayso.running.folder import read_runner
from sayso.store import open_store

SAYSO, BARE = "Sayso", "bare stream"
PACE = 0.5
"""Seconds between two lines of one agent. They begin one after the other within them: real ones are not in step."""
SETTLE = 5.0
PATIENCE = 120.0
_SAID = re.compile(r"at (\d{13})")
MOST_P50_MS, MOST_MB = 40, 150


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One request whose reply is a stream of what one agent says, and what in it is a line of the agent."""

    port: int
    request: bytes
    text: Callable[[Mapping[str, object]], str]


class Contender(Protocol):
    """A server that agents talk through."""

    @property
    def pid(self) -> int: ...

    def begin(self, script: str) -> Reading:
        """Have an agent do as the script says, and be asked for what it says."""

    def runners_mb(self) -> float:
        """What is held besides by the processes that stand between this server and the agents."""


class BareStream:
    """The bare application, in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout
        self.pid, self._port = process.pid, int(process.stdout.readline())

    def begin(self, script: str) -> Reading:
        body = script.encode()
        head = f"POST / HTTP/1.1\r\nHost: bare\r\nContent-Length: {len(body)}\r\n\r\n"
        return Reading(port=self._port, request=head.encode() + body, text=_spoken)

    def runners_mb(self) -> float:
        return 0.0


class SaysoWeb:
    def __init__(self, stage: Stage) -> None:
        self._stage, self._visitor, self._project = stage, stage.visitor(), stage.project()
        self.pid = stage.house.web.pid

    def begin(self, script: str) -> Reading:
        conversation, web = self._visitor.start(self._project, script), self._stage.house.web
        head = (
            f"GET /talk/{conversation}/events?after=1.0 HTTP/1.1\r\nHost: {web.host}\r\nCookie: {self._visitor.cookie}"
        )
        return Reading(port=web.port, request=f"{head}\r\n\r\n".encode(), text=_on_the_page)

    def runners_mb(self) -> float:
        runners = [read_runner(run.folder) for run in self._stage.runs.open_here()]
        return sum(_own_memory(runner.pid) for runner in runners if runner) / 1e6


def _spoken(message: Mapping[str, object]) -> str:
    return json.dumps(message) if message.get("type") == "assistant" else ""


def _on_the_page(message: Mapping[str, object]) -> str:
    return str(message["html"]) if message.get("type") == "text" else ""


@dataclass(kw_only=True)
class Figures:
    """What was measured of one contender, over all rounds."""

    late_ms: list[float] = field(default_factory=list)
    cpu_seconds: float = 0.0
    seconds: float = 0.0
    memory_mb: float = 0.0
    runners_mb: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Crowd:
    """So many agents, each of which says so many lines."""

    conversations: int
    lines: int

    async def talks(self, through: Contender, folder: Path, figures: Figures) -> None:
        go = [Path(tempfile.mkdtemp(dir=folder)) / "go" for _ in range(self.conversations)]
        scripts = [f"say Ready\nwait {each}\npace {self.lines} {PACE}" for each in go]
        readings = [await asyncio.to_thread(through.begin, script) for script in scripts]
        ready = asyncio.Barrier(len(readings) + 1)
        reading = asyncio.gather(*(self._read(each, ready, figures) for each in readings))
        await asyncio.wait_for(ready.wait(), PATIENCE)
        # Their MCP servers are still busy with their own start.
        await asyncio.sleep(SETTLE)
        server = psutil.Process(through.pid)
        spent, begun = _cpu(server), time.perf_counter()
        for each in go:
            each.touch()
            await asyncio.sleep(PACE / len(go))
        await asyncio.sleep(PACE)
        figures.runners_mb = max(figures.runners_mb, through.runners_mb())
        await asyncio.wait_for(reading, PATIENCE + PACE * self.lines)
        figures.cpu_seconds += _cpu(server) - spent
        figures.seconds += time.perf_counter() - begun
        figures.memory_mb = max(figures.memory_mb, server.memory_info().rss / 1e6)

    async def _read(self, reading: Reading, ready: asyncio.Barrier, figures: Figures) -> None:
        incoming, outgoing = await asyncio.open_connection("127.0.0.1", reading.port, limit=1 << 24)
        outgoing.write(reading.request)
        heard = 0
        while heard <= self.lines and (line := await incoming.readline()):
            arrived = time.time() * 1000
            text = reading.text(json.loads(line[6:])) if line.startswith(b"data: {") else ""
            if "Ready" in text:
                heard += 1
                await ready.wait()
            elif said := _SAID.search(text):
                heard += 1
                figures.late_ms.append(arrived - int(said[1]))
        assert heard == self.lines + 1, f"{heard} of {self.lines + 1} lines have come"
        outgoing.close()


def _own_memory(pid: int) -> int:
    with suppress(psutil.NoSuchProcess):
        return own_memory(psutil.Process(pid))
    return 0


def _cpu(process: psutil.Process) -> float:
    spent = process.cpu_times()
    return float(spent.user + spent.system)


@contextmanager
def cold_stage(**settings: str) -> Iterator[Stage]:
    """A stage whose server was started as people start it: one that is forked from a warm process shares its memory."""
    with tempfile.TemporaryDirectory() as relay, new_house(before=("env",), relay_dir=relay, **settings) as house:
        store = open_store(house.place.config())
        try:
            yield Stage(house, store)
        finally:
            store.close()


@contextmanager
def sayso_web(conversations: int) -> Iterator[Contender]:
    command = f"{sys.executable} {STAND_IN}"
    with cold_stage(claude_command=command, most_runs=str(conversations), run_rest="1ms") as stage:
        yield SaysoWeb(stage)


@contextmanager
def bare_stream(home: Path) -> Iterator[Contender]:
    command = [sys.executable, "-m", "bench.bare_stream", str(home)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield BareStream(process)
        # It ends when its input does.
        process.communicate(timeout=PATIENCE)


def measure(crowd: Crowd, rounds: int) -> dict[str, Figures]:
    figures = {BARE: Figures(), SAYSO: Figures()}
    with tempfile.TemporaryDirectory() as name, sayso_web(crowd.conversations) as ours, bare_stream(Path(name)) as bare:
        for _ in range(rounds):
            for contender, found in ((bare, figures[BARE]), (ours, figures[SAYSO])):
                asyncio.run(crowd.talks(contender, Path(name), found))
    return figures


def shown(crowd: Crowd, figures: Mapping[str, Figures]) -> str:
    head = [f"{crowd.conversations} conversations at once", "p50 ms", "p99 ms", "most ms", "lines"]
    unit = statistics.median(figures[BARE].late_ms)
    late = table(head, [[f"a line to the event stream, {name}", *_late(each, unit)] for name, each in figures.items()])
    costs = table(["its server", "memory", "of one core", "CPU a line"], [[n, *_cost(f)] for n, f in figures.items()])
    ours = figures[SAYSO]
    p50 = statistics.median(ours.late_ms)
    return "\n\n".join(
        [
            late,
            costs,
            f"Aims: p50 of at most {MOST_P50_MS} ms ({_met(p50, MOST_P50_MS)}), a server of less than {MOST_MB} MB "
            f"({_met(ours.memory_mb, MOST_MB)}). Memory is all that is resident, shared libraries too. Beside it each "
            f"conversation has a runner, of {ours.runners_mb / crowd.conversations:.1f} MB of its own, which keeps the "
            "agent while servers come and go. "
            f"Each agent says {1 / PACE:g} lines a second, in two pieces and then whole.",
        ]
    )


def _late(figures: Figures, unit: float) -> list[str]:
    cuts = statistics.quantiles(figures.late_ms, n=100, method="inclusive")
    p50 = f"{cuts[49]:.1f} ({ratio(cuts[49], unit)})"
    return [p50, f"{cuts[98]:.1f}", f"{max(figures.late_ms):.1f}", str(len(figures.late_ms))]


def _cost(figures: Figures) -> list[str]:
    each = figures.cpu_seconds / len(figures.late_ms) * 1000
    return [f"{figures.memory_mb:.0f} MB", f"{figures.cpu_seconds / figures.seconds:.0%}", f"{each:.1f} ms"]


def _met(value: float, most: float) -> str:
    return "met" if value <= most else "MISSED"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--conversations", type=int, default=20)
    parser.add_argument("--lines", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    crowd = Crowd(conversations=given.conversations, lines=given.lines)
    print(f"{setting()}\n\n{shown(crowd, measure(crowd, given.rounds))}")


if __name__ == "__main__":
    main()
