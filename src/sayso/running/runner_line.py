"""The server's hold on one runner: hands over the launch, hears how it goes, and can cancel or let go.

One thread listens at a time: the one that starts the operation hears the first word, the pool's thread the rest.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from concurrent.futures import Future, InvalidStateError
from pathlib import Path

from sayso.errors import SpawnerUnavailable
from sayso.running.command import CANCEL, CHUNK, STARTED
from sayso.running.folder import Status, await_end, parse_status


class RunnerLine:
    """The line to one runner, and what it says of the operation it was given: that it started, and how it ended."""

    def __init__(self, pid: int, line: socket.socket) -> None:
        self.pid = pid
        self.line = line
        self.ended = endless()
        self._folder: Path | None = None
        self._heard = b""
        self._lock = threading.Lock()

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
        """Wait for a word of the runner and take it in; False when it has hung up."""
        while not self._heard.endswith(b"\n"):
            data = self._receive()
            if not data:
                self._follow_lost()
                return False
            self._heard += data
        # A word may bring the next along: the last one that was said counts.
        word = self._heard.splitlines()[-1]
        self._heard = b""
        if word != STARTED:
            self._settle(parse_status(word))
        return True

    def _settle(self, status: Status) -> None:
        with self._lock:
            if not self.ended.done():
                self.ended.set_result(status)

    def _receive(self) -> bytes:
        try:
            return self.line.recv(CHUNK)
        except TimeoutError:
            raise
        except OSError:
            return b""

    def _follow_lost(self) -> None:
        if self._folder and not self.ended.done():
            follow(self._folder, self.ended)


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
