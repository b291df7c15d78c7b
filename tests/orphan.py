"""Processes that no test is the ancestor of.

A test that starts a `sayso server` is the client of an agent in the eyes of Sayso, and what an agent starts may not
serve the page.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from os import PathLike
from typing import Any


class Orphan(subprocess.Popen[str]):
    """A process that does not descend from this one, as a person's shell does not descend from an agent. Its exit code
    nobody knows."""

    def __init__(self, command: Sequence[str | PathLike[str]], **options: Any) -> None:
        # The shell ends at once and leaves it behind; the first line is its process id.
        super().__init__(["sh", "-c", '"$@" & echo $!', "sh", *command], **options)
        assert self.stdout is not None
        super().wait()
        self.pid = int(self.stdout.readline())
        self._process: int | None = os.pidfd_open(self.pid)

    def send_signal(self, number: int) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._process, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def poll(self) -> int | None:
        return 0 if self._ended(0) else None

    def wait(self, timeout: float | None = None) -> int:
        if not self._ended(timeout):
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return 0

    def _ended(self, timeout: float | None) -> bool:
        if self._process is None:
            return True
        if not select.select([self._process], [], [], timeout)[0]:
            return False
        os.close(self._process)
        self._process = None
        return True
