"""Starts commands for the server and notices their end: one future per operation, whoever started it.

Synchronous and thread-safe. Looking into, waiting for and cancelling one operation is in folder.py, for any process;
what an operation is, and who may stop it, the desk knows.
"""

from __future__ import annotations

import contextlib
import os
import threading
from concurrent.futures import Future, InvalidStateError
from concurrent.futures import wait as wait_for_all
from pathlib import Path

from sayso import process_table
from sayso.errors import SpawnerUnavailable
from sayso.running import tree
from sayso.running.command import KILL_SECONDS
from sayso.running.folder import Status
from sayso.running.launch import Launch
from sayso.running.pool import CLOSE_SECONDS, START_SECONDS, RunnerPool
from sayso.running.runner import COMPARE, CONFINE
from sayso.running.runner_line import RunnerLine, endless, follow

MOST_TRIES = 3
NO_FORK = "This system cannot run commands for Sayso: they need Linux or macOS. On Windows, use Sayso inside WSL."
CLOSED = "This server is shutting down and starts no more commands."
LEFT = "This server is shutting down; the command goes on and its status will be in its folder."


class Spawner:
    """Runs commands. Costs nothing before the first one."""

    def __init__(self, *, pool_size: int = 4, idle_seconds: float = 60.0) -> None:
        self._pool_size = pool_size
        self._idle_seconds = idle_seconds
        self._lock = threading.Lock()
        self._pools: list[RunnerPool] = []
        self._adopted: dict[Path, Future[Status]] = {}
        self._longest_grace = 0.0
        self._closed = False

    def start_operation(self, launch: Launch) -> Future[Status]:
        """Start the command; returns once it runs and its folder says so. The future ends with the command.

        A command that cannot be started is a status too. Callbacks of the future must not block.
        """
        launch.prepare_folder()
        self._longest_grace = max(self._longest_grace, launch.grace_seconds, launch.stop_grace)
        pool, runner = self._hand_over(launch)
        try:
            pool.see_started(runner)
        except TimeoutError as error:
            text = f"argv: {launch.argv[0]!r} did not start within {START_SECONDS:.0f} s. Try again later."
            raise SpawnerUnavailable(text) from error
        return runner.ended

    def adopt(self, folder: Path) -> Future[Status]:
        """The end of an operation that another server, or an earlier one, has started."""
        ended = endless()
        with self._lock:
            self._adopted[folder] = ended
        ended.add_done_callback(lambda _: self._adopted.pop(folder, None))
        follow(folder, ended)
        return ended

    @property
    def is_ready(self) -> bool:
        """Whether a runner stands ready. Somebody else may be faster to take it."""
        with self._lock:
            return bool(self._pools) and self._pools[-1].is_ready

    def idle_runners(self) -> tuple[int, ...]:
        """The pids of the runners that are ready."""
        with self._lock:
            return tuple(runner.pid for pool in self._pools for runner in pool.idle)

    def stop(self) -> None:
        """Cancel every operation that was started here, and return when no process of any is left."""
        pools, adopted, idle = self._close()
        _let_go(adopted)
        busy = [runner for pool in pools for runner in pool.busy]
        names = [(runner.pid, process_table.started(runner.pid)) for runner in (*busy, *idle)]
        for runner in busy:
            runner.cancel()
        ends = [runner.ended for runner in busy if runner.given]
        wait_for_all(ends, timeout=self._longest_grace + KILL_SECONDS + CLOSE_SECONDS)
        for pool in pools:
            pool.join(CLOSE_SECONDS)
        for pid, started in names:
            tree.wait_gone(pid, started, CLOSE_SECONDS)

    def leave(self) -> None:
        """Let go of everything: idle runners end, commands go on to their own end without this server."""
        pools, adopted, _ = self._close()
        for pool in pools:
            for runner in pool.busy:
                runner.leave(LEFT)
        _let_go(adopted)
        for pool in pools:
            pool.join(CLOSE_SECONDS)

    def _hand_over(self, launch: Launch) -> tuple[RunnerPool, RunnerLine]:
        message = launch.message()
        for _ in range(MOST_TRIES):
            pool = self._open_pool()
            if launch.allowed:
                pool.teach(COMPARE)
            if launch.sandbox:
                pool.teach(CONFINE)
            while runner := pool.take():
                if runner.give(launch.folder, message):
                    return pool, runner
                pool.discard(runner)
        raise SpawnerUnavailable("No command can be started now: the spawner ends as soon as it starts. See the log.")

    def _open_pool(self) -> RunnerPool:
        with self._lock:
            if self._closed:
                raise SpawnerUnavailable(CLOSED)
            if not hasattr(os, "fork"):
                raise SpawnerUnavailable(NO_FORK)
            self._pools = [pool for pool in self._pools if not pool.finished]
            if not self._pools or self._pools[-1].closed:
                self._pools.append(self._new_pool())
            return self._pools[-1]

    def _new_pool(self) -> RunnerPool:
        try:
            return RunnerPool(size=self._pool_size, idle_seconds=self._idle_seconds)
        except OSError as error:
            raise SpawnerUnavailable(f"No command can be started now: {error}. Try again later.") from error

    def _close(self) -> tuple[list[RunnerPool], list[Future[Status]], list[RunnerLine]]:
        """Start nothing more. What there was: the pools, the adopted operations, and the runners that were idle."""
        with self._lock:
            self._closed = True
            idle = [runner for pool in self._pools for runner in pool.idle]
            for pool in self._pools:
                pool.close()
            return list(self._pools), list(self._adopted.values()), idle


def _let_go(adopted: list[Future[Status]]) -> None:
    """Commands that others have started go on."""
    for ended in adopted:
        with contextlib.suppress(InvalidStateError):
            ended.set_exception(SpawnerUnavailable(LEFT))
