"""Sayso's stdio transport: one JSON-RPC message per line over what were fds 0 and 1, on the event loop.

It never stops for a slow client, and tells each request whether its answer has left. What messages mean is the
connection's business. Their content is private: nothing of it is ever logged.
"""

from __future__ import annotations

import asyncio
import logging
import os
import stat
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from sayso.bridge import Patience, seen_through
from sayso.errors import ProtocolError
from sayso.mcp_server.context import Handler
from sayso.mcp_server.dispatcher import Dispatcher
from sayso.mcp_server.lines import LineCutter
from sayso.mcp_server.pipes import (
    PipeReader,
    PolledReader,
    ThreadedReader,
    closing,
    non_blocking,
    pollable,
    thrown_away,
    unread,
)
from sayso.protocol import messages
from sayso.protocol.connection import Connection, Event, Send
from sayso.protocol.messages import INVALID_REQUEST, MAX_LINE, TOO_LONG, Json
from sayso.protocol.request import Request

_MAX_QUEUED_LINES: Final = 256
_MAX_QUEUED_BYTES: Final = 8 * 1024 * 1024
_MAX_UNREAD_LINES: Final = 4096
_MOST_IN_A_ROW: Final = 16
_PIPE_BYTES: Final = 64 * 1024
"""What a pipe holds, unless its owner has made it larger."""
_PATIENCE: Final = 0.5
_LOOK_EVERY: Final = 0.01

logger = logging.getLogger(__name__)


@dataclass(kw_only=True)
class EarlyInput:
    """What a client had said before the event loop was there: what is to be done about it, and what nobody has looked
    at yet."""

    events: list[Event] = field(default_factory=list)
    lines: deque[bytearray | None] = field(default_factory=deque)
    cutter: LineCutter = field(default_factory=lambda: LineCutter(MAX_LINE))


class StdioTransport:
    """The protocol's pipe. Good for one session."""

    def __init__(self, *, read_fd: int, write_fd: int) -> None:
        self.input_ended = asyncio.Event()
        self._read_fd, self._write_fd = read_fd, write_fd
        self._outbound = Outbound(write_fd)

    @property
    def broken(self) -> bool:
        """Whether a write has failed: nobody reads the other end any more."""
        return self._outbound.broken

    async def serve(
        self,
        connection: Connection,
        handlers: Mapping[str, Handler],
        *,
        heard: EarlyInput | None = None,
        ready: Callable[[Dispatcher], None] = lambda _: None,
    ) -> None:
        """Serve one client until it leaves. `ready` is called as soon as it can be told things. The pipe is closed when
        a client that still reads has it all."""
        heard = heard or EarlyInput()
        with closing(self._read_fd, self._write_fd), non_blocking(self._read_fd, self._write_fd):
            dispatcher = Dispatcher(connection, handlers, self._outbound)
            inbound = Inbound(self._read_fd, heard, self.input_ended)
            self._outbound.on_broken = inbound.end
            ready(dispatcher)
            try:
                await self._send(dispatcher.take(heard.events))
                async for line in inbound:
                    await self._send(dispatcher.take(_understood(connection, line)))
                if inbound.is_file:
                    await dispatcher.idle()
            finally:
                inbound.end()
                await seen_through(self._finish(dispatcher))
                self._outbound.stop()

    async def _finish(self, dispatcher: Dispatcher) -> None:
        await dispatcher.close()
        await self._outbound.drain()

    async def _send(self, told: Iterable[Send]) -> None:
        for send in told:
            if send.about is None:
                logger.warning("refused a line from the client: %s", send.message["error"]["message"])
            self._outbound.offer(send.message)
        await self._outbound.has_room()


def _understood(connection: Connection, line: bytearray | None) -> list[Event]:
    if line is None:
        return [Send(messages.error(None, ProtocolError(INVALID_REQUEST, TOO_LONG)))]
    return connection.receive(line)


class Inbound:
    """What the client says, line by line; None for one that was too long. A server that does not keep up stops
    reading."""

    def __init__(self, fd: int, heard: EarlyInput, ended: asyncio.Event) -> None:
        self._ended = ended
        self._at_end = self._paused = False
        self._lines, self._cutter = heard.lines, heard.cutter
        self._queued_bytes = sum(len(line or b"") for line in self._lines)
        self._news = asyncio.Event()
        self.is_file = stat.S_ISREG(os.fstat(fd).st_mode)
        """The end of a file is not a client that left: whatever it asked is still answered."""
        self._reader: PipeReader = (PolledReader if pollable(fd) else ThreadedReader)(fd, self._feed)

    def __aiter__(self) -> Inbound:
        return self

    async def __anext__(self) -> bytearray | None:
        if self._lines:
            await asyncio.sleep(0)  # what came before is begun before this is read: it may be its cancel
        while not self._lines:
            if self._at_end:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()  # endless: a client may be silent for days
        return self._next_line()

    def end(self) -> None:
        """Read no more: nobody reads our answers, or all is over."""
        self._lines.clear()
        self._reader.stop()
        self._at_end = True
        self._ended.set()
        self._news.set()

    def _feed(self, chunk: bytes) -> None:
        """Take what was read; nothing is the end of input."""
        for line in self._cutter.cut(chunk) if chunk else self._cutter.last():
            self._lines.append(line)
            self._queued_bytes += len(line or b"")
        if not chunk:
            self._at_end = True
            if not self.is_file:
                self._ended.set()
        elif self._is_full():
            self._paused = True
            self._reader.pause()
        self._news.set()

    def _is_full(self) -> bool:
        return len(self._lines) > _MAX_QUEUED_LINES or self._queued_bytes > _MAX_QUEUED_BYTES

    def _next_line(self) -> bytearray | None:
        line = self._lines.popleft()
        self._queued_bytes -= len(line or b"")
        if self._paused and not self._is_full():
            self._paused = False
            self._reader.resume()
        return line


@dataclass(kw_only=True, slots=True)
class Outgoing:
    """One message on its way into the pipe, and the request that it answers."""

    rest: memoryview
    request: Request | None
    done: asyncio.Future[None]

    def end(self) -> None:
        if not self.done.done():  # its sender may have been cancelled
            self.done.set_result(None)


class Outbound:
    """What is said to the client: whole messages in order. A full pipe stops the sender alone, never the event loop."""

    def __init__(self, fd: int) -> None:
        self.broken = False
        self.on_broken: Callable[[], None] = lambda: None
        self._fd = fd
        self._queue: deque[Outgoing] = deque()
        self._written = 0
        self._latest: deque[tuple[int, Request]] = deque()
        """The answers that may still lie in the pipe, each with the bytes that were written up to its end."""
        self._empty = asyncio.Event()
        self._room = asyncio.Event()
        self._in_a_row = 0
        self._closed = self._watching = False

    async def say(self, message: Json, about: Request | None = None) -> None:
        """Return when the kernel has all of it. A cancelled sender's message still goes out: no line is ever torn."""
        if not self._closed:
            await self._sent(self._enqueue(message, None))

    async def answer(self, message: Json, request: Request) -> None:
        """The same, and tell the request."""
        if self._closed:
            request.lost()
        else:
            await self._sent(self._enqueue(message, request))

    def offer(self, message: Json) -> None:
        """Send without waiting."""
        if not self._closed:
            self._enqueue(message, None)

    async def has_room(self) -> None:
        """Wait while there is too much that the client has not read: it must not cost us memory."""
        while len(self._queue) > _MAX_UNREAD_LINES:
            self._room.clear()
            await self._room.wait()  # ends with the pipe

    async def drain(self) -> None:
        """Wait for as long as the client goes on taking bytes."""
        before = -1
        while self._queue and (left := sum(len(outgoing.rest) for outgoing in self._queue)) != before:
            before = left
            self._empty.clear()
            async with Patience(_PATIENCE):
                await self._empty.wait()
        # Nobody says when a pipe has been read: what lies there now is looked at until it is, or nobody is left.
        end = time.monotonic() + _PATIENCE
        while not self._closed and unread(self._fd) > thrown_away(self._fd) and time.monotonic() < end:  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_EVERY)

    def stop(self) -> None:
        """Give up what is not written yet, and what a client that is gone has left unread."""
        if not self._closed:
            read = self._written - thrown_away(self._fd)
            for end, request in self._latest:
                if end > read:
                    request.lost()
            self._latest.clear()
        self._closed = True
        self._unwatch()
        while self._queue:
            outgoing = self._queue.popleft()
            outgoing.end()
            if outgoing.request:
                outgoing.request.lost()
        self._empty.set()
        self._room.set()

    async def _sent(self, done: asyncio.Future[None]) -> None:
        await done
        self._in_a_row += 1
        if self._in_a_row == _MOST_IN_A_ROW:
            # A sender in a loop must not keep the event loop for itself while the pipe has room.
            self._in_a_row = 0
            await asyncio.sleep(0)

    def _enqueue(self, message: Json, request: Request | None) -> asyncio.Future[None]:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(Outgoing(rest=memoryview(messages.encode(message)), request=request, done=done))
        if len(self._queue) == 1:
            self._flush()
        return done

    def _flush(self) -> None:
        try:
            while self._queue:
                head = self._queue[0]
                written = os.write(self._fd, head.rest)
                self._written += written
                head.rest = head.rest[written:]
                if not head.rest:
                    self._queue.popleft()
                    head.end()
                    if head.request:
                        head.request.written()
                        self._keep(head.request)
        except BlockingIOError:
            self._watch()
        except OSError:
            self._break()
        else:
            self._unwatch()
            self._empty.set()
        self._room.set()

    def _keep(self, request: Request) -> None:
        self._latest.append((self._written, request))
        while self._latest[0][0] <= self._written - _PIPE_BYTES:
            self._latest.popleft()

    def _break(self) -> None:
        self.broken = True
        self.stop()
        self.on_broken()

    def _watch(self) -> None:
        if not self._watching:
            self._watching = True
            asyncio.get_running_loop().add_writer(self._fd, self._flush)

    def _unwatch(self) -> None:
        if self._watching:
            self._watching = False
            asyncio.get_running_loop().remove_writer(self._fd)
