"""Trees of processes: who descends from whom, who carries an operation's mark; waiting for them and ending them.

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

from sayso.process_table import Process, carrying, everyone, is_running

MARK = "OPERATION_MARK"
"""The environment variable that says which operation a process belongs to."""

LOOK_SECONDS = 0.05
"""How often to look where the system cannot tell that a process that is not our child has ended."""

FREEZE_SECONDS = 3.0
"""How long to try to halt a tree that may grow meanwhile."""


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
    """Send SIGTERM to this very process, also if somebody has halted it; False when it is not there."""
    exit_fd = open_exit(pid)
    try:
        if not is_running(pid, started):
            return False
        for signum in (signal.SIGTERM, signal.SIGCONT):
            if sys.platform == "linux" and exit_fd is not None:
                _try(signal.pidfd_send_signal, exit_fd, signum)
            else:
                _try(os.kill, pid, signum)
        return True
    finally:
        if exit_fd is not None:
            os.close(exit_fd)


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


def mark_of(folder: str) -> str:
    """The mark of what the operation in this folder runs: known to all, also where its runner could not name itself. It
    begins the marks of operations in folders below."""
    return f"{folder}/"


def marked(mark: str) -> list[Process]:
    """All that carry the mark, or one that begins so, in their environment and still run."""
    return carrying(f"{MARK}={mark}")


def send(signum: int, processes: Iterable[Process]) -> None:
    """Signal each process once; those that are gone or not ours are passed over."""
    for process in processes:
        _try(os.kill, process.pid, signum)


def freeze(found: Callable[[], list[Process]]) -> bool:
    """Halt all that are `found`, with what they start meanwhile; says whether none of them can do anything now."""
    give_up = time.monotonic() + FREEZE_SECONDS
    told: set[tuple[int, str]] = set()
    quiet = 0
    # Twice, because a look takes time: one that was seen halted may have started another just before.
    while quiet < 2:
        moving = [process for process in found() if not _is_halted(process, told)]
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
