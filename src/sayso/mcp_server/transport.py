"""Sayso's stdio transport for the MCP SDK: one JSON-RPC message per line over what were fds 0 and 1.

It reads and writes on the event loop itself, tells when an answer has left, and answers what is no message.
What messages mean is the SDK's business. Their content is private: nothing of it is ever logged.
"""

from __future__ import annotations

import asyncio
import logging
import os
import stat
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Self

import anyio
import mcp_types as types
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.dispatcher import as_request_id
from mcp.shared.message import SessionMessage

from sayso.mcp_server.claim import claim_stdio
from sayso.mcp_server.pipes import LineCutter, PolledReader, Reader, ThreadedReader, closing, non_blocking, pollable
from sayso.mcp_server.replay import Replay
from sayso.mcp_server.wire import MAX_LINE, TOO_LONG, Refusal, decode

Callback = Callable[[], None]

_MAX_QUEUED_LINES: Final = 256
_MAX_QUEUED_BYTES: Final = 8 * 1024 * 1024
_MAX_QUEUED_OFFERS: Final = 4096
_MOST_IN_A_ROW: Final = 16
_MOST_BEFORE_A_REQUEST: Final = 8
_MOST_CROSSING: Final = 64
_PATIENCE: Final = 0.5


logger = logging.getLogger(__name__)


class StdioTransport:
    """The protocol's pipe: owns what were fds 0 and 1 and gives everyone else harmless ones. Good for one session."""

    def __init__(self, *, read_fd: int, write_fd: int, heard: bytes = b"", replay: Replay | None = None) -> None:
        """`heard` was read from the pipe before; the replay is of what was answered then."""
        self.input_ended = asyncio.Event()
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._heard = heard
        self._outbound = Outbound(write_fd, replay)

    @classmethod
    def claim(cls) -> Self:
        """Take fds 0 and 1 away from everyone else in this process and its children, for good."""
        read_fd, write_fd = claim_stdio()
        return cls(read_fd=read_fd, write_fd=write_fd)

    @property
    def replay(self) -> Replay | None:
        """What watches over the beginning of the session, until that is over."""
        return self._outbound.replay

    @property
    def broken(self) -> bool:
        """Whether a write has failed: nobody reads the other end any more."""
        return self._outbound.broken

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[tuple[Inbound, Outbound]]:
        """The two streams for `Server.run`. Leaving closes the pipe when a client that still reads has it all."""
        with closing(self._read_fd, self._write_fd), non_blocking(self._read_fd, self._write_fd):
            inbound = Inbound(self._read_fd, self._outbound, self.input_ended)
            self._outbound.on_broken = inbound.end
            if self._heard:
                inbound.feed(self._heard)
            try:
                yield inbound, self._outbound
            finally:
                await inbound.aclose()
                with anyio.CancelScope(shield=True):
                    await self._outbound.drain()
                self._outbound.stop()

    def after_write(self, request_id: types.RequestId, callback: Callback, otherwise: Callback | None = None) -> None:
        """Call `callback` once, on the event loop, when the kernel has taken the whole response to this request, or
        `otherwise` when it is clear that it never will: the request was cancelled, or the client is gone. `otherwise`
        is also called after `callback` when a cancel shows that response and cancel crossed: clients throw away what
        comes after their cancel.

        The SDK's "Connection closed" at shutdown stands in for a response that never came, so it does not count.
        """
        wanted = AfterWrite(done=callback, otherwise=otherwise)
        if request_id in self._outbound.cancelled:
            # The cancel was read before the call that it is for had come this far.
            wanted.tell(False)
        else:
            self._outbound.callbacks.setdefault(request_id, []).append(wanted)

    def forget(self, request_id: types.RequestId) -> None:
        """Drop the callbacks of a request that will not be answered."""
        self._outbound.callbacks.pop(request_id, None)


class Inbound(ObjectReceiveStream[SessionMessage]):
    """The read stream: a message for every line that is one, and an answer to every line that is not."""

    def __init__(self, fd: int, outbound: Outbound, ended: asyncio.Event) -> None:
        self._outbound = outbound
        self._ended = ended
        self._at_end = self._closed = self._paused = False
        self._seen: deque[SessionMessage] = deque()
        self._lines: deque[bytearray | None] = deque()
        self._queued_bytes = 0
        self._news = asyncio.Event()
        self._cutter = LineCutter(MAX_LINE)
        # The end of a file is not a client that left: whatever it asked is still answered.
        self._is_file = stat.S_ISREG(os.fstat(fd).st_mode)
        self._reader: Reader = (PolledReader if pollable(fd) else ThreadedReader)(fd, self.feed)

    async def opening(self) -> types.JSONRPCRequest | None:
        """The first request, which is still to be received; None if there is none among the first messages."""
        try:
            while len(self._seen) < _MOST_BEFORE_A_REQUEST:
                self._seen.append(await self._next())
                if isinstance(message := self._seen[-1].message, types.JSONRPCRequest):
                    return message
        except anyio.EndOfStream:
            logger.debug("the client left without a request")
        return None

    async def receive(self) -> SessionMessage:
        return self._seen.popleft() if self._seen else await self._next()

    def put_back(self, item: SessionMessage) -> None:
        """Whoever receives next receives this."""
        self._seen.appendleft(item)

    async def _next(self) -> SessionMessage:
        if self._lines:
            await asyncio.sleep(0)  # what came before is begun before this is read: it may be its cancel
        while not self._closed:
            if self._lines:
                if (item := self._take(self._next_line())) is not None:
                    return item
            elif self._at_end:
                await self._end_of_stream()
            else:
                self._news.clear()
                await self._news.wait()  # endless: a client may be silent for days
        raise anyio.ClosedResourceError

    def end(self) -> None:
        """Nobody reads our answers: end as if the client had closed its end."""
        self._seen.clear()
        self._lines.clear()
        self._reader.stop()
        self._at_end = True
        self._ended.set()
        self._news.set()

    async def aclose(self) -> None:
        self._closed = True
        self._seen.clear()
        self._lines.clear()
        self._reader.stop()
        self._news.set()

    def feed(self, chunk: bytes) -> None:
        """Take what was read; nothing is the end of input."""
        for line in self._cutter.cut(chunk) if chunk else self._cutter.last():
            self._lines.append(line)
            self._queued_bytes += len(line or b"")
        if not chunk:
            self._at_end = True
            if not self._is_file:
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

    def _take(self, line: bytearray | None) -> SessionMessage | None:
        read = Refusal(text=TOO_LONG) if line is None else decode(line)
        if isinstance(read, Refusal):
            return self._refuse(read)
        self._outbound.note(read)
        if self._outbound.replay and line is not None:
            self._outbound.replay.hear(bytes(line))
        return SessionMessage(read)

    def _refuse(self, refusal: Refusal) -> SessionMessage | None:
        logger.warning("refused a line from the client: %s", refusal.text)
        error = types.ErrorData(code=refusal.code, message=refusal.text)
        self._outbound.offer(types.JSONRPCError(jsonrpc="2.0", id=refusal.request_id, error=error))
        if refusal.waiting_id is None:
            return None
        return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=refusal.waiting_id, error=error))

    async def _end_of_stream(self) -> None:
        if self._is_file:
            await self._outbound.all_answered.wait()  # endless: a person may be asked
            self._ended.set()
        raise anyio.EndOfStream


@dataclass(frozen=True, kw_only=True, slots=True)
class AfterWrite:
    """What somebody wants done when a response has been written, and when it never will be."""

    done: Callback
    otherwise: Callback | None = None

    def tell(self, written: bool) -> None:
        callback = self.done if written else self.otherwise
        try:
            if callback:
                callback()
        except Exception as error:  # as the event loop itself treats a callback that fails
            text = "a callback after a response failed"
            asyncio.get_running_loop().call_exception_handler({"message": text, "exception": error})


@dataclass(kw_only=True, slots=True)
class Outgoing:
    """One message on its way into the pipe."""

    rest: memoryview
    callbacks: list[AfterWrite]
    done: asyncio.Future[bool]

    def finish(self) -> None:
        self._tell(True)

    def fail(self) -> None:
        self._tell(False)

    def _tell(self, written: bool) -> None:
        if not self.done.done():  # its sender may have been cancelled
            self.done.set_result(written)
        for callback in self.callbacks:
            callback.tell(written)


class Outbound(ObjectSendStream[SessionMessage]):
    """The write stream: whole messages in order, and a full pipe stops the sender alone, never the event loop."""

    def __init__(self, fd: int, replay: Replay | None = None) -> None:
        self.replay = replay
        """There until the beginning of the session is over."""
        self.broken = False
        self.on_broken: Callback = lambda: None
        self.callbacks: dict[types.RequestId, list[AfterWrite]] = {}
        self.cancelled: dict[types.RequestId, None] = {}
        """The requests that were cancelled of late before they were answered."""
        self._sent: dict[types.RequestId, list[AfterWrite]] = {}
        self.all_answered = asyncio.Event()
        self.all_answered.set()
        self._unanswered: set[types.RequestId] = set()
        self._fd = fd
        self._queue: deque[Outgoing] = deque()
        self._empty = asyncio.Event()
        self._in_a_row = 0
        self._closed = self._watching = False

    async def send(self, item: SessionMessage) -> None:
        """Return when the kernel has all of it. A cancelled sender's message still goes out: no line is ever torn."""
        if self.broken:
            raise anyio.BrokenResourceError
        if self._closed:
            raise anyio.ClosedResourceError
        if not await self._enqueue(item.message, self._callbacks_for(item.message)):
            raise anyio.BrokenResourceError
        self._in_a_row += 1
        if self._in_a_row == _MOST_IN_A_ROW:
            # A sender in a loop must not keep the event loop for itself while the pipe has room.
            self._in_a_row = 0
            await asyncio.sleep(0)

    def offer(self, message: types.JSONRPCMessage) -> None:
        """Send without waiting. A client that never reads must cost neither memory nor our attention."""
        if not self._closed and len(self._queue) < _MAX_QUEUED_OFFERS:
            self._enqueue(message, [])

    def note(self, message: types.JSONRPCMessage) -> None:
        """Keep count of the requests that came in. An id used again takes nothing over from its former use."""
        match message:
            case types.JSONRPCRequest(id=request_id):
                self._give_up(request_id)
                self._sent.pop(request_id, None)
                self.cancelled.pop(request_id, None)
                self._unanswered.add(request_id)
                self.all_answered.clear()
            case types.JSONRPCNotification(method="notifications/cancelled", params={"requestId": given}):
                if (cancelled := as_request_id(given)) is not None:  # the SDK never answers it
                    self._give_up(cancelled)
                    self._take_back(cancelled)
                    if cancelled in self._unanswered:
                        self.cancelled[cancelled] = None
                        _forget_oldest(self.cancelled)
                    self._settled(cancelled)

    async def drain(self) -> None:
        """Wait for as long as the client goes on taking bytes."""
        before = -1
        while self._queue and (left := sum(len(outgoing.rest) for outgoing in self._queue)) != before:
            before = left
            self._empty.clear()
            with anyio.move_on_after(_PATIENCE):
                await self._empty.wait()

    def stop(self) -> None:
        """Give up what is not written yet."""
        self._closed = True
        self._unwatch()
        while self._queue:
            self._queue.popleft().fail()
        for request_id in list(self.callbacks):
            self._give_up(request_id)
        self._empty.set()

    async def aclose(self) -> None:
        self._closed = True

    def _callbacks_for(self, message: types.JSONRPCMessage) -> list[AfterWrite]:
        if not isinstance(message, types.JSONRPCResponse | types.JSONRPCError) or message.id is None:
            return []
        self._settled(message.id)
        if isinstance(message, types.JSONRPCError) and message.error.code == types.CONNECTION_CLOSED:
            self._give_up(message.id)
        callbacks = self.callbacks.pop(message.id, [])
        if callbacks:
            self._sent[message.id] = callbacks
            _forget_oldest(self._sent)
        return callbacks

    def _take_back(self, request_id: types.RequestId) -> None:
        """The client threw the response to this request away unread, or will."""
        callbacks = self._sent.pop(request_id, [])
        unread = list(callbacks)
        callbacks.clear()  # what is still in the queue is not to be told as written afterwards
        for callback in unread:
            callback.tell(False)

    def _give_up(self, request_id: types.RequestId) -> None:
        """The response to this request will not be written."""
        for callback in self.callbacks.pop(request_id, []):
            callback.tell(False)

    def _settled(self, request_id: types.RequestId) -> None:
        self._unanswered.discard(request_id)
        if not self._unanswered:
            self.all_answered.set()

    def _enqueue(self, message: types.JSONRPCMessage, callbacks: list[AfterWrite]) -> asyncio.Future[bool]:
        line = message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        outgoing = Outgoing(rest=memoryview(line), callbacks=callbacks, done=asyncio.get_running_loop().create_future())
        if self.replay and not self._is_new(message, line, self.replay):
            outgoing.finish()
            return outgoing.done
        self._queue.append(outgoing)
        if len(self._queue) == 1:
            self._flush()
        return outgoing.done

    def _is_new(self, message: types.JSONRPCMessage, line: bytes, replay: Replay) -> bool:
        """Whether the client has not been told this before the SDK was there."""
        if not isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            return True
        new = replay.lets_pass(message.id, line)
        if replay.over:
            self.replay = None
        return new

    def _flush(self) -> None:
        try:
            while self._queue:
                head = self._queue[0]
                head.rest = head.rest[os.write(self._fd, head.rest) :]
                if not head.rest:
                    self._queue.popleft().finish()
        except BlockingIOError:
            self._watch()
        except OSError:
            self._break()
        else:
            self._unwatch()
            self._empty.set()

    def _break(self) -> None:
        self.broken = True
        self.stop()
        self.all_answered.set()
        self.on_broken()

    def _watch(self) -> None:
        if not self._watching:
            self._watching = True
            asyncio.get_running_loop().add_writer(self._fd, self._flush)

    def _unwatch(self) -> None:
        if self._watching:
            self._watching = False
            asyncio.get_running_loop().remove_writer(self._fd)


def _forget_oldest(among: dict[types.RequestId, Any]) -> None:
    if len(among) > _MOST_CROSSING:
        del among[next(iter(among))]
