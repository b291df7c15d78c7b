"""How long a question and its answer are on their way: a real server on stdio, a person in another process.

Each figure is also given as a ratio to what no design can avoid, measured in the same run: one durable SQLite commit
plus one round trip through a pipe. Milliseconds depend on the disk and on what else the machine does; ratios less so.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import select
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from sayso import __version__
from sayso.asks.desk import Desk
from sayso.asks.model import Answer, Ask, Settler
from sayso.store import Bell
from sayso.store.sqlite import SqliteStore

WARM_UP = 20
PATIENCE = 30.0
ECHO = "import os\nwhile line := os.read(0, 65536): os.write(1, line)"


@dataclass(frozen=True, kw_only=True)
class Timings:
    """What was measured of one thing, in milliseconds."""

    name: str
    samples: tuple[float, ...]

    @property
    def p50(self) -> float:
        return statistics.median(self.samples)

    @property
    def p99(self) -> float:
        return statistics.quantiles(self.samples, n=100, method="inclusive")[98]


def measured(name: str, rounds: int, work: Callable[[int], None]) -> Timings:
    samples: list[float] = []
    for number in range(WARM_UP + rounds):
        begun = time.perf_counter()
        work(number)
        samples.append((time.perf_counter() - begun) * 1000)
    return Timings(name=name, samples=tuple(samples[WARM_UP:]))


def commits(folder: Path, rounds: int) -> Timings:
    """One small row, durable on this disk when the commit returns."""
    with closing(sqlite3.connect(folder / "commit.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE rows (body TEXT)")
        return measured(
            "one SQLite commit", rounds, lambda _: connection.execute("INSERT INTO rows VALUES ('x')").close()
        )


def pipe_round_trips(rounds: int) -> Timings:
    """A line to a child process and back."""
    with _child([sys.executable, "-c", ECHO]) as (into, out):

        def there_and_back(_: int) -> None:
            os.write(into, b"x\n")
            os.read(out, 65536)

        return measured("one pipe round trip", rounds, there_and_back)


@contextmanager
def _child(command: list[str], **more: Any) -> Iterator[tuple[int, int]]:
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, **more) as child:
        assert child.stdin
        assert child.stdout
        yield child.stdin.fileno(), child.stdout.fileno()
        child.stdin.close()
        child.wait(PATIENCE)


class Client:
    """An MCP client cut down to the wire, so that only the server's time is measured."""

    def __init__(self, into: int, out: int) -> None:
        self._into, self._out = into, out
        self._lines = b""

    def shake_hands(self) -> None:
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.send({"id": "hello", "method": "initialize", "params": about})
        self.result("hello")
        self.send({"method": "notifications/initialized"})

    def ask(self, number: int) -> None:
        question = {"prompt": f"Question {number}?", "title": "Bench", "options": [{"label": "Yes"}, {"label": "No"}]}
        params = {"name": "ask_user_questions", "arguments": {"questions": [question]}}
        self.send({"id": number, "method": "tools/call", "params": params})

    def send(self, message: dict[str, Any]) -> None:
        os.write(self._into, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def result(self, wanted: int | str) -> dict[str, Any]:
        """The result of a request, as soon as its line is there."""
        while True:
            line, found, rest = self._lines.partition(b"\n")
            if not found:
                assert select.select([self._out], [], [], PATIENCE)[0], "the server says nothing"
                self._lines += os.read(self._out, 65536)
                continue
            self._lines = rest
            message = json.loads(line)
            if message.get("id") == wanted:
                return dict(message["result"])


class Round:
    """One question after the other: how long until it can be seen, and until its answer is back on the wire."""

    def __init__(self, client: Client, desk: Desk, bell: Bell) -> None:
        self._client, self._desk, self._bell = client, desk, bell
        self.seen: list[float] = []
        self.back: list[float] = []

    def __call__(self, number: int) -> None:
        while self._bell.wait(0):
            """Take in what is left of the last round."""
        begun = time.perf_counter()
        self._client.ask(number)
        ask = self._next()
        self.seen.append((time.perf_counter() - begun) * 1000)
        begun = time.perf_counter()
        self._desk.answer(ask.id, [Answer(question=ask.questions[0].id, chosen=("1",))], PERSON)
        assert not self._client.result(number).get("isError")
        self.back.append((time.perf_counter() - begun) * 1000)

    def _next(self) -> Ask:
        while not (inbox := self._desk.inbox(most=1)):
            self._bell.wait(1)
        return inbox[0]


PERSON = Settler(person="bench", surface="bench")


def way_of_a_question(folder: Path, rounds: int) -> list[Timings]:
    state = folder / "state"
    env = {**os.environ, "SAYSO_STATE_DIR": str(state), "SAYSO_CONFIG": os.devnull, "SAYSO_LOG_LEVEL": "warning"}
    env = {name: value for name, value in env.items() if name not in ("SAYSO_STORE", "SAYSO_PROFILE")}
    command = [str(Path(sys.executable).with_name("sayso")), "server"]
    with _child(command, env=env, cwd=folder) as (into, out), closing(SqliteStore(state / "sayso.db")) as store:
        client = Client(into, out)
        client.shake_hands()
        one = Round(client, Desk(store), store.bell())
        for number in range(WARM_UP + rounds):
            one(number)
    seen, back = tuple(one.seen[WARM_UP:]), tuple(one.back[WARM_UP:])
    return [
        Timings(name="call sent -> ask seen in another process", samples=seen),
        Timings(name="settled in another process -> result on the wire", samples=back),
    ]


def machine() -> str:
    model = platform.processor() or platform.machine()
    with_model = Path("/proc/cpuinfo")
    if with_model.exists():
        names = [
            line.partition(":")[2] for line in with_model.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0].strip() if names else model
    busy = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{os.cpu_count()} x {model}, {platform.system()} {platform.release()}{busy}"


def print_table(measured: list[Timings], unit: float, to: IO[str]) -> None:
    print(f"{'':50}{'p50 ms':>9}{'p99 ms':>9}{'p50':>8}{'p99':>8}", file=to)
    for row in measured:
        ratios = f"{row.p50 / unit:7.1f}x{row.p99 / unit:7.1f}x"
        print(f"{row.name:50}{row.p50:9.3f}{row.p99:9.3f}{ratios}", file=to)
    print(f"\nThe ratios are to one commit plus one round trip: {unit:.2f} ms (p50).", file=to)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    rounds: int = parser.parse_args().rounds
    print(f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {machine()}")
    print(
        f"Sayso {__version__}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {rounds} rounds\n"
    )
    with tempfile.TemporaryDirectory(prefix="sayso-bench-") as folder:
        unavoidable = [commits(Path(folder), rounds), pipe_round_trips(rounds)]
        ours = way_of_a_question(Path(folder), rounds)
    print_table([*unavoidable, *ours], sum(row.p50 for row in unavoidable), sys.stdout)


if __name__ == "__main__":
    main()
