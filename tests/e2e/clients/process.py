"""A driver program as a process: started, spoken to by lines of JSON, stopped together with all it has started.

It knows the shape of the lines, not what the commands mean.
"""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psutil
from tests.e2e.clients.events import ClientGone, Event, EventLog
from tests.e2e.clients.install import ROOT

GRACE = 5.0


class DriverProcess:
    """Starts with the object, ends with `stop`."""

    def __init__(self, command: Sequence[str], stderr: Path) -> None:
        self.log = EventLog()
        self._stderr = stderr
        with stderr.open("w") as file:
            self._process = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=file, text=True
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def stderr(self) -> str:
        return self._stderr.read_text()

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
