"""How long a question and its answer are on their way: a real server on stdio, a person in another process.

Each figure is also given as a ratio to what no design can avoid: one durable SQLite commit plus one round trip through
a pipe, measured in turns with it. Milliseconds depend on the disk and on what else the machine does; ratios less so.
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
from typing import Any

from sayso import __version__
from sayso.asks.desk import Desk
from sayso.asks.model import Answer, Ask, Settler
from sayso.store import Bell
from sayso.store.sqlite import SqliteStore

WARM_UP = 20
REST = 0.01
PATIENCE = 30.0
COMMIT, ROUND_TRIP = "one SQLite commit", "one pipe round trip"
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


class Unavoidable:
    """A small row, durable on this disk when its commit returns; and a line to a child process and back."""

    def __init__(self, rows: sqlite3.Connection, into: int, out: int) -> None:
        self._rows, self._into, self._out = rows, into, out
        rows.execute("PRAGMA journal_mode = WAL")
        rows.execute("PRAGMA synchronous = FULL")
        rows.execute("CREATE TABLE rows (body TEXT)")

    def commit(self) -> None:
        self._rows.execute("INSERT INTO rows VALUES ('x')")

    def round_trip(self) -> None:
        os.write(self._into, b"x\n")
        os.read(self._out, 65536)


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


class Question:
    """One question on its way, answered by a person in this process."""

    def __init__(self, client: Client, desk: Desk, bell: Bell, number: int) -> None:
        self._client, self._desk, self._bell, self._number = client, desk, bell, number
        self._seen: Ask | None = None

    def ask_and_see(self) -> None:
        self._client.ask(self._number)
        while not (inbox := self._desk.inbox(most=1)):
            self._bell.wait(1)
        self._seen = inbox[0]

    def settle_and_get_back(self) -> None:
        assert self._seen
        answer = Answer(question=self._seen.questions[0].id, chosen=("1",))
        self._desk.answer(self._seen.id, [answer], Settler(person="bench", surface="bench"))
        assert not self._client.result(self._number).get("isError")


def measure(folder: Path, rounds: int) -> list[Timings]:
    state = folder / "state"
    server = [str(Path(sys.executable).with_name("sayso")), "server"]
    with (
        _child([sys.executable, "-c", ECHO]) as echo,
        _child(server, env=_environment(state), cwd=folder) as pipes,
        closing(sqlite3.connect(folder / "rows.db", isolation_level=None)) as rows,
        closing(SqliteStore(state / "sayso.db")) as store,
    ):
        client, desk, bell = Client(*pipes), Desk(store), store.bell()
        client.shake_hands()
        unavoidable = Unavoidable(rows, *echo)
        taken: dict[str, list[float]] = {}
        for number in range(WARM_UP + rounds):
            question = Question(client, desk, bell, number)
            steps = {
                COMMIT: unavoidable.commit,
                ROUND_TRIP: unavoidable.round_trip,
                "call sent -> ask seen in another process": question.ask_and_see,
                "settled in another process -> result on the wire": question.settle_and_get_back,
            }
            for name, work in steps.items():
                _let_it_rest(bell)
                taken.setdefault(name, []).append(_milliseconds(work))
    return [Timings(name=name, samples=tuple(samples[WARM_UP:])) for name, samples in taken.items()]


def _environment(state: Path) -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if not name.startswith("SAYSO_")}
    return {**ours, "SAYSO_STATE_DIR": str(state), "SAYSO_CONFIG": os.devnull, "SAYSO_LOG_LEVEL": "warning"}


def _let_it_rest(bell: Bell) -> None:
    """People take their time; what the last step left to do is done by then."""
    while bell.wait(REST):
        pass


def _milliseconds(work: Callable[[], None]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000


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


def print_table(measured: list[Timings], unit: float) -> None:
    print(f"{'':50}{'p50 ms':>9}{'p99 ms':>9}{'p50':>8}{'p99':>8}")
    for row in measured:
        ratios = f"{row.p50 / unit:7.1f}x{row.p99 / unit:7.1f}x"
        print(f"{row.name:50}{row.p50:9.3f}{row.p99:9.3f}{ratios}")
    print(f"\nThe ratios are to one commit plus one round trip: {unit:.2f} ms (p50).")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    rounds: int = parser.parse_args().rounds
    print(f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {machine()}")
    print(
        f"Sayso {__version__}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {rounds} rounds\n"
    )
    with tempfile.TemporaryDirectory(prefix="sayso-bench-") as folder:
        measured = measure(Path(folder), rounds)
    print_table(measured, sum(row.p50 for row in measured if row.name in (COMMIT, ROUND_TRIP)))


if __name__ == "__main__":
    main()
