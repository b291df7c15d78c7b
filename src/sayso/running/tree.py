"""The process table: who descends from whom, who carries an operation's mark, and when a process started.

Stdlib only and small, because every runner carries it. It looks and signals; it decides nothing.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable

if sys.platform != "linux":
    # Only where there is no /proc: a runner elsewhere need not carry it.
    from sayso.running import ps

MARK = "OPERATION_MARK"
"""The environment variable that says which operation a process belongs to."""

LOOK_SECONDS = 0.05
"""How often to look where the system cannot tell that a process that is not our child has ended."""

FREEZE_SECONDS = 3.0
"""How long to try to halt a tree that may grow meanwhile."""


class Process:
    """One row of the process table."""

    __slots__ = ("group", "parent", "pid", "started", "state")

    def __init__(self, pid: int, parent: int, group: int, started: str, state: str) -> None:
        self.pid = pid
        self.parent = parent
        self.group = group
        self.started = started
        self.state = state

    @property
    def zombie(self) -> bool:
        return self.state in "ZX"

    @property
    def stopped(self) -> bool:
        return self.state in "Tt"

    @property
    def held_by_the_system(self) -> bool:
        """Within a call of the system that no signal interrupts: one that was sent takes effect before it leaves."""
        return self.state in "DU"


def find(pid: int) -> Process | None:
    """The process with this pid, if there is one."""
    if sys.platform != "linux":
        return next((Process(*row) for row in ps.rows("-p", str(pid))), None)
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except OSError:
        return None
    # The name in brackets may hold anything, so the fields are counted from its end.
    fields = text[text.rindex(b")") + 2 :].split()
    return Process(pid, int(fields[1]), int(fields[2]), fields[19].decode(), fields[0].decode())


def started(pid: int) -> str:
    """When the process started, as the system writes it: with the pid it names one process for ever."""
    process = find(pid)
    return process.started if process else ""


def is_running(pid: int, started: str) -> bool:
    """Whether this very process, and not a later one with its pid, still runs."""
    process = find(pid)
    return process is not None and not process.zombie and process.started == started


def open_exit(pid: int) -> int | None:
    """A file descriptor that becomes readable when the process ends, where the system has such a thing."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            return os.pidfd_open(pid)
    return None


def wait_gone(pid: int, started: str, timeout: float) -> bool:
    """Wait until this very process has ended; says whether it has."""
    end = time.monotonic() + timeout
    exit_fd = open_exit(pid)
    try:
        while is_running(pid, started):
            left = end - time.monotonic()
            if left <= 0:
                return False
            fds = [] if exit_fd is None else [exit_fd]
            select.select(fds, [], [], left if fds else min(left, LOOK_SECONDS))
        return True
    finally:
        if exit_fd is not None:
            os.close(exit_fd)


def terminate(pid: int, started: str) -> bool:
    """Send SIGTERM to this very process; False when it is not there."""
    exit_fd = open_exit(pid)
    try:
        if not is_running(pid, started):
            return False
        if sys.platform == "linux" and exit_fd is not None:
            _try(signal.pidfd_send_signal, exit_fd, signal.SIGTERM)
        else:
            _try(os.kill, pid, signal.SIGTERM)
        return True
    finally:
        if exit_fd is not None:
            os.close(exit_fd)


def everyone() -> list[Process]:
    """Every process that can be seen."""
    if sys.platform != "linux":
        return [Process(*row) for row in ps.rows("-A")]
    found = (find(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return [process for process in found if process]


def descendants(ancestor: int) -> list[Process]:
    """All that descend from this process and still run, the nearest first."""
    below: dict[int, list[Process]] = {}
    for process in everyone():
        below.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    parents = [ancestor]
    while parents:
        children = [child for parent in parents for child in below.get(parent, [])]
        found.extend(children)
        parents = [child.pid for child in children]
    return [process for process in found if not process.zombie]


def marked(mark: str) -> list[Process]:
    """All that carry the mark in their environment and still run."""
    wanted = f"{MARK}={mark}"
    alive = [process for process in everyone() if not process.zombie]
    if sys.platform != "linux":
        pids = ps.pids_with(wanted)
        return [process for process in alive if process.pid in pids]
    return [process for process in alive if wanted.encode() in _environment(process.pid)]


def _environment(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read()
    except OSError:
        return b""


def send(signum: int, processes: Iterable[Process]) -> None:
    """Signal each process once; those that are gone or not ours are passed over."""
    for process in processes:
        _try(os.kill, process.pid, signum)


def freeze(find: Callable[[], list[Process]]) -> bool:
    """Halt all that `find` finds, with what they start meanwhile; says whether none of them can do anything now."""
    give_up = time.monotonic() + FREEZE_SECONDS
    told: set[tuple[int, str]] = set()
    quiet = 0
    # Twice, because a look takes time: one that was seen halted may have started another just before.
    while quiet < 2:
        moving = [process for process in find() if not _is_halted(process, told)]
        quiet = 0 if moving else quiet + 1
        if moving and time.monotonic() > give_up:
            return False
        send(signal.SIGSTOP, moving)
        told.update((process.pid, process.started) for process in moving)
    return True


def _is_halted(process: Process, told: set[tuple[int, str]]) -> bool:
    return process.stopped or (process.held_by_the_system and (process.pid, process.started) in told)


def kill(processes: Iterable[Process]) -> None:
    """Kill the processes, and their groups with them: a group cannot outrun the signal by forking."""
    doomed = list(processes)
    for group in {process.group for process in doomed} - {os.getpgrp()}:
        _try(os.killpg, group, signal.SIGKILL)
    send(signal.SIGKILL, doomed)


def _try(deliver: Callable[[int, int], None], target: int, signum: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        deliver(target, signum)
