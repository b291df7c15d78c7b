"""A driver program as a process: started, spoken to by lines of JSON, stopped together with all it has started.

It knows the shape of the lines, not what the commands mean. Starting one takes a second of a processor, so those that
have ended a session in good order stand by for the next, and those in our own Python are forked.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import count
from typing import IO, Any

import psutil
from tests import warm
from tests.e2e.clients.events import ClientGone, Event, EventLog
from tests.e2e.clients.install import ROOT

GRACE = 5.0
PASSED_ON = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
"""What the library gives a server of the environment that it has itself."""


class DriverProcess:
    """Starts with the object, ends with `stop`."""

    def __init__(self, command: Sequence[str]) -> None:
        self.log = EventLog()
        self.command = tuple(command)
        self._numbers = count(1)
        self._stderr = tempfile.TemporaryFile("a+")  # noqa: SIM115 - it lives as long as the process
        self._process = _started(command, stderr=self._stderr)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def stderr(self) -> str:
        self._stderr.seek(0)
        return self._stderr.read()

    def new_key(self, word: str) -> str:
        """A name that no other command to this process has."""
        return f"{word}-{next(self._numbers)}"

    def send(self, line: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(line) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise ClientGone("the client program has ended") from None

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self._process.pid).children()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(GRACE)

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def stop(self, known: Sequence[psutil.Process]) -> None:
        """End the program, and whatever it started or is known to have started and does not end by itself."""
        started = [*known, *self._descendants()]
        self.kill()
        self._reader.join(GRACE)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._stderr.close()
        if not wait_until(lambda: all(is_gone(process) for process in started), GRACE):
            for process in started:
                process.kill()

    def _descendants(self) -> list[psutil.Process]:
        try:
            return psutil.Process(self._process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            fields = json.loads(line)
            self.log.add(Event(kind=fields.pop("event"), fields=fields))
        self.log.end()


def _started(command: Sequence[str], stderr: IO[str]) -> subprocess.Popen[str]:
    streams: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": stderr, "text": True}
    env = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    if command[0] == sys.executable and warm.can_fork(warm.KNOWN[warm.PLAIN]):
        return warm.fork_module(command[-1], env=env, cwd=ROOT, **streams)
    return subprocess.Popen(command, cwd=ROOT, **streams)


_standing_by: dict[tuple[str, ...], list[DriverProcess]] = defaultdict(list)


def driver_process(command: Sequence[str]) -> DriverProcess:
    """One that stands by, or a new one."""
    waiting = _standing_by[tuple(command)]
    return waiting.pop() if waiting else DriverProcess(command)


def stand_by(process: DriverProcess) -> None:
    """For a process whose session is closed and that has no children left."""
    process.log = EventLog()
    _standing_by[process.command].append(process)


@atexit.register
def _end_all() -> None:
    for waiting in _standing_by.values():
        while waiting:
            waiting.pop().stop([])


def is_gone(process: psutil.Process) -> bool:
    """Whether it runs no more; one that nobody has collected yet counts as gone."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def wait_until(holds: Callable[[], bool], timeout: float) -> bool:
    """For what can only be looked at again and again. Whether it came to hold in time."""
    deadline = time.monotonic() + timeout
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
