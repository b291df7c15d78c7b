"""The server's hold on one runner: hands over the launch, hears how it goes, and can cancel or let go.

It is shared by the thread that started the operation and the pool's thread, which listens; a lock keeps them apart.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from concurrent.futures import Future, InvalidStateError
from pathlib import Path

from sayso.errors import SpawnerUnavailable
from sayso.operations.folder import Status, await_end, parse_status
from sayso.operations.runner import CANCEL, CHUNK, STARTED


class Hold:
    """The line to one runner, and what it says of the operation it was given: that it started, and how it ended."""

    def __init__(self, pid: int, line: socket.socket) -> None:
        self.pid = pid
        self.line = line
        self.started = threading.Event()
        self.ended = endless()
        self._lock = threading.Lock()
        self._folder: Path | None = None
        self._heard = b""
        self._gone = False

    @property
    def given(self) -> bool:
        """Whether it has an operation."""
        return self._folder is not None

    def give(self, folder: Path, message: bytes) -> bool:
        """Hand over the launch; False when the runner is dead and has started nothing."""
        with self._lock:
            try:
                self.line.sendall(message)
            except OSError:
                return False
            self._folder = folder
            self._settle(folder)
            return True

    def cancel(self) -> None:
        """Have its command ended, however far it has come; without one it ends itself."""
        with self._lock, contextlib.suppress(OSError):
            if self._folder:
                self.line.sendall(CANCEL)
            else:
                self.line.shutdown(socket.SHUT_RDWR)

    def leave(self, why: str) -> None:
        """Hang up on it; its command goes on."""
        with self._lock, contextlib.suppress(OSError):
            if not self.ended.done():
                self.ended.set_exception(SpawnerUnavailable(why))
            self.line.shutdown(socket.SHUT_RDWR)

    def listen(self) -> bool:
        """Take in what the runner says; False when it has hung up."""
        try:
            data = self.line.recv(CHUNK)
        except OSError:
            data = b""
        with self._lock:
            self._heard += data
            self._gone = not data
            if self._folder:
                self._settle(self._folder)
        return bool(data)

    def _settle(self, folder: Path) -> None:
        """Pass on what was heard. The giver and the listener both come here, since either may be the later."""
        *lines, _ = self._heard.split(b"\n")
        statuses = [line for line in lines if line != STARTED]
        if lines or self._gone:
            self.started.set()
        if self.ended.done():
            return
        if statuses:
            self.ended.set_result(parse_status(statuses[0]))
        elif self._gone:
            follow(folder, self.ended)


def endless() -> Future[Status]:
    """A future that waiters may leave but not cancel: only the command's end is its end."""
    future: Future[Status] = Future()
    future.set_running_or_notify_cancel()
    return future


def follow(folder: Path, ended: Future[Status]) -> None:
    """Settle the future when the operation's runner is gone, however long that takes, without holding up anyone."""

    def see_it_out() -> None:
        status = await_end(folder)
        with contextlib.suppress(InvalidStateError):
            ended.set_result(status)

    threading.Thread(target=see_it_out, name="sayso-follow", daemon=True).start()
