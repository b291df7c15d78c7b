"""What goes wrong in a soak, done to real processes: each fault is brought about, and mended where it can be."""

from __future__ import annotations

import os
import random
import resource
import signal
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from tests.e2e.http.harness import Replica
from tests.e2e.stdio.harness import Place
from tests.postgres import Server
from tests.soak.agent import Agent
from tests.soak.plan import Fault, Kind

NO_LIMIT = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


class Trouble:
    """Brings faults about, one at a time."""

    def __init__(
        self,
        place: Place,
        agents: Sequence[Agent],
        clocks: Sequence[Path],
        web: Replica,
        store: Server | None,
        seed: int,
    ) -> None:
        self.done: list[Fault] = []
        self._place, self._agents, self._clocks, self._web, self._store = place, agents, clocks, web, store
        self._chance = random.Random(f"{seed} runners")
        self._work: dict[Kind, Callable[[Fault], None]] = {
            Kind.KILL: lambda fault: self._signal(fault, signal.SIGKILL),
            Kind.KILL_RUNNER: self._kill_runner,
            Kind.KILL_WEB: self._kill_web,
            Kind.STALL: self._stall,
            Kind.FILL: self._fill,
            Kind.CLOCK: self._jump,
            Kind.SWEEP: self._sweep,
            Kind.RESTART: self._restart,
        }

    def work(self, faults: Iterator[Fault], begun: float, over: threading.Event) -> None:
        for fault in faults:
            if over.wait(max(0.0, begun + fault.at - time.monotonic())):
                return
            self._work[fault.kind](fault)
            self.done.append(fault)

    def _signal(self, fault: Fault, number: signal.Signals) -> None:
        if line := self._agents[fault.agent].line:
            line.signal(number)

    def _stall(self, fault: Fault) -> None:
        if line := self._agents[fault.agent].line:
            line.signal(signal.SIGSTOP)
            threading.Event().wait(fault.lasts)
            line.signal(signal.SIGCONT)

    def _fill(self, fault: Fault) -> None:
        line = self._agents[fault.agent].line
        if line and (pid := line.pid):
            with _limited(pid, fault.room):
                threading.Event().wait(fault.lasts)

    def _jump(self, fault: Fault) -> None:
        self._clocks[fault.agent].write_bytes(struct.pack("q", fault.jump))

    def _kill_runner(self, fault: Fault) -> None:
        """The leader of a command's session: what it ran must not outlive it for long."""
        if found := runners_of(self._place):
            with suppress(psutil.NoSuchProcess):
                self._chance.choice(found).kill()

    def _kill_web(self, _: Fault) -> None:
        self._web.kill()
        self._web.start_again()

    def _sweep(self, _: Fault) -> None:
        for socket in (self._place.state / "bell").glob("*.sock"):
            socket.unlink(missing_ok=True)

    def _restart(self, fault: Fault) -> None:
        assert self._store is not None
        self._store.stop()
        try:
            threading.Event().wait(fault.lasts)
        finally:
            self._store.start()


def processes_of(place: Place) -> list[psutil.Process]:
    """All processes that belong to the place: that were started with its folders, or work in them."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.pid != os.getpid() and _belongs(process, str(place.folder)):
                found.append(process)
    return found


def runners_of(place: Place) -> list[psutil.Process]:
    """The runners whose commands are at work."""
    found = []
    for process in processes_of(place):
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
