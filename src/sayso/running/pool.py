"""Runners ready ahead of need: one spawner process, the runners it forked, and the thread that listens to them all.

A runner is used once and replaced at once; one that dies idle is replaced; all are dropped when nothing is asked of
them for a while. A pool that was dropped or lost its process is not repaired: spawner.py makes the next one.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import selectors
import socket
import subprocess
import threading
import time
from collections import deque
from functools import partial

from sayso.errors import SpawnerUnavailable
from sayso.running import isolated
from sayso.running.runner import BORN, FORK, main
from sayso.running.runner_line import RunnerLine

logger = logging.getLogger(__name__)

START_SECONDS = 30.0
"""How long a start may take before the spawner counts as broken; a loaded machine stays well below it."""

CLOSE_SECONDS = 5.0

CLOSING_SECONDS = 0.01
"""How often to look whether those who are starting a command have come through, while the pool closes."""

MOST_DEATHS = 20
"""Idle runners that may die in a row before the pool stops replacing them until it is asked again."""

RECEIVE_FLAGS = getattr(socket, "MSG_CMSG_CLOEXEC", 0)


class RunnerPool:
    """Runners of one spawner process. All fields are guarded by the condition; only the thread reads the lines."""

    def __init__(self, *, size: int, idle_seconds: float) -> None:
        self._size = size
        self._idle_seconds = idle_seconds
        self._changed = threading.Condition()
        self._idle: deque[RunnerLine] = deque()
        self._starting: set[RunnerLine] = set()
        self._busy: set[RunnerLine] = set()
        self._coming = 0
        self._waiting = 0
        self._deaths = 0
        self._fault = ""
        self._closed = False
        self._taught = b""
        self._last_taken = time.monotonic()
        self._process, self._control = _start_process()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._control, selectors.EVENT_READ, self._welcome)
        self._thread = threading.Thread(target=self._attend, name="sayso-spawner", daemon=True)
        self._thread.start()

    @property
    def closed(self) -> bool:
        """Whether it gives out no more runners."""
        return self._closed

    @property
    def is_ready(self) -> bool:
        """Whether it has a runner to give out."""
        return bool(self._idle) and not self._closed

    @property
    def idle(self) -> tuple[RunnerLine, ...]:
        """The runners that wait to be used."""
        with self._changed:
            return tuple(self._idle)

    @property
    def busy(self) -> tuple[RunnerLine, ...]:
        """The runners that were taken and have not hung up."""
        with self._changed:
            return (*self._starting, *self._busy)

    def take(self) -> RunnerLine | None:
        """A runner for one operation, as soon as one is there; None when the pool closed meanwhile."""
        with self._changed:
            if not self._idle:
                self._await_idle()
            if self._closed:
                return None
            self._last_taken = time.monotonic()
            runner = self._idle.popleft()
            self._selector.unregister(runner.line)
            self._starting.add(runner)
            if len(self._idle) < self._size // 2:
                self._refill()  # those who come next would have to wait for it
            return runner

    def teach(self, what: bytes) -> None:
        """Let the runners to come be ready for this, `COMPARE` or `CONFINE`, before they are needed for it."""
        with self._changed:
            if what not in self._taught:
                self._taught += what
                with contextlib.suppress(OSError):  # then it is gone, which is noticed elsewhere
                    self._control.sendall(what)

    def see_started(self, runner: RunnerLine) -> None:
        """Hear the first word of a runner that was given its launch. By then it may all be over."""
        there = False
        try:
            there = runner.listen()
        finally:
            with self._changed:
                self._starting.discard(runner)
                if there:
                    self._busy.add(runner)
                    self._selector.register(runner.line, selectors.EVENT_READ, partial(self._hear, runner))
                else:
                    runner.line.close()
                if not there or not runner.ended.done():
                    # Otherwise it is replaced when it hangs up: a fork would hold up whoever waits for the result.
                    self._refill()

    def discard(self, runner: RunnerLine) -> None:
        """Forget a runner that was taken and found dead."""
        with self._changed:
            self._starting.discard(runner)
            runner.line.close()

    def _await_idle(self) -> None:
        self._waiting += 1
        try:
            self._fault, self._deaths = "", 0
            self._refill()
            self._changed.wait_for(lambda: self._idle or self._fault or self._closed, START_SECONDS)
        finally:
            self._waiting -= 1
        if not self._idle and not self._closed:
            why = self._fault or f"no runner was ready after {START_SECONDS:.0f} s"
            raise SpawnerUnavailable(f"No command can be started now: {why}. Try again when the machine is less busy.")

    def close(self) -> None:
        """Let the idle runners and the process go; runners at work stay, and are heard until they end."""
        with self._changed:
            if not self._closed:
                self._closed = True
                with contextlib.suppress(OSError):
                    self._control.shutdown(socket.SHUT_RDWR)
            self._changed.notify_all()

    @property
    def finished(self) -> bool:
        """Whether every line is closed and the process is gone."""
        return not self._thread.is_alive()

    def join(self, timeout: float) -> None:
        """Wait until it is finished."""
        self._thread.join(timeout)

    def _refill(self) -> None:
        missing = self._size + self._waiting - len(self._idle) - self._coming
        if missing > 0 and not self._closed and not self._is_idle():
            self._coming += missing
            with contextlib.suppress(OSError):
                self._control.sendall(FORK * missing)

    def _attend(self) -> None:
        while self._selector.get_map() or self._starting:
            for key, _ in self._selector.select(self._patience()):
                key.data()
            self._drop_when_idle()
        self._selector.close()
        self._control.close()
        try:
            self._process.wait(CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _patience(self) -> float | None:
        """Seconds until the pool counts as idle. Else it is endless: whatever happens is heard."""
        with self._changed:
            if self._closed:
                return None if self._selector.get_map() else CLOSING_SECONDS
            return max(0.0, self._last_taken + self._idle_seconds - time.monotonic()) if self._idle else None

    def _is_idle(self) -> bool:
        return not self._waiting and time.monotonic() >= self._last_taken + self._idle_seconds

    def _drop_when_idle(self) -> None:
        with self._changed:
            if self._closed or not self._is_idle():
                return
            self._drop_idle()
            if not self._busy and not self._starting:
                self.close()

    def _drop_idle(self) -> None:
        while self._idle:
            self._hang_up(self._idle.popleft())

    def _hang_up(self, runner: RunnerLine) -> None:
        self._selector.unregister(runner.line)
        runner.line.close()

    def _welcome(self) -> None:
        """A runner was born, or could not be, or the process is gone."""
        try:
            data, fds, _, _ = socket.recv_fds(self._control, BORN.size, 1, RECEIVE_FLAGS)
        except OSError:
            data, fds = b"", []
        with self._changed:
            if data:
                self._coming -= 1
                self._add(BORN.unpack(data)[0], fds)
            else:
                self._selector.unregister(self._control)
                self._drop_idle()
                self.close()
            self._changed.notify_all()

    def _add(self, pid: int, fds: list[int]) -> None:
        if not fds:
            self._fault = os.strerror(-pid if pid < 0 else errno.EMFILE)
            return
        os.set_inheritable(fds[0], False)
        line = socket.socket(fileno=fds[0])
        line.settimeout(START_SECONDS)
        runner = RunnerLine(pid, line)
        self._selector.register(runner.line, selectors.EVENT_READ, partial(self._hear, runner))
        self._idle.append(runner)

    def _hear(self, runner: RunnerLine) -> None:
        with self._changed:
            if runner in self._idle:
                self._idle.remove(runner)
                self._hang_up(runner)
                self._replace_dead(runner)
            # Whoever took it since listens to it.
            if runner not in self._busy:
                return
        if not runner.listen():
            with self._changed:
                self._busy.discard(runner)
                self._hang_up(runner)
                self._refill()

    def _replace_dead(self, runner: RunnerLine) -> None:
        self._deaths += 1
        logger.warning("idle runner %d died and is replaced", runner.pid)
        if self._deaths < MOST_DEATHS:
            self._refill()
        else:
            self._fault = f"{self._deaths} runners died before they were used"
            self._changed.notify_all()


def _start_process() -> tuple[subprocess.Popen[bytes], socket.socket]:
    ours, theirs = socket.socketpair()
    with theirs, contextlib.ExitStack() as on_failure:
        on_failure.push(ours)
        fd = theirs.fileno()
        # Its own session, so that a Ctrl-C in the terminal is the server's business alone. Nothing of the server's
        # stderr goes along: a runner that outlives the server would keep it open.
        process = subprocess.Popen(
            isolated.command(main.__module__, str(fd)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            pass_fds=[fd],
            start_new_session=True,
        )
        on_failure.pop_all()
    return process, ours
