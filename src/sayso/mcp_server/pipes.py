"""File descriptors for the transport: reading chunks, watching them with the event loop or a thread."""

from __future__ import annotations

import asyncio
import errno
import os
import select
import socket
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, Protocol

_CHUNK: Final = 64 * 1024


class PipeReader(Protocol):
    """Feeds chunks as they come; an empty one is the end, and the last."""

    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def stop(self) -> None: ...


class PolledReader:
    """Reads when the event loop says that there is something: pipes, sockets, terminals."""

    def __init__(self, fd: int, feed: Callable[[bytes], None]) -> None:
        self._fd = fd
        self._feed = feed
        self.resume()

    def pause(self) -> None:
        asyncio.get_running_loop().remove_reader(self._fd)

    def resume(self) -> None:
        asyncio.get_running_loop().add_reader(self._fd, self._read)

    def stop(self) -> None:
        self.pause()

    def _read(self) -> None:
        with suppress(BlockingIOError):
            chunk = _read_chunk(self._fd)
            if not chunk:
                self.stop()
            self._feed(chunk)


class ThreadedReader:
    """One thread for what the event loop cannot watch: regular files, the null device, pipes on Windows."""

    def __init__(self, fd: int, feed: Callable[[bytes], None]) -> None:
        self._fd = fd
        self._feed = feed
        self._loop = asyncio.get_running_loop()
        self._paused = self._stopped = False
        self._turn = threading.Semaphore()
        threading.Thread(target=self._run, name="sayso-stdin", daemon=True).start()

    def pause(self) -> None:
        self._paused = True

    def resume(self) -> None:
        self._paused = False
        self._turn.release()

    def stop(self) -> None:
        self._stopped = True
        self._turn.release()

    def _run(self) -> None:
        chunk = b"not yet at the end"
        with suppress(RuntimeError):  # the event loop is closed: nobody listens any more
            while chunk and self._turn.acquire() and not self._stopped:
                chunk = _read_chunk(self._fd)
                self._loop.call_soon_threadsafe(self._fed, chunk)

    def _fed(self, chunk: bytes) -> None:
        if self._stopped:
            return
        self._feed(chunk)
        if not self._paused:
            self._turn.release()


def _read_chunk(fd: int) -> bytes:
    try:
        return os.read(fd, _CHUNK)
    except BlockingIOError:
        raise
    except OSError:  # how a killed client shows on a socket or a terminal: it has left like any other
        return b""


def pollable(fd: int) -> bool:
    """Whether the event loop can watch it. The null device and files look readable for ever, or cannot be watched."""
    if sys.platform == "win32":
        return False
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(fd)


def unread(fd: int) -> int:
    """How many of the last bytes that were written here nobody has read yet. None where the system does not tell."""
    if sys.platform != "linux" or not stat.S_ISFIFO(os.fstat(fd).st_mode):
        return 0
    import fcntl  # only for a client that leaves
    import termios

    return int.from_bytes(fcntl.ioctl(fd, termios.FIONREAD, bytes(4)), sys.byteorder)


def thrown_away(fd: int) -> int:
    """How many of them nobody ever will: whoever could has closed the other end. One of a socket, which tells only that
    there are some."""
    if sys.platform != "linux":
        return 0
    poll = select.poll()
    poll.register(fd, 0)
    if not any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0)):
        return 0
    if not stat.S_ISSOCK(os.fstat(fd).st_mode):
        return unread(fd)
    with socket.socket(fileno=os.dup(fd)) as end:
        return int(end.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == errno.ECONNRESET)


@contextmanager
def closing(read_fd: int, write_fd: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(write_fd)
        if pollable(read_fd):  # else a thread may still sit in a read of it
            os.close(read_fd)


@contextmanager
def non_blocking(*fds: int) -> Iterator[None]:
    """The flag belongs to the description, which a terminal shares with the parent, or fd 0 with fd 1: put it back."""
    before = {fd: os.get_blocking(fd) for fd in fds if pollable(fd)}
    for fd in before:
        os.set_blocking(fd, False)
    try:
        yield
    finally:
        for fd, blocking in before.items():
            os.set_blocking(fd, blocking)
