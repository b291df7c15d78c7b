"""How long a question and its answer are on their way: a real server on stdio, a person in another process.

Each figure is also given as a ratio to what no design can avoid: one durable SQLite commit plus one round trip through
a pipe, measured in turns with it. Milliseconds depend on the disk and on what else the machine does; ratios less so.
Usage: python -m bench.latency [--rounds N] [--pending N]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.durable import COMMIT, DurableRows, durable_rows
from bench.tables import ratio, setting, table
from bench.wire import Client, server

from sayso.asks.desk import AskDesk
from sayso.asks.model import Answer, Ask, Settler
from sayso.store import Bell
from sayso.store.sqlite import SqliteStore

WARM_UP = 20
REST = 0.01
IDLE_SECONDS = 10.0
PATIENCE = 120.0
ROUND_TRIP = "one pipe round trip"
SEEN = "call sent -> ask seen in another process"
SETTLED = "settled in another process -> result on the wire"
ECHO = "import os\nwhile line := os.read(0, 65536): os.write(1, line)"
PERSON = Settler(person="bench", surface="bench")

Samples = dict[str, list[float]]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Milliseconds of every step in every round, and the processor time of the server that only waits."""

    pending: int
    samples: Samples
    idle: float


class Unavoidable:
    """A row that is kept; and a line to a child process and back."""

    def __init__(self, rows: DurableRows, into: int, out: int) -> None:
        self.commit = rows.commit
        self._into, self._out = into, out

    def round_trip(self) -> None:
        os.write(self._into, b"x\n")
        os.read(self._out, 65536)


@contextmanager
def _echo() -> Iterator[tuple[int, int]]:
    command = [sys.executable, "-c", ECHO]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as child:
        assert child.stdin
        assert child.stdout
        yield child.stdin.fileno(), child.stdout.fileno()


def ask(client: Client, text: str) -> int:
    """Begin a call that asks this; the id of the request."""
    question = {"prompt": text, "title": "Bench", "options": [{"label": "Yes"}, {"label": "No"}]}
    return client.begin("tools/call", name="ask_user_questions", arguments={"questions": [question]})


class Question:
    """One question on its way, answered by a person in this process."""

    def __init__(self, client: Client, desk: AskDesk, bell: Bell, known: int) -> None:
        self._client, self._desk, self._bell, self._known = client, desk, bell, known
        self._request = 0
        self._seen: Ask | None = None

    def ask_and_see(self) -> None:
        self._request = ask(self._client, "How long does it take?")
        while self._desk.inbox_size() <= self._known:
            self._bell.wait(1)

    def settle_and_get_back(self) -> None:
        assert self._seen
        answer = Answer(question=self._seen.questions[0].id, chosen=("1",))
        self._desk.answer(self._seen.id, [answer], PERSON)
        assert not self._client.result(self._request).get("isError")

    def look(self) -> None:
        """Find it among those that wait; a person has done that long before answering."""
        self._seen = next(
            ask for ask in self._desk.inbox(most=self._known + 1) if ask.questions[0].text == "How long does it take?"
        )


def measure(folder: Path, rounds: int, pending: int) -> Measured:
    """Every step of so many questions, while so many others wait in the same server."""
    state = folder / f"state{pending}"
    command = [str(Path(sys.executable).with_name("sayso")), "server", "--profile", "auq"]
    with (
        _echo() as echo,
        server(command, env=_environment(state), cwd=folder) as client,
        durable_rows(folder) as rows,
        closing(SqliteStore(state / "sayso.db")) as store,
    ):
        desk, bell = AskDesk(store), store.bell()
        client.shake_hands()
        for number in range(pending):
            ask(client, f"Question {number}?")
        _wait_for(lambda: desk.inbox_size() == pending)
        unavoidable, taken = Unavoidable(rows, *echo), Samples()
        for _ in range(WARM_UP + rounds):
            question = Question(client, desk, bell, pending)
            _time(taken, COMMIT, unavoidable.commit, bell)
            _time(taken, ROUND_TRIP, unavoidable.round_trip, bell)
            _time(taken, SEEN, question.ask_and_see, bell)
            question.look()
            _time(taken, SETTLED, question.settle_and_get_back, bell)
        return Measured(
            pending=pending,
            samples={name: samples[WARM_UP:] for name, samples in taken.items()},
            idle=_idle(client),
        )


def _time(taken: Samples, name: str, work: Callable[[], None], bell: Bell) -> None:
    while bell.wait(REST):  # people take their time; what the last step left to do is done by then
        pass
    begun = time.perf_counter()
    work()
    taken.setdefault(name, []).append((time.perf_counter() - begun) * 1000)


def _idle(client: Client) -> float:
    """The share of a core that the server takes while nothing happens."""
    time.sleep(1)
    before = client.cpu_seconds()
    time.sleep(IDLE_SECONDS)
    return (client.cpu_seconds() - before) / IDLE_SECONDS


def _wait_for(what: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(REST)


def _environment(state: Path) -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if not name.startswith("SAYSO_")}
    ours["SAYSO_MAX_OPEN_ASKS"] = "1000000"
    private = {"SAYSO_STATE_DIR": str(state), "SAYSO_CONFIG": os.devnull, "XDG_CACHE_HOME": str(state.parent / "cache")}
    return {**ours, **private, "SAYSO_LOG_LEVEL": "error"}


def shown(measured: Measured) -> str:
    steps = measured.samples
    unit = statistics.median(steps[COMMIT]) + statistics.median(steps[ROUND_TRIP])
    rows = []
    for name, samples in steps.items():
        cuts = statistics.quantiles(samples, n=100, method="inclusive")
        rows.append((name, f"{min(samples):.2f}", f"{cuts[49]:.2f}", f"{cuts[98]:.2f}", ratio(cuts[49], unit)))
    head = (f"{measured.pending:,} other asks pending", "least ms", "p50 ms", "p99 ms", "p50 ratio")
    idle = f"The server that only waits for {measured.pending:,} asks takes {measured.idle:.2%} of one core."
    return f"{table(head, rows)}\n\n{idle} The ratios are to one commit plus one round trip, {unit:.2f} ms (p50)."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--pending", type=int, default=1000)
    given = parser.parse_args()
    print(f"{setting()}\n")
    with tempfile.TemporaryDirectory(prefix="sayso-bench-", dir="/tmp") as folder:
        for pending in sorted({0, given.pending}):
            print(shown(measure(Path(folder), given.rounds, pending)), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
