"""A soak from its beginning to its audit: agents ask, people answer, commands run, and meanwhile things go wrong."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.http.harness import Replica
from tests.e2e.run.kit import background, waited_for
from tests.e2e.stdio.harness import Place, new_place
from tests.orphan import Orphan
from tests.postgres import Server
from tests.soak import plan
from tests.soak.agent import TURN_SECONDS, Agent
from tests.soak.audit import Audit, audit
from tests.soak.faults import Trouble
from tests.soak.people import Person

from sayso.accounts import Accounts
from sayso.store import open_store

CLOCK = Path(__file__).parent / "clock"
SURFACES = {"ada": "desk", "bob": "api", "cyd": "cli"}
USER = "bob"
LAST_SECONDS = 30.0
"""How long people take for what is left when all agents have gone."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What kind of soak this is."""

    seed: int
    seconds: float
    agents: int = 4
    store: Server | None = None
    """A PostgreSQL server that may be stopped and started; without one, SQLite."""


def soak(wanted: Plan) -> Audit:
    """Run it and look through what is left. Raises where somebody hangs."""
    with ExitStack() as stack:
        address = stack.enter_context(wanted.store.new_database()) if wanted.store else ""
        settings = {"store": address} if address else {}
        # All agents of a soak are children of one process, which counts as one agent.
        settings |= {"max_open_asks": "1000000", "max_open_commands": "1000000"}
        limits = "soak-1=2s,soak-2=2s"
        place = stack.enter_context(new_place(command_grace="200ms", call_limits=limits, **settings))
        background(place)
        waited_for(place)
        return _Soak(place, wanted).run()


class _Soak:
    def __init__(self, place: Place, wanted: Plan) -> None:
        self._place, self._plan = place, wanted
        self._clocks = [self._clock(number) for number in range(wanted.agents)]
        self._agents = [
            Agent(number, place, plan.turns(wanted.seed, number), self._environment(number))
            for number in range(wanted.agents)
        ]
        self._token = self._sign_in()

    def run(self) -> Audit:
        with _web(self._place) as web:
            begun = time.monotonic()
            people = self._people(web)
            trouble = Trouble(self._place, self._agents, self._clocks, web, self._plan.store, self._plan.seed)
            try:
                self._let_them_work(people, trouble, begun)
                _settle_the_rest(people[0])
            finally:
                for agent in self._agents:
                    agent.close()
                for person in people:
                    person.close()
        return audit(self._place, self._agents, people, trouble.done)

    def _let_them_work(self, people: list[Person], trouble: Trouble, begun: float) -> None:
        """Return when every agent has what it wanted and is gone."""
        wanted = self._plan
        over, quiet, given_up = threading.Event(), threading.Event(), threading.Event()
        weights = plan.ON_POSTGRES if wanted.store else plan.ON_SQLITE
        faults = plan.faults(wanted.seed, wanted.seconds, wanted.agents, weights)
        with ThreadPoolExecutor(max_workers=len(self._agents) + len(people) + 1) as crew:
            troubling = crew.submit(trouble.work, faults, begun, quiet)
            answering = [crew.submit(person.work, over) for person in people]
            working = [crew.submit(agent.work, begun + wanted.seconds, given_up) for agent in self._agents]
            try:
                _finish([*working, troubling], wanted.seconds + 2 * TURN_SECONDS)
            except BaseException:
                given_up.set()
                raise
            finally:
                quiet.set()
                over.set()
            _finish(answering, TURN_SECONDS)

    def _people(self, web: Replica) -> list[Person]:
        return [
            Person(name, surface, self._place, self._plan.seed, lambda: (web.port, self._token))
            for name, surface in SURFACES.items()
        ]

    def _clock(self, number: int) -> Path:
        file = self._place.folder / f"clock{number}"
        file.write_bytes(struct.pack("q", 0))
        return file

    def _environment(self, number: int) -> dict[str, str]:
        """A clock that can jump; and every other agent has calls that end by their own limit."""
        clock = {"PYTHONPATH": str(CLOCK), "SOAK_CLOCK": str(self._clocks[number])}
        return {**clock, "SAYSO_ASK_TIMEOUT": "2s"} if number % 2 else clock

    def _sign_in(self) -> str:
        store = open_store(self._place.config())
        try:
            accounts = Accounts(store)
            accounts.add_user(USER)
            return accounts.redeem(accounts.make_link(USER))
        finally:
            store.close()


def _finish(work: list[Future[None]], seconds: float) -> None:
    """Wait for all of it; the first that fails, or all that does not end in time, is the failure of the soak."""
    done, late = wait(work, seconds, FIRST_EXCEPTION)
    for each in done:
        each.result()
    assert not late, f"{len(late)} did not end within {seconds:.0f} s"


def _settle_the_rest(person: Person) -> None:
    """What nobody waits for any more is answered too: the inbox must be empty in the end."""
    deadline = time.monotonic() + LAST_SECONDS
    while person.desk.inbox_size():
        assert time.monotonic() < deadline, f"{person.desk.inbox_size()} asks cannot be settled"
        person.look()


class _PersonsWeb(Replica):
    """The agents of a soak are children of this process, so it is their client, and nothing below it may serve the
    page. A person's shell does not descend from it."""

    begin = Orphan


@contextmanager
def _web(place: Place) -> Iterator[Replica]:
    running = _PersonsWeb(place, "--user", USER)
    try:
        yield running
    finally:
        running.stop()
        assert running.process.stdout is not None
        running.process.stdout.close()
