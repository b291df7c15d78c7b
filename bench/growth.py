"""What becomes of latency, CPU and memory as things grow: pending and ended asks, servers on one store, operations.

Usage: python -m bench.growth [--quick] [--plots DIR] [pending|ended|servers|operations ...]
A person of this process sees and settles; every server is real, and of a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from bench.plot import Curve, plot
from bench.tables import setting, table
from bench.wire import PATIENCE, Client, server

from sayso.asks.desk import AskDesk
from sayso.asks.model import Answer, Ask, Settler
from sayso.asks.waiting import CONFIRM_AFTER
from sayso.store.sqlite import SqliteStore

PLOTS = Path(__file__).parents[1] / "docs" / "images"
SAYSO = str(Path(sys.executable).with_name("sayso"))
ME = Settler(person="bench", surface="bench")
IDLE_SECONDS = 10.0
SETTLED_AFTER = 2 * CONFIRM_AFTER
LEAST_MEMORY = 3e9
"""Bytes of memory that are left to others: no more servers are started then."""


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How far each thing grows."""

    pending: Sequence[int] = (10, 100, 1_000, 10_000)
    ended: Sequence[int] = (0, 1_000, 10_000, 100_000)
    servers: Sequence[int] = (1, 10, 50, 100, 200)
    operations: Sequence[int] = (10, 100, 500, 1_000, 2_000)
    rounds: int = 50


QUICK = Sizes(pending=(10, 100, 1_000), ended=(0, 10_000), servers=(1, 5, 20), operations=(10, 100), rounds=20)


@dataclass(frozen=True, kw_only=True)
class Grown:
    """What was measured at one size. Times in milliseconds, CPU in percent of one core, memory in megabytes."""

    size: int
    figures: dict[str, float]


class House:
    """One store, the person who looks at it, and the servers that work on it."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder, self._stack = folder, stack
        self.store = stack.enter_context(closing(SqliteStore(folder / "state" / "sayso.db")))
        self.desk, self._bell = AskDesk(self.store), self.store.bell()
        self._newest: Ask | None = None
        self._asked = 0
        tools = folder / ".config" / "sayso" / "tools"
        tools.mkdir(parents=True)
        words = [{"name": "seconds", "type": "string", "required": True, "description": "How long."}]
        default = {"name": "default", "description": "Sleep.", "positional_args": words}
        nap = {"name": "nap", "description": "Sleep.", "command": "sleep", "subcommand": [default]}
        (tools / "nap.json").write_text(json.dumps(nap))

    def server(self) -> Client:
        env = {name: value for name, value in os.environ.items() if not name.startswith(("SAYSO_", "CLAUDE"))}
        env |= {
            "HOME": str(self._folder),
            "XDG_CACHE_HOME": str(self._folder / "cache"),
            "SAYSO_STATE_DIR": str(self._folder / "state"),
            "SAYSO_LOG_LEVEL": "error",
            "SAYSO_CALL_LIMITS": "bench=none",
            "SAYSO_MAX_OPEN_ASKS": "1000000",
            "SAYSO_MAX_OPEN_COMMANDS": "1000000",
        }
        client = self._stack.enter_context(server([SAYSO, "server"], env=env, cwd=self._folder))
        client.shake_hands()
        return client

    def ask(self, client: Client) -> int:
        self._asked += 1
        asked = {"question": f"Question {self._asked}?", "options": [{"label": "Yes"}, {"label": "No"}]}
        return client.begin("tools/call", name="ask_user_questions", arguments={"questions": [asked]})

    def see(self) -> Ask:
        """The ask that comes next."""
        deadline = time.monotonic() + PATIENCE
        while not (found := self.desk.inbox(after=self._newest, most=1)):
            assert time.monotonic() < deadline, "nothing was asked"
            self._bell.wait(1)
        self._newest = found[0]
        return found[0]

    def settle(self, ask: Ask) -> None:
        self.desk.answer(ask.id, [Answer(question=ask.questions[0].id, chosen=("1",))], ME)

    def grow_to(self, client: Client, size: int) -> None:
        """Let this server hold so many asks."""
        while (missing := size - self.desk.inbox_size()) > 0:
            many = min(missing, 100)
            for _ in range(many):
                self.ask(client)
            deadline = time.monotonic() + PATIENCE
            while self.desk.inbox_size() < size - missing + many:
                assert time.monotonic() < deadline, "not all was asked"
                self._bell.wait(1)
        self._newest = self.desk.inbox(most=2 * size)[-1]

    def round_trips(self, clients: Sequence[Client], rounds: int) -> dict[str, float]:
        """Medians of: a call until another process sees the ask; its settling until the result is on the wire."""
        chance, seen, back = random.Random(rounds), [], []
        for _ in range(rounds + 3):
            self._rest()
            client = chance.choice(clients)
            begun = time.perf_counter()
            request = self.ask(client)
            ask = self.see()
            seen.append(time.perf_counter() - begun)
            self._rest()
            begun = time.perf_counter()
            self.settle(ask)
            client.result(request)
            back.append(time.perf_counter() - begun)
        return {"ask seen, ms": _median(seen), "settled to result, ms": _median(back)}

    def _rest(self) -> None:
        """People take their time; what the last step left to do is done by then."""
        while self._bell.wait(0.02):
            pass


def _median(seconds: Sequence[float]) -> float:
    return statistics.median(seconds[3:]) * 1000


def _idle_cpu(clients: Sequence[Client]) -> float:
    """Percent of one core that servers use while nothing happens, once what follows on the last thing is over."""
    time.sleep(SETTLED_AFTER)
    before = sum(client.cpu_seconds() for client in clients)
    time.sleep(IDLE_SECONDS)
    return (sum(client.cpu_seconds() for client in clients) - before) / IDLE_SECONDS * 100


@contextmanager
def _house() -> Iterator[House]:
    folder = Path(tempfile.mkdtemp(prefix="sayso-growth-", dir="/tmp"))
    try:
        with ExitStack() as stack:
            yield House(folder, stack)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def pending(sizes: Sizes) -> Iterator[Grown]:
    """One server holds more and more calls."""
    with _house() as house:
        client = house.server()
        for size in sizes.pending:
            house.grow_to(client, size)
            trips = house.round_trips([client], sizes.rounds)
            idle = _idle_cpu([client])
            yield Grown(size=size, figures={**trips, "idle CPU, %": idle, "memory, MB": client.memory()})


def ended(sizes: Sizes) -> Iterator[Grown]:
    """The store keeps more and more asks that are over; a thousand are pending."""
    for size in sizes.ended:
        with _house() as house:
            _fill(house, size)
            client = house.server()
            house.grow_to(client, min(1_000, max(sizes.pending)))
            trips = house.round_trips([client], sizes.rounds)
            looks = {
                "inbox page, ms": _timed(lambda: house.desk.inbox()),
                "history page, ms": _timed(lambda: house.desk.history()),
                "search without index, ms": _timed(lambda: house.desk.history(search="no such words", most=10)),
            }
            yield Grown(size=size, figures={**trips, **looks})


def _fill(house: House, count: int) -> None:
    """So many ended asks, all like one that really was."""
    if not count:
        return
    client = house.server()
    request = house.ask(client)
    ask = house.see()
    house.settle(ask)
    client.result(request)
    while not house.desk.get(ask.id).delivered:
        time.sleep(0.01)
    with closing(sqlite3.connect(house.store.where, timeout=60, isolation_level=None)) as rows:
        columns = [row[1] for row in rows.execute("PRAGMA table_info(asks)")]
        waits = [column for column in columns if column.startswith("wait_")]
        changed = {"id": "lower(hex(randomblob(16)))", "ended_at": "ended_at - n", **dict.fromkeys(waits, "NULL")}
        values = ", ".join(changed.get(column, column) for column in columns)
        rows.execute(
            f"WITH RECURSIVE counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < {count}) "
            f"INSERT INTO asks ({', '.join(columns)}) SELECT {values} FROM asks, counted WHERE id = ?",
            (ask.id,),
        )
        opened = "SELECT id, 1, 0, 'opened', NULL, 'pending', '', '', '' FROM asks WHERE id <> ?"
        rows.execute(f"INSERT INTO events {opened}", (ask.id,))


def _timed(work: Callable[[], object]) -> float:
    times = []
    for _ in range(13):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return _median(times)


def servers(sizes: Sizes) -> Iterator[Grown]:
    """More and more servers work on one store, each with a call that waits."""
    with _house() as house:
        clients: list[Client] = []
        for size in sizes.servers:
            while len(clients) < size and psutil.virtual_memory().available > LEAST_MEMORY:
                clients.append(house.server())
                house.ask(clients[-1])
                house.see()
            before = sum(client.cpu_seconds() for client in clients)
            trips = house.round_trips(clients, sizes.rounds)
            spent = sum(client.cpu_seconds() for client in clients) - before
            figures = {
                **trips,
                "CPU of all for a question, ms": spent / (sizes.rounds + 3) * 1000,
                "idle CPU of all, %": _idle_cpu(clients),
                "memory of all, MB": sum(client.memory() for client in clients),
            }
            yield Grown(size=len(clients), figures=figures)
            if len(clients) < size:
                print(f"Memory did not allow more than {len(clients)} servers.", file=sys.stderr)
                return


def operations(sizes: Sizes) -> Iterator[Grown]:
    """One server has more and more commands running."""
    with _house() as house:
        client, running = house.server(), 0
        for size in sizes.operations:
            starts = []
            while running < size:
                begun = time.perf_counter()
                client.request("tools/call", name="nap", arguments={"seconds": "100000"})
                starts.append(time.perf_counter() - begun)
                running += 1
            status = _timed(lambda: client.request("tools/call", name="status", arguments={}))
            idle = _idle_cpu([client])
            figures = {
                "start, ms": statistics.median(starts[-100:]) * 1000,
                "status of all, ms": status,
                "idle CPU, %": idle,
                "memory with runners, MB": client.memory(),
            }
            yield Grown(size=size, figures=figures)
        # Told to stop, it ends all of them first.
        client.process.terminate()
        client.process.wait(4 * PATIENCE)


WORK: dict[str, tuple[str, str, Callable[[Sizes], Iterator[Grown]]]] = {
    "pending": ("A server that holds more and more asks", "asks pending", pending),
    "ended": ("A store with more and more asks that are over, 1,000 pending", "asks ended", ended),
    "servers": ("More and more servers on one store", "servers", servers),
    "operations": ("A server with more and more commands running", "commands running", operations),
}


def shown(name: str, measured: Sequence[Grown]) -> str:
    title, across, _ = WORK[name]
    head = [across, *measured[0].figures]
    rows = [[f"{each.size:,}", *(f"{value:,.2f}" for value in each.figures.values())] for each in measured]
    return f"### {title}\n\n{table(head, rows)}\n\n![{title}](images/growth-{name}.svg)\n"


def curves(measured: Sequence[Grown]) -> dict[str, Curve]:
    return {name: [(max(each.size, 1), each.figures[name]) for each in measured] for name in measured[0].figures}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--plots", type=Path, metavar="DIR", default=PLOTS, help="where the curves are drawn")
    parser.add_argument("what", nargs="*", choices=[*WORK, []], metavar="WHAT", help=f"of {', '.join(WORK)}")
    given = parser.parse_args()
    print(f"{setting()}\n")
    for name in given.what or WORK:
        title, across, measure = WORK[name]
        measured = []
        for grown in measure(QUICK if given.quick else Sizes()):
            print(f"{across}: {grown.size:,}", file=sys.stderr)
            measured.append(grown)
        (given.plots / f"growth-{name}.svg").write_text(plot(title, across, curves(measured)), "utf-8")
        print(shown(name, measured), flush=True)


if __name__ == "__main__":
    main()
