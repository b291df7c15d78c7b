"""People agree in several processes at once, which are killed at random: nothing is ever allowed by fewer people than
the rules need, and nobody counts twice.

    python -m tests.proof.quorum --seed 7 --asks 200 --kills 40

plays a seed again on a PostgreSQL server of its own. How the processes get in each other's way is up to the system.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

from tests.asks.samples import AGENT
from tests.permissions.test_desk import PUSH, QUESTION
from tests.postgres import shared_server

from sayso.asks.desk import AskDesk, Held
from sayso.asks.model import NewAsk, Settler, State
from sayso.asks.quorum import Demand, Quorum, next_escalation
from sayso.chain import LogEvent, LogKind
from sayso.clock import now_ms
from sayso.errors import SaysoError
from sayso.permissions.action import asking
from sayso.permissions.desk import PermissionDesk
from sayso.permissions.log import PermissionLog
from sayso.permissions.verdict import allowed_by
from sayso.records import replace
from sayso.store import Store
from sayso.store.postgres import PostgresStore

PROCESSES = 4
PEOPLE = ("ada", "bo", "cy", "dan", "eve")
DEMANDS = (
    Demand(rule="Bash", place="rules.toml:1", people=PEOPLE[:3], need=2),
    Demand(rule="Bash", place="rules.toml:5", people=PEOPLE, need=3, not_asker=True),
    Demand(rule="Bash", place="rules.toml:9", people=("ada",), need=2, escalate_after_ms=200, escalate_to=("bo", "cy")),
)
WHOSE = "dan"
PATIENCE = 120.0
"""Seconds that all of it may take."""


@dataclass(kw_only=True)
class QuorumPlay:
    """What came of it."""

    allowed: int = 0
    ended: int = 0
    kills: int = 0
    problems: list[str] = field(default_factory=list)


def play(address: str, seed: int, asks: int, kills: int) -> QuorumPlay:
    """Ask, have people decide in four processes, kill some of those, and look what was allowed by whom."""
    chance, found = random.Random(seed), QuorumPlay()
    with closing(PostgresStore(address)) as store, _people(address, chance) as people:
        desk = AskDesk(store)
        open_asks = [_asked(desk, place) for place in range(asks)]
        deadline = time.monotonic() + PATIENCE
        while open_asks:
            if time.monotonic() > deadline:
                found.problems.append(f"{len(open_asks)} permissions were not decided in {PATIENCE:.0f} seconds")
                break
            open_asks = [each for each in open_asks if not _over(store, desk, *each, found)]
            if found.kills < kills and chance.random() < 0.5:
                people.kill_one()
                found.kills += 1
            store.bell().wait(0.05)
        if not (check := PermissionLog(store).check()).whole:
            found.problems.append(f"the log is broken: {check.faults}")
    return found


def _asked(desk: AskDesk, place: int) -> tuple[Held, Demand]:
    demand = DEMANDS[place % len(DEMANDS)]
    new = NewAsk(tool="approve", title=f"Allow {place}?", questions=(QUESTION,), asker=AGENT)
    action = replace(PUSH, data={"input": {"command": f"git push {place}"}})
    return desk.hold(asking(new, action, quorum=Quorum(demands=(demand,), whose=WHOSE))), demand


def _over(store: Store, desk: AskDesk, held: Held, demand: Demand, found: QuorumPlay) -> bool:
    """What a gate does: ask more people when it is time, and act on a verdict, which is looked into here."""
    ask = desk.get(held.ask.id)
    if ask.state is State.PENDING:
        if (at := next_escalation(ask)) is not None and at <= now_ms():
            desk.escalate(held)
        return False
    found.ended += 1
    events = [entry.event for entry in PermissionLog(store).find(ask.id).entries]
    found.problems += [f"{ask.id}: {problem}" for problem in _problems(events, demand, may=allowed_by(ask) is not None)]
    found.allowed += allowed_by(ask) is not None
    return True


def _problems(events: list[LogEvent], demand: Demand, *, may: bool) -> Iterator[str]:
    """What is wrong with it, by the log alone."""
    agreed: set[str] = set()
    for event in events:
        if event.kind is LogKind.AGREED:
            if event.person in agreed:
                yield f"{event.person} counted twice"
            agreed.add(event.person)
        elif event.kind is LogKind.TAKEN_BACK:
            agreed.discard(event.person)
    named = {*demand.people, *demand.escalate_to} - ({WHOSE} if demand.not_asker else set())
    enough = len(agreed & named) >= demand.need
    if agreed - named:
        yield f"{agreed - named} are not asked"
    times = sum(event.kind is LogKind.ALLOWED for event in events)
    if may and not enough:
        yield f"allowed by {agreed}, which is too few"
    if times != may:
        yield f"allowed {times} times"


class _People:
    """The processes in which people decide."""

    def __init__(self, address: str, chance: random.Random) -> None:
        self._address, self._chance = address, chance
        self._context = get_context("forkserver")
        self._context.set_forkserver_preload([__name__])
        self._processes = [self._start() for _ in range(PROCESSES)]

    def _start(self) -> BaseProcess:
        process = self._context.Process(target=decide, args=(self._address, self._chance.random()), daemon=True)
        process.start()
        return process

    def kill_one(self) -> None:
        """In the middle of whatever it does. Another takes its place."""
        place = self._chance.randrange(PROCESSES)
        self._end(self._processes[place])
        self._processes[place] = self._start()

    def close(self) -> None:
        for process in self._processes:
            self._end(process)

    def _end(self, process: BaseProcess) -> None:
        process.kill()
        process.join(PATIENCE)


@contextmanager
def _people(address: str, chance: random.Random) -> Iterator[_People]:
    with closing(_People(address, chance)) as people:
        yield people


def decide(address: str, seed: float) -> None:
    """One process, until it is killed: whoever it is at the moment says yes, seldom no, and sometimes takes a yes
    back."""
    chance, store = random.Random(seed), PostgresStore(address)
    desk = AskDesk(store)
    permissions = PermissionDesk(desk)
    while True:
        open_asks = desk.inbox(most=1000)
        if not open_asks:
            store.bell().wait(0.1)
            continue
        ask, by = chance.choice(open_asks), Settler(person=chance.choice(PEOPLE), surface="page")
        what = chance.random()
        with suppress(SaysoError):
            if what < 0.9:
                permissions.allow(ask.id, ask.digest, by)
            elif what < 0.98:
                permissions.take_back(ask.id, by)
            else:
                permissions.deny(ask.id, by)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--asks", type=int, default=200)
    parser.add_argument("--kills", type=int, default=40)
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        address = stack.enter_context(stack.enter_context(shared_server(folder)).new_database())
        found = play(address, given.seed, given.asks, given.kills)
    print(f"seed {given.seed}: {found.ended} ended, {found.allowed} allowed, {found.kills} processes killed")
    sys.exit("\n".join(found.problems) or 0)


if __name__ == "__main__":
    main()
