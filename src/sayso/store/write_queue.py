"""Whose turn it is to write. SQLite lets one write at a time, and has all others look again and again, with longer and
longer sleeps in between: where many write, most of their time goes there. Here they sleep until it is their turn.

Nothing depends on it. Who gets no turn, or has waited for too long, writes all the same, and SQLite keeps them apart.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

PATIENCE = 0.5
"""Seconds. Who is stopped in the middle of its turn must not stop all others."""


class WriteQueue:
    """One process's part in it. The folder stands for the store in it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._in_vain: threading.Thread | None = None
        """What still waits for a turn that came too late."""

    @contextmanager
    def turn(self) -> Iterator[None]:
        handle = self._take()
        try:
            yield
        finally:
            if handle is not None:
                os.close(handle)  # with which the turn is over, as with the end of this process

    def _take(self) -> int | None:
        # Once somebody does not give their turn up, nobody waits for that again.
        if sys.platform == "win32" or (self._in_vain and self._in_vain.is_alive()):
            return None
        import fcntl

        try:
            handle = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            return None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return self._wait(handle)
        except OSError:  # not every file system has them
            os.close(handle)
            return None
        return handle

    def _wait(self, handle: int) -> int | None:
        """Sleep until it is our turn. The system knows no limit for that, so it is a thread that sleeps."""
        import fcntl

        # Whoever comes first takes it: the thread that has got the turn, or we who have waited for too long.
        first = partial(threading.Lock().acquire, blocking=False)

        def wait() -> None:
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_EX)
            if not first():
                os.close(handle)

        thread = threading.Thread(target=wait, name="sayso-turn", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system has no thread to give
            os.close(handle)
            return None
        thread.join(PATIENCE)
        if thread.is_alive() and first():
            self._in_vain = thread
            return None
        return handle
