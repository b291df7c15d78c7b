"""What goes wrong in a proof, done to real processes: each fault is brought about, and mended where it can be.

How often is measured in asks, not in seconds: a slow machine has the same proof to pass as a fast one.
"""

from __future__ import annotations

import asyncio
import os
import random
import resource
import signal
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from typing import TYPE_CHECKING

import psutil
from tests.proof.agent import Agent, Tally
from tests.proof.ground import AGENTS, Ground
from tests.proof.notes import Notes

if TYPE_CHECKING:
    from tests.proof.epoch import Crew

NO_LIMIT = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
HALF_DAY = 43_200
"""Seconds. Clocks jump less far than the day for which what was said to a session that is gone answers the next one:
a server whose clock is a day ahead takes that for too old, and asks anew."""


class Kind(StrEnum):
    """What goes wrong."""

    KILL = "server killed"
    KILL_GATE = "gate killed"
    KILL_RUNNER = "runner killed"
    KILL_WEB = "web killed"
    KILL_PERSON = "person killed"
    STALL = "server stopped for a while"
    SUSPEND = "all suspended"
    FILL = "disk full"
    CLOCK = "clock jumped"
    SWEEP = "rings lost"
    CUT = "connection cut"
    RESTART = "store restarted"


KILLS = (Kind.KILL, Kind.KILL_GATE, Kind.KILL_RUNNER, Kind.KILL_WEB, Kind.KILL_PERSON)
WEIGHTS = {
    Kind.KILL: 60,
    Kind.KILL_GATE: 4,
    Kind.KILL_RUNNER: 4,
    Kind.KILL_WEB: 1,
    Kind.KILL_PERSON: 2,
    Kind.STALL: 3,
    Kind.SUSPEND: 1,
    Kind.FILL: 5,
    Kind.CLOCK: 5,
    Kind.CUT: 6,
}
ON_SQLITE = {**WEIGHTS, Kind.SWEEP: 4}
ON_POSTGRES = {**WEIGHTS, Kind.RESTART: 1}


class Trouble:
    """Brings faults about, one at a time."""

    def __init__(
        self, ground: Ground, epoch: int, agents: Sequence[Agent], crew: Crew, notes: Notes, tally: Tally
    ) -> None:
        self._ground, self._agents, self._crew, self._notes, self._tally = ground, agents, crew, notes, tally
        self._chance = random.Random(f"{ground.told.seed} {epoch} faults")
        self._weights = ON_POSTGRES if ground.server else ON_SQLITE
        killing = sum(self._weights.get(kind, 0) for kind in KILLS) / sum(self._weights.values())
        self._gap = ground.told.asks_per_kill * killing
        self._next = tally.asks + self._gap
        self._work: dict[Kind, Callable[[], Awaitable[bool]]] = {
            Kind.KILL: self._kill,
            Kind.KILL_GATE: self._kill_gate,
            Kind.KILL_RUNNER: self._kill_runner,
            Kind.KILL_WEB: self._kill_web,
            Kind.KILL_PERSON: self._kill_person,
            Kind.STALL: self._stall,
            Kind.SUSPEND: self._suspend,
            Kind.FILL: self._fill,
            Kind.CLOCK: self._jump,
            Kind.SWEEP: self._sweep,
            Kind.CUT: self._cut,
            Kind.RESTART: self._restart,
        }

    async def work(self) -> None:
        """Until it is cancelled; a fault that has begun is mended first."""
        while True:
            await asyncio.sleep(0.02)
            if self._tally.asks >= self._next:
                self._next += self._chance.expovariate(1 / self._gap)
                kind = self._chance.choices(list(self._weights), list(self._weights.values()))[0]
                if await asyncio.shield(asyncio.ensure_future(self._work[kind]())):
                    self._notes.add(t="fault", kind=kind.value, at=time.monotonic())
                    self._tally.faults[kind.value] += 1

    def _some(self) -> Agent:
        return self._agents[self._chance.randrange(AGENTS)]

    async def _kill(self) -> bool:
        pipe = self._some().pipe
        return bool(pipe and pipe.signal(signal.SIGKILL))

    async def _kill_gate(self) -> bool:
        if gate := self._crew.gates.open:
            gate.kill()
        return gate is not None

    async def _kill_runner(self) -> bool:
        """The leader of a command's session: what it ran must not outlive it for long."""
        found = runners_of(self._ground)
        for runner in found[:1]:
            with suppress(psutil.NoSuchProcess):
                runner.kill()
        return bool(found)

    async def _kill_web(self) -> bool:
        self._crew.kill_web()
        return True

    async def _kill_person(self) -> bool:
        self._crew.replace_person(self._chance.randrange(len(self._crew.people)))
        return True

    async def _stall(self) -> bool:
        pipe = self._some().pipe
        if not pipe or not pipe.signal(signal.SIGSTOP):
            return False
        await asyncio.sleep(self._chance.uniform(0.1, 1.0))
        pipe.signal(signal.SIGCONT)
        return True

    async def _suspend(self) -> bool:
        """A laptop that is closed: all of them, and then all again."""
        everybody = processes_of(self._ground)
        for number in (signal.SIGSTOP, signal.SIGCONT):
            for process in everybody:
                with suppress(psutil.NoSuchProcess):
                    process.send_signal(number)
            if number is signal.SIGSTOP:
                await asyncio.sleep(self._chance.uniform(0.3, 1.5))
        return True

    async def _fill(self) -> bool:
        pipe = self._some().pipe
        if not pipe or (pid := pipe.pid) is None:
            return False
        with _limited(pid, self._chance.choice([0, 4096, 65_536])):
            await asyncio.sleep(self._chance.uniform(0.1, 1.0))
        return True

    async def _jump(self) -> bool:
        self._ground.set_clock(
            self._chance.randrange(AGENTS),
            self._chance.choice([-HALF_DAY, -3600, -60, -1, 0, 1, 60, 3600, HALF_DAY]),
        )
        return True

    async def _sweep(self) -> bool:
        for socket in (self._ground.place.state / "bell").glob("*.sock"):
            socket.unlink(missing_ok=True)
        return True

    async def _cut(self) -> bool:
        line = self._chance.choice(self._agents).line
        if line:
            line.cut()
        return line is not None

    async def _restart(self) -> bool:
        assert self._ground.server is not None
        await asyncio.to_thread(self._ground.server.stop)
        await asyncio.sleep(self._chance.uniform(0.1, 1.0))
        await asyncio.to_thread(self._ground.server.start)
        return True


def processes_of(ground: Ground) -> list[psutil.Process]:
    """All processes that belong to the machine: that were started with its folders, or work in them."""
    found, folder = [], str(ground.place.folder)
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.pid != os.getpid() and _belongs(process, folder):
                found.append(process)
    return found


def runners_of(ground: Ground) -> list[psutil.Process]:
    """The runners whose commands are at work."""
    found = []
    for process in processes_of(ground):
        with suppress(psutil.Error):
            parent = process.parent()
            if "OPERATION_MARK" in process.environ() and parent and "OPERATION_MARK" not in parent.environ():
                found.append(parent)
    return found


def _belongs(process: psutil.Process, folder: str) -> bool:
    if process.status() == psutil.STATUS_ZOMBIE:
        return False
    words = [*process.environ().values(), *process.cmdline()]
    return any(word.startswith(folder) for word in words) or process.cwd().startswith(folder)


@contextmanager
def _limited(pid: int, room: int) -> Iterator[None]:
    """No file of this process can grow beyond so many bytes."""
    with suppress(ProcessLookupError):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, NO_LIMIT)
