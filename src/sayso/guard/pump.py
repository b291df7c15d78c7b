"""The guard as a process: one plain loop that carries lines between the client and the server, and never waits for
anybody in particular. People are asked beside it, in `asking.py`."""

from __future__ import annotations

import contextlib
import logging
import os
import select
import signal
import stat
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from sayso.config import Config
from sayso.errors import SaysoError
from sayso.guard.asking import Asking
from sayso.guard.calls import GuardedCall, GuardedServer
from sayso.guard.keeper import Keeper
from sayso.guard.passage import GuardOutcome, Passage
from sayso.guard.tools import AcceptedTools
from sayso.protocol.messages import MAX_LINE, Json
from sayso.protocol.request import ClientInfo

logger = logging.getLogger(__name__)

CHUNK = 256 * 1024
FULL = 1024 * 1024
"""Bytes that one side has yet to read, from which on nothing more is taken from the other."""
LEAVING_SECONDS = 2.0
"""How long a server may take to end once its client has left, before it is told to."""

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Pump:
    """Carries what one client and one server say, until the server has ended."""

    def __init__(self, config: Config, server: GuardedServer, keeper: Keeper, client: tuple[int, int]) -> None:
        self._keeper = keeper
        self._from_client, self._from_server = _Source(client[0]), _Source(keeper.stdout)
        self._client, self._server = _Sink(client[1]), _Sink(keeper.stdin)
        self._todo: deque[Callable[[], None]] = deque()
        self._wake, self._waker = os.pipe()
        for end in (self._wake, self._waker):
            os.set_blocking(end, False)
        self._asking = Asking(config, server, self._post)
        self._passage = Passage(server, AcceptedTools(config.guarded_dir), self)
        self._asking.tells(self._passage)
        self._end_at: float | None = None
        self._code: int | None = None

    def run(self) -> int:
        """Until the server has ended; its exit code."""
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in _SIGNALS:
            signal.signal(number, lambda *_: self._keeper.end())
        try:
            while not self._is_over():
                self._turn()
        finally:
            self._asking.close()
        assert self._code is not None
        return self._code

    def _is_over(self) -> bool:
        if self._code is None:
            self._code = self._keeper.exit_code()
            if self._code is not None:
                # What it said last is passed on; nobody else who holds its pipe open is waited for.
                self._end_at = time.monotonic() + LEAVING_SECONDS
        return self._code is not None and not self._from_server.is_open and not self._client.has_more

    def _turn(self) -> None:
        """Do whatever can be done now, or wait until something can."""
        poll = select.poll()
        poll.register(self._wake, select.POLLIN)
        for source, sink in ((self._from_client, self._server), (self._from_server, self._client)):
            if source.is_open and sink.size < FULL:
                poll.register(source.fd, select.POLLIN)
            if sink.has_more:
                poll.register(sink.fd, select.POLLOUT)
        ready = {fd for fd, _ in poll.poll(self._patience())}
        if self._wake in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(self._wake, CHUNK)
        while self._todo:
            self._todo.popleft()()
        for sink in (self._client, self._server):
            if sink.fd in ready:
                sink.write_on()
        if self._from_server.fd in ready and self._from_server.is_open:
            self._take(self._from_server, self._passage.from_server)
        if self._from_client.fd in ready and self._from_client.is_open:
            self._take(self._from_client, self._passage.from_client)
        self._heed_ends()

    def _take(self, source: _Source, hear: Callable[[bytes], None]) -> None:
        for line in source.lines():
            hear(line)

    def _heed_ends(self) -> None:
        if self._client.is_broken:
            self._from_client.close()
        if not self._from_client.is_open:
            self._asking.stop()  # nobody waits for a verdict any more
            if not self._server.has_more:
                self._server.close()
        if self._end_at is None and not (self._from_client.is_open and self._from_server.is_open):
            self._end_at = time.monotonic() + LEAVING_SECONDS
        if self._end_at and time.monotonic() >= self._end_at:
            self._keeper.end()
            if self._code is not None:  # whoever holds the pipe open is not of the server's tree
                self._from_server.close()
                self._client.close()

    def _patience(self) -> float | None:
        """Milliseconds until something has to be done in any case. Endless while both sides are there."""
        return None if self._end_at is None else max(50.0, (self._end_at - time.monotonic()) * 1000)

    def _post(self, work: Callable[[], None]) -> None:
        """Have the loop do this, from another thread."""
        self._todo.append(work)
        with contextlib.suppress(BlockingIOError):
            os.write(self._waker, b"!")

    # What the passage wants

    def to_client(self, line: bytes) -> None:
        self._client.write(line)

    def to_server(self, line: bytes) -> None:
        self._server.write(line)

    def ask(self, call: GuardedCall) -> None:
        self._asking.ask(call)

    def withdraw(self, call: GuardedCall) -> None:
        self._asking.withdraw(call)

    def offer(self, action: Json, client: ClientInfo) -> None:
        self._asking.offer(action, client)

    def void(self, outcome: GuardOutcome, why: str) -> None:
        self._asking.void(outcome, why)


class _Source:
    """Where lines come from."""

    def __init__(self, fd: int) -> None:
        self.fd, self.is_open = fd, True
        self._partial: list[bytes] = []
        self._size = 0

    def lines(self) -> Iterator[bytes]:
        """The lines that are complete with what can be read now, each with its end; at the end the rest."""
        try:
            chunk = os.read(self.fd, CHUNK)
        except BlockingIOError:
            return
        except OSError:  # how a killed process shows on a socket or a terminal
            chunk = b""
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            yield self._whole(end + b"\n")
        self._keep(rest)
        if not chunk:
            self.close()
            if last := self._whole(b""):
                yield last

    def close(self) -> None:
        self.is_open = False

    def _whole(self, end: bytes) -> bytes:
        line = b"".join((*self._partial, end)) if self._partial else end
        self._partial, self._size = [], 0
        return line

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > MAX_LINE:
            raise SaysoError(f"A message was over {MAX_LINE:,} bytes (64 MiB), the limit. The connection was ended.")
        if piece:
            self._partial.append(piece)


class _Sink:
    """Where lines go to, as fast as they are taken there."""

    def __init__(self, fd: int) -> None:
        self.fd, self.is_broken = fd, False
        self._left = bytearray()
        mode = os.fstat(fd).st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            os.set_blocking(fd, False)

    @property
    def has_more(self) -> bool:
        return bool(self._left) and not self.is_broken

    @property
    def size(self) -> int:
        return len(self._left)

    def write(self, line: bytes) -> None:
        if self.is_broken:
            return
        if not self._left:
            line = line[self._written(line) :]
        self._left += line

    def write_on(self) -> None:
        with memoryview(self._left) as left:
            done = self._written(left)
        del self._left[:done]

    def close(self) -> None:
        if not self.is_broken:
            self.is_broken = True
            self._left.clear()
            os.close(self.fd)

    def _written(self, data: Any) -> int:
        try:
            return os.write(self.fd, data)
        except BlockingIOError:
            return 0
        except OSError:  # nobody reads there any more
            self.close()
            return len(data)
