"""What pages and searches cost as the history grows, on SQLite and on PostgreSQL.

Usage: python -m bench.history [--quick] [sqlite|postgres ...]
Every ask has words of its own, 40 to 400 letters of them, of one project and one person out of many. With the history
there are more and more agents at work too, up to 10,000, each with a question open.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from bench.tables import setting, table
from tests.postgres import shared_server

from sayso.asks.desk import AskDesk
from sayso.asks.model import Answer, Asker, NewAsk, Option, Question, Settler
from sayso.clock import now_ms
from sayso.config import Config
from sayso.desks import Desks
from sayso.permissions.log import PermissionLog
from sayso.records import asdict
from sayso.roster import agent_id
from sayso.store import Row, Store
from sayso.store.postgres import PostgresStore
from sayso.store.sqlite import SqliteStore

SIZES, QUICK = (0, 10_000, 100_000, 1_000_000), (0, 5_000)
VOCABULARY = 20_000
PROJECTS, PEOPLE = 500, 200
MOST_AGENTS = 10_000
WARM_UP, ROUNDS = 10, 15
"""PostgreSQL plans a statement anew until it has seen it ten times; who serves people all day has."""


def words_of_all(chance: random.Random) -> list[str]:
    """Words that look like words: common letters are common, and some words are far more so than others."""
    letters, weights = "etaoinsrhldcumfpgwybvkxjqz", [27 - place for place in range(26)]
    return ["".join(chance.choices(letters, weights, k=chance.randint(2, 9))) for _ in range(VOCABULARY)]


def ended(like: Row, count: int) -> Iterator[dict[str, Any]]:
    """So many asks that are over, each like one that really was, but for its words."""
    chance = random.Random(count)
    words = words_of_all(chance)
    often = [1 / (place + 1) for place in range(VOCABULARY)]
    drawn = chance.choices(words, often, k=200_000)
    for number in range(count):
        at = chance.randrange(len(drawn) - 80)
        row = dict(like)
        row |= {"id": f"{chance.getrandbits(128):032x}", "fingerprint": str(number), "call_id": str(number)}
        row |= {"words": " ".join(drawn[at : at + chance.randint(8, 80)]), "ended_at": number * 1000}
        row |= {"project": f"/p/{chance.randrange(PROJECTS)}", "owner": f"person-{chance.randrange(PEOPLE)}"}
        yield row


def at_work(like: Row, count: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """So many agents, each with a question open; as asks, and as they are listed."""
    asks, agents = [], []
    for number in range(count):
        owner = f"person-{number % PEOPLE}"
        asker = Asker(client="bench", agent=f"agents of {owner}", session=f"session-{number}", owner=owner)
        row = dict(like)
        row |= {"id": f"{number:032x}", "fingerprint": f"open {number}", "call_id": f"open {number}"}
        row |= {"owner": owner, "agent": asker.agent, "put_by": asker.source, "created_at": like["created_at"] + number}
        asks.append(row)
        values = {"id": agent_id(asker), "owner": owner, "process": "", "body": json.dumps(asdict(asker)), "doing": ""}
        agents.append({**values, "since": now_ms(), "seen_at": now_ms()})
    return asks, agents


def fill(store: Store, count: int) -> None:
    desk = AskDesk(store)
    question = Question(id="1", text="Which?", options=(Option(id="1", label="Yes"), Option(id="2", label="No")))
    left = desk.leave(NewAsk(tool="ask", questions=(question,), asker=Asker(client="bench", project="/p")))
    pending = store.read(lambda tx: tx.one("ask_by_id", id=left.id))
    assert pending is not None
    asks, agents = at_work(pending, min(count, MOST_AGENTS))
    desk.answer(left.id, [Answer(question="1", chosen=("1",))], Settler(person="bench", surface="bench"))
    like = store.read(lambda tx: tx.one("ask_by_id", id=left.id))
    assert like is not None
    delivered = {**like, "delivered_at": like["ended_at"]}
    begun = time.perf_counter()
    store.write(lambda tx: tx.put_rows("asks", ended(delivered, count)))
    store.write(lambda tx: tx.put_rows("asks", asks))
    store.write(lambda tx: tx.put_rows("roster", agents))
    print(f"filled with {count:,} in {time.perf_counter() - begun:.0f} s", file=sys.stderr)


def timed(work: Callable[[], object]) -> float:
    times = []
    for _ in range(WARM_UP):
        work()
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return statistics.median(times) * 1000


def measured(store: Store, count: int) -> dict[str, float]:
    fill(store, count)
    desks = Desks(Config(), store)
    desk, log = desks.asks, PermissionLog(store)
    rare = words_of_all(random.Random(count))[-1]
    before = timed(lambda: desk.history(search="no such words", most=20)) if count <= 100_000 else float("nan")
    begun = time.perf_counter()
    desk.index_history()
    indexed = time.perf_counter() - begun
    return {
        "inbox of a person": timed(lambda: desk.folded(person="person-7")),
        "their agents at work": timed(lambda: desks.agents_at_work("person-7")),
        "history": timed(lambda: desk.history(most=20)),
        "of a project": timed(lambda: desk.history(project="/p/7", most=20)),
        "of a person": timed(lambda: desk.history(person="person-7", most=20)),
        "log": timed(lambda: log.outcomes(most=20)),
        "`e`": timed(lambda: desk.history(search="e", most=20)),
        "`zq`": timed(lambda: desk.history(search="zq", most=20)),
        "a rare word": timed(lambda: desk.history(search=rare, most=20)),
        "no such words": timed(lambda: desk.history(search="no such words", most=20)),
        "without the index": before,
        "indexing, s": indexed,
    }


@contextmanager
def stores(kind: str) -> Iterator[Callable[[], Store]]:
    with tempfile.TemporaryDirectory(prefix="sayso-history-", dir="/tmp") as folder:
        if kind == "sqlite":
            numbers = iter(range(1000))
            yield lambda: SqliteStore(Path(folder) / str(next(numbers)) / "sayso.db")
            return
        with shared_server(Path(folder)) as server, server.new_database() as address:

            def another() -> Store:
                server.empty(address)
                return PostgresStore(address)

            yield another


def _figure(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:,.2f}"


def shown(kind: str, sizes: Sequence[int]) -> str:
    columns = []
    with stores(kind) as another:
        for size in sizes:
            with closing(another()) as store:
                columns.append(measured(store, size))
    rows = [[name, *(_figure(column[name]) for column in columns)] for name in columns[0]]
    title = {"sqlite": "SQLite", "postgres": "PostgreSQL"}[kind]
    agents = ["agents at work", *(f"{min(size, MOST_AGENTS):,}" for size in sizes)]
    return table([f"{title}, ms; asks that are over:", *(f"{size:,}" for size in sizes)], [agents, *rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("kinds", nargs="*", choices=["sqlite", "postgres", []], metavar="STORE")
    given = parser.parse_args()
    print(f"{setting()}\n")
    for kind in given.kinds or ["sqlite", "postgres"]:
        print(f"{shown(kind, QUICK if given.quick else SIZES)}\n", flush=True)


if __name__ == "__main__":
    main()
