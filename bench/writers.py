"""Many processes that write to one store at once: with turns, and as SQLite has them wait by itself.

Each process opens questions as fast as that goes, with a pause now and then, as agents that all ask at once do.
Usage: python -m bench.writers [--seconds N] [--writers N ...]
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import statistics
import tempfile
import time
from contextlib import closing, nullcontext
from pathlib import Path

from bench.tables import ratio, setting, table
from tests.asks.samples import AGENT, COLOUR

from sayso.asks.desk import AskDesk
from sayso.asks.model import NewAsk
from sayso.records import replace
from sayso.store.sqlite import SqliteStore
from sayso.store.write_queue import WriteQueue

MEAN_PAUSE = 0.002
WAYS = ("as SQLite waits", "Sayso")


class NoQueue(WriteQueue):
    """Leaves it to SQLite who writes next."""

    def turn(self) -> nullcontext[None]:  # type: ignore[override]
        return nullcontext()


def write(folder: Path, way: str, name: int, seconds: float, told: multiprocessing.Queue[list[float]]) -> None:
    """One process: milliseconds of each question until it was kept."""
    taken: list[float] = []
    chance = random.Random(name)
    with closing(SqliteStore(folder / "sayso.db")) as store:
        if way == WAYS[0]:
            store._queue = NoQueue(folder)
        desk, asker = AskDesk(store, most_open=1_000_000), replace(AGENT, session=f"session {name}")
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            question = replace(COLOUR, text=f"Question {name}.{len(taken)}?")
            begun = time.perf_counter()
            desk.leave(NewAsk(tool="ask_user", questions=(question,), asker=asker))
            taken.append((time.perf_counter() - begun) * 1000)
            time.sleep(chance.expovariate(1 / MEAN_PAUSE))
    told.put(taken)


def measure(way: str, writers: int, seconds: float) -> list[float]:
    with tempfile.TemporaryDirectory(prefix="sayso-bench-", dir="/tmp") as folder:
        SqliteStore(Path(folder) / "sayso.db").close()
        told: multiprocessing.Queue[list[float]] = multiprocessing.Queue()
        processes = [
            multiprocessing.Process(target=write, args=(Path(folder), way, name, seconds, told))
            for name in range(writers)
        ]
        for process in processes:
            process.start()
        taken = [each for _ in processes for each in told.get(timeout=seconds + 60)]
        for process in processes:
            process.join()
    return taken


def row(way: str, writers: int, seconds: float, taken: list[float], beside: float) -> list[str]:
    cuts = statistics.quantiles(taken, n=100, method="inclusive")
    rate = len(taken) / seconds
    return [
        f"{writers}, {way}",
        *(f"{rate:.0f}", ratio(rate, beside)),
        *(f"{each:.1f}" for each in (cuts[49], cuts[98], max(taken))),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--writers", type=int, nargs="+", default=[1, 4, 16])
    given = parser.parse_args()
    rows = []
    for writers in given.writers:
        found = {way: measure(way, writers, given.seconds) for way in WAYS}
        least = len(found[WAYS[0]]) / given.seconds
        rows += [row(way, writers, given.seconds, taken, least) for way, taken in found.items()]
    print(f"{setting()}\n")
    print(table(["processes that write", "asks/s", "ratio", "p50 ms", "p99 ms", "most ms"], rows))


if __name__ == "__main__":
    main()
