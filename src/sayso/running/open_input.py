"""A command's input as its runner keeps it open: what anybody has left in the folder is handed on in order, each once.

Whoever speaks leaves `say-N` in the folder, whole, and a byte in the FIFO `line`; `speaking.py` does that. The runner
alone hands on, and notes in `line.json` what it begins to hand on, how far it has come, and whether it has closed the
input, which is final. So a thing that is left twice is handed on once, one that is left after the close never, and one
that was not begun when the runner was killed may be said to another. Stdlib only and small; only runners of commands
that are spoken to load it.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import time

from sayso.running import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sayso.running.readiness import Readiness

LEAVE_SECONDS = 15.0
"""How long a command may take to end once its input is closed."""


class OpenInput:
    """The write end of one command's standard input. `timeout` is how many seconds the command may be at work without
    being told to rest."""

    def __init__(self, folder: str, timeout: float | None) -> None:
        self._folder, self._timeout = folder, timeout
        self.handed_on = 0
        self.closed = False
        self.until: float | None = None
        """When something is due: the end of a rest, or of the command's patience."""
        self._resting: dict[str, Any] = {}
        """On which terms the command rests; empty while it is at work."""
        self._left = b""
        self._poll: Readiness | None = None
        path = os.path.join(folder, record.LINE_FIFO)
        with contextlib.suppress(FileExistsError):
            os.mkfifo(path, 0o600)
        self.bell = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        # Held open, or the end of one speaker would be the end of all.
        self._own_end = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        self.read_end, self.write_end = os.pipe()
        os.set_blocking(self.write_end, False)

    def listen(self, poll: Readiness) -> None:
        """From now on the command is there: hand on what has been left so far."""
        self._poll = poll
        poll.register(self.bell, select.POLLIN)
        self._work_again()
        self.attend(self.bell)

    def attend(self, fd: int) -> None:
        """Somebody has left something, or the command has made room for more."""
        if fd == self.bell:
            with contextlib.suppress(BlockingIOError):
                os.read(self.bell, 1 << 16)
        if not self.closed:
            self._hand_on()
            self._heed_rest()

    def is_over(self) -> bool:
        """Act on the time that is up; whether that was the command's own time."""
        if self._resting and not self.closed:
            self.close()
            return False
        return True

    def close(self) -> None:
        """Hand on nothing more, for ever. The command has a while to end by itself."""
        self.closed = True
        self._note(begun=self.handed_on + bool(self._left))
        self._stop_writing()
        os.close(self.write_end)
        self.write_end = -1
        self.until = time.monotonic() + LEAVE_SECONDS

    def _hand_on(self) -> None:
        while self._written():
            said = self._next()
            if said is None:
                return
            self._left = said
            self._note(begun=self.handed_on + 1)

    def _next(self) -> bytes | None:
        path = os.path.join(self._folder, record.said_file(self.handed_on + 1))
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError:
            return None

    def _written(self) -> bool:
        """Write what is left of the thing that is being handed on; whether none is."""
        if not self._left:
            return True
        try:
            self._left = self._left[os.write(self.write_end, self._left) :]
        except BlockingIOError:
            pass
        except OSError:
            # The command hears nothing any more; what it was not told stays untold.
            self.close()
            return False
        if self._left:
            self._wait_for_room()
            return False
        self._stop_writing()
        self.handed_on += 1
        self._note()
        if self._resting:
            self._work_again()
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(self._folder, record.said_file(self.handed_on)))
        return True

    def _heed_rest(self) -> None:
        """The command may rest if it has been told so after all that it was told."""
        rest = _read(os.path.join(self._folder, record.LEAVE_FILE))
        if rest.get("after") != self.handed_on:
            rest = _read(os.path.join(self._folder, record.REST_FILE))
        if self._resting and not rest:
            self._work_again()
        if self.closed or self._left or rest == self._resting or rest.get("after") != self.handed_on:
            return
        self._resting = rest
        self.until = time.monotonic() + float(rest["seconds"])

    def _work_again(self) -> None:
        self._resting = {}
        self.until = None if self._timeout is None else time.monotonic() + self._timeout

    def _note(self, begun: int = 0) -> None:
        done = {"handed_on": self.handed_on, "begun": max(begun, self.handed_on), "closed": self.closed}
        record.write(self._folder, record.LINE_FILE, done)

    def _wait_for_room(self) -> None:
        if self._poll:
            self._poll.register(self.write_end, select.POLLOUT)

    def _stop_writing(self) -> None:
        if self._poll:
            with contextlib.suppress(KeyError):
                self._poll.unregister(self.write_end)


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
