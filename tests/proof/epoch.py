"""One epoch of a proof: agents ask, people answer, commands run and things go wrong, until enough was asked; then all
of it is seen through to its end, everybody leaves, and what they were told lies ready for the audit."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

from tests.e2e.stdio.folders import PROGRAMS
from tests.orphan import Orphan
from tests.proof.agent import Agent, Tally
from tests.proof.faults import Trouble, processes_of
from tests.proof.gates import Gates
from tests.proof.ground import AGENTS, FREE, NEVER, REMOTE, USER, Ground
from tests.proof.notes import Notes
from tests.proof.people import PEOPLE

from sayso.agents.desk import RunDesk
from sayso.asks.desk import AskDesk, Retention
from sayso.clock import now_ms
from sayso.desks import Desks, open_desks
from sayso.errors import SaysoError
from sayso.operations.desk import OperationDesk
from sayso.store import open_store

ROOT = Path(__file__).parents[2]
RULES = {
    "free": f'[[rule]]\nallow = ["Bash({FREE} *)"]\n\n[[rule]]\ndeny = ["Bash({NEVER} *)"]\n',
    "asked": f'[[rule]]\ndeny = ["Bash({NEVER} *)"]\n',
    "denied": f'[[rule]]\ndeny = ["Bash({FREE} *)", "Bash({NEVER} *)"]\n',
}
LAST_SECONDS = 300.0
"""How long it may take until all that was begun has ended."""
GONE_SECONDS = 30.0
THREE_DAYS = 3 * 86_400_000
"""Milliseconds: more than any clock has jumped."""
CENTURY = 100 * 365 * 86_400_000


class Crew:
    """The processes that are no agent's: the web server, the people, and a client with gates."""

    def __init__(self, ground: Ground, epoch: Path, gates: Gates, log: int) -> None:
        self.gates = gates
        self._ground, self._epoch, self._log = ground, epoch, log
        self._lives = count(1)
        self.start_web()
        self.people = [self._person(name) for name in PEOPLE]

    def start_web(self) -> None:
        port = str(self._ground.known["port"])
        self.web = self._orphan([PROGRAMS / "sayso", "web", "--json", "--port", port, "--user", USER], {})

    def kill_web(self) -> None:
        _kill(self.web)
        self.start_web()

    def replace_person(self, place: int) -> None:
        """Killed in the middle of whatever they did; they come back."""
        _kill(self.people[place])
        self.people[place] = self._person(PEOPLE[place])

    def _person(self, name: str) -> Orphan:
        words: list[str | Path] = [
            self._ground.folder,
            self._epoch,
            name,
            f"{int(self._epoch.name)}.{next(self._lives)}",
        ]
        return self._orphan([sys.executable, "-m", "tests.proof.people", *words], {"PYTHONPATH": str(ROOT)})

    def _orphan(self, words: list[str | Path], more: dict[str, str]) -> Orphan:
        """A person's shell does not descend from the process that the agents are children of."""
        return Orphan(
            words,
            cwd=self._ground.place.project,
            env={**self._ground.place.environment, **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    def close(self) -> None:
        for process in (*self.people, self.web):
            process.send_signal(signal.SIGTERM)
        for process in (*self.people, self.web):
            try:
                process.wait(GONE_SECONDS)
            finally:
                _kill(process)


def _kill(process: Orphan) -> None:
    process.kill()
    process.wait(GONE_SECONDS)
    assert process.stdout is not None
    process.stdout.close()


async def play(ground: Ground, epoch: Path, tally: Tally, enough: Callable[[], bool]) -> None:
    """Let it happen. Raises where somebody hangs."""
    number, notes = int(epoch.name), Notes(epoch / "agents.jsonl")
    log = os.open(epoch / "log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    agents = [Agent(place, ground, number, notes, tally, log) for place in range(AGENTS + REMOTE)]
    rules = _Rules(ground, number, notes)
    rules.change()
    crew = Crew(ground, epoch, Gates(ground, number, agents[0], log), log)
    trouble = Trouble(ground, number, agents, crew, notes, tally)
    beside = [asyncio.ensure_future(work) for work in (trouble.work(), rules.work())]
    try:
        working = [asyncio.ensure_future(work) for work in (*(agent.work() for agent in agents), crew.gates.work())]
        while True:
            await asyncio.sleep(0.05)
            if enough() or any(task.done() for task in (*working, *beside)):
                break
        for agent in agents:
            agent.over = True
        (epoch / "over").touch()
        await _stop(beside)
        async with asyncio.timeout(LAST_SECONDS):
            await asyncio.gather(*working)
            await _empty_the_inbox(ground)
            await asyncio.gather(*(agent.collect() for agent in agents))
            await asyncio.gather(*(agent.close() for agent in agents))
    finally:
        await _stop(beside)
        crew.close()
        os.close(log)
        notes.close()
    await _all_gone(ground)


async def _stop(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    for told in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(told, Exception):
            raise told


class _Rules:
    """What the person's rules say changes all the time. What they never allow stays the same."""

    def __init__(self, ground: Ground, epoch: int, notes: Notes) -> None:
        self._ground, self._notes = ground, notes
        self._chance = random.Random(f"{ground.told.seed} {epoch} rules")

    async def work(self) -> None:
        while True:
            await asyncio.sleep(self._chance.uniform(0.5, 3.0))
            self.change()

    def change(self) -> None:
        """Noted before and after: in between nobody knows which holds."""
        name = self._chance.choice(list(RULES))
        file = self._ground.rules
        half = file.with_suffix(".half")
        half.touch(mode=0o600)
        half.write_text(RULES[name])
        begun = time.monotonic()
        half.rename(file)
        self._notes.add(t="rules", name=name, begun=begun, ended=time.monotonic())


async def _empty_the_inbox(ground: Ground) -> None:
    """What nobody waits for any more is settled too."""
    with open_desks(ground.place.config()) as desks:
        while True:
            if not _left(desks):
                return
            await asyncio.sleep(0.1)


def _left(desks: Desks) -> int:
    try:
        desks.asks.release_the_dead()
        return desks.asks.inbox_size() + len(desks.runs.open_of(USER))
    except SaysoError:
        return 1


async def _all_gone(ground: Ground) -> None:
    """Commands go on without their server: they have their time to end. What is left then, the audit names."""
    end = time.monotonic() + GONE_SECONDS
    while True:
        if not processes_of(ground) or time.monotonic() > end:
            break
        await asyncio.sleep(0.05)
    config = ground.place.config()
    store = open_store(config)
    try:
        # What a process held that had to leave without its store is let go of by whoever looks next.
        OperationDesk(store, config.operations_dir).adopt_orphans()
        AskDesk(store).release_the_dead()
    finally:
        store.close()


def clean(ground: Ground) -> None:
    """Have Sayso delete what has ended, by its own retention, so that a store does not grow with the proof."""
    config, ending = ground.place.config(), threading.Event()
    store = open_store(config)
    try:
        desk = AskDesk(store, clock=lambda: now_ms() + THREE_DAYS)
        desk.clean_up(Retention(ended=0, undelivered=0, unattended=CENTURY), ending)
        OperationDesk(store, config.operations_dir, clock=lambda: now_ms() + THREE_DAYS).collect(0, 0, ending)
        RunDesk(store, config.runs_dir, clock=lambda: now_ms() + THREE_DAYS).collect(0, ending)
    finally:
        store.close()


def note_end(epoch: Path, tally: Tally, seconds: float) -> None:
    """Only an epoch that has come to its end can be audited."""
    told = {"counts": dict(tally.counts), "faults": dict(tally.faults), "seconds": round(seconds, 1)}
    (epoch / "ended.json").write_text(json.dumps(told))
