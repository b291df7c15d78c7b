"""Sayso's stdio transport for the MCP SDK: one JSON-RPC message per line over what were fds 0 and 1.

It reads and writes on the event loop itself, tells when an answer has left, and answers what is no message.
What messages mean is the SDK's business. Their content is private: nothing of it is ever logged.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import stat
import sys
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, Protocol, Self

import anyio
import mcp_types as types
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.dispatcher import as_request_id
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from sayso.errors import NoClient

Callback = Callable[[], None]

MAX_LINE: Final = 64 * 1024 * 1024
_CHUNK: Final = 64 * 1024
_MAX_QUEUED_LINES: Final = 256
_MAX_QUEUED_BYTES: Final = 8 * 1024 * 1024
_MAX_QUEUED_OFFERS: Final = 4096
_PATIENCE: Final = 0.5

_PARSE_ERROR: Final = "Parse error: the line is not JSON in UTF-8. Send one JSON-RPC message per line."
_TOO_LONG: Final = (
    f"Invalid request: the line was over {MAX_LINE:,} bytes (64 MiB), the limit for one message, and was dropped."
)
_NO_OBJECT: Final = "Invalid request: a message must be one JSON object per line. Batches are not supported."
_BAD_RESPONSE: Final = (
    'Invalid response: jsonrpc must be "2.0", id the string or integer of the request, and either result an object '
    "or error an object with an integer code and a message."
)

logger = logging.getLogger(__name__)


class StdioTransport:
    """The protocol's pipe: owns what were fds 0 and 1 and gives everyone else harmless ones. Good for one session."""

    def __init__(self, *, read_fd: int, write_fd: int) -> None:
        self.input_ended = asyncio.Event()
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._outbound = Outbound(write_fd)

    @classmethod
    def claim(cls) -> Self:
        """Take fds 0 and 1 away from everyone else in this process and its children, for good."""
        if sys.__stdin__ is None or sys.__stdout__ is None:
            raise NoClient("Standard input or output is closed. An MCP client must start this command with both open.")
        transport = cls(read_fd=_private_copy(0), write_fd=_private_copy(1))
        _divert(0, os.open(os.devnull, os.O_RDONLY))
        _divert(1, _harmless_output())
        return transport

    @property
    def broken(self) -> bool:
        """Whether a write has failed: nobody reads the other end any more."""
        return self._outbound.broken

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[tuple[Inbound, Outbound]]:
        """The two streams for `Server.run`. Leaving closes the pipe when a client that still reads has it all."""
        with _closing(self._read_fd, self._write_fd), _non_blocking(self._read_fd, self._write_fd):
            inbound = Inbound(self._read_fd, self._outbound, self.input_ended)
            self._outbound.on_broken = inbound.end
            try:
                yield inbound, self._outbound
            finally:
                await inbound.aclose()
                with anyio.CancelScope(shield=True):
                    await self._outbound.drain()
                self._outbound.stop()

    def after_write(self, request_id: types.RequestId, callback: Callback) -> None:
        """Call `callback` once, on the event loop, when the kernel has taken the whole response to this request.

        The SDK's "Connection closed" at shutdown stands in for a response that never came, so it does not count.
        """
        self._outbound.callbacks.setdefault(request_id, []).append(callback)

    def forget(self, request_id: types.RequestId) -> None:
        """Drop the callbacks of a request that will not be answered."""
        self._outbound.callbacks.pop(request_id, None)


class Inbound(ObjectReceiveStream[SessionMessage]):
    """The read stream: a message for every line that is one, and an answer to every line that is not."""

    def __init__(self, fd: int, outbound: Outbound, ended: asyncio.Event) -> None:
        self._outbound = outbound
        self._ended = ended
        self._at_end = self._closed = self._paused = False
        self._lines: deque[bytearray | None] = deque()
        self._queued_bytes = 0
        self._news = asyncio.Event()
        self._cutter = LineCutter(MAX_LINE)
        # The end of a file is not a client that left: whatever it asked is still answered.
        self._is_file = stat.S_ISREG(os.fstat(fd).st_mode)
        self._reader: Reader = (PolledReader if _pollable(fd) else ThreadedReader)(fd, self._feed)

    async def receive(self) -> SessionMessage:
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
        self._lines.clear()
        self._reader.stop()
        self._at_end = True
        self._ended.set()
        self._news.set()

    async def aclose(self) -> None:
        self._closed = True
        self._lines.clear()
        self._reader.stop()
        self._news.set()

    def _feed(self, chunk: bytes) -> None:
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
        read = Refusal(text=_TOO_LONG) if line is None else decode(line)
        if isinstance(read, Refusal):
            return self._refuse(read)
        self._outbound.note(read)
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


@dataclass(kw_only=True, slots=True)
class Outgoing:
    """One message on its way into the pipe."""

    rest: memoryview
    callbacks: list[Callback]
    done: asyncio.Future[bool]

    def finish(self) -> None:
        self._tell(True)
        for callback in self.callbacks:
            try:
                callback()
            except Exception as error:  # as the event loop itself treats a callback that fails
                text = "a callback after a written response failed"
                self.done.get_loop().call_exception_handler({"message": text, "exception": error})

    def fail(self) -> None:
        self._tell(False)

    def _tell(self, written: bool) -> None:
        if not self.done.done():  # its sender may have been cancelled
            self.done.set_result(written)


class Outbound(ObjectSendStream[SessionMessage]):
    """The write stream: whole messages in order, and a full pipe stops the sender alone, never the event loop."""

    def __init__(self, fd: int) -> None:
        self.broken = False
        self.on_broken: Callback = lambda: None
        self.callbacks: dict[types.RequestId, list[Callback]] = {}
        self.all_answered = asyncio.Event()
        self.all_answered.set()
        self._unanswered: set[types.RequestId] = set()
        self._fd = fd
        self._queue: deque[Outgoing] = deque()
        self._empty = asyncio.Event()
        self._closed = self._watching = False

    async def send(self, item: SessionMessage) -> None:
        """Return when the kernel has all of it. A cancelled sender's message still goes out: no line is ever torn."""
        if self.broken:
            raise anyio.BrokenResourceError
        if self._closed:
            raise anyio.ClosedResourceError
        if not await self._enqueue(item.message, self._callbacks_for(item.message)):
            raise anyio.BrokenResourceError
        await asyncio.sleep(0)  # a sender in a loop must not keep the event loop for itself while the pipe has room

    def offer(self, message: types.JSONRPCMessage) -> None:
        """Send without waiting. A client that never reads must cost neither memory nor our attention."""
        if not self._closed and len(self._queue) < _MAX_QUEUED_OFFERS:
            self._enqueue(message, [])

    def note(self, message: types.JSONRPCMessage) -> None:
        """Keep count of the requests that came in. An id used again takes nothing over from its former use."""
        match message:
            case types.JSONRPCRequest(id=request_id):
                self.callbacks.pop(request_id, None)
                self._unanswered.add(request_id)
                self.all_answered.clear()
            case types.JSONRPCNotification(method="notifications/cancelled", params={"requestId": given}):
                if (cancelled := as_request_id(given)) is not None:  # the SDK never answers it
                    self.callbacks.pop(cancelled, None)
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
        self._empty.set()

    async def aclose(self) -> None:
        self._closed = True

    def _callbacks_for(self, message: types.JSONRPCMessage) -> list[Callback]:
        if not isinstance(message, types.JSONRPCResponse | types.JSONRPCError) or message.id is None:
            return []
        self._settled(message.id)
        callbacks = self.callbacks.pop(message.id, [])
        cut_off = isinstance(message, types.JSONRPCError) and message.error.code == types.CONNECTION_CLOSED
        return [] if cut_off else callbacks

    def _settled(self, request_id: types.RequestId) -> None:
        self._unanswered.discard(request_id)
        if not self._unanswered:
            self.all_answered.set()

    def _enqueue(self, message: types.JSONRPCMessage, callbacks: list[Callback]) -> asyncio.Future[bool]:
        line = message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        outgoing = Outgoing(rest=memoryview(line), callbacks=callbacks, done=asyncio.get_running_loop().create_future())
        self._queue.append(outgoing)
        if len(self._queue) == 1:
            self._flush()
        return outgoing.done

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


class Reader(Protocol):
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


class LineCutter:
    """Cuts chunks into lines without blank ones. A line over the limit is never held and comes out as None."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._partial = bytearray()
        self._too_long = False

    def cut(self, chunk: bytes) -> Iterator[bytearray | None]:
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._keep(end)
            yield from self.last()
        self._keep(rest)

    def last(self) -> Iterator[bytearray | None]:
        """The line so far, whole or not: at the end of input there may be no newline."""
        line, self._partial = self._partial, bytearray()
        too_long, self._too_long = self._too_long, False
        if too_long:
            yield None
        elif line and not line.isspace():
            yield line

    def _keep(self, piece: bytes) -> None:
        self._too_long = self._too_long or len(self._partial) + len(piece) > self._limit
        if self._too_long:
            self._partial.clear()
        else:
            self._partial += piece


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Why a line is no message, and who must hear of it: a request of the client's, or ours that waits for this."""

    text: str
    code: int = types.INVALID_REQUEST
    request_id: types.RequestId | None = None
    waiting_id: types.RequestId | None = None


def decode(line: bytearray) -> types.JSONRPCMessage | Refusal:
    message = _validated(line)
    # A request whose id is a number like 1.5 passes for a notification, and its sender would wait for ever.
    if message is None or (isinstance(message, types.JSONRPCNotification) and b'"id"' in line):
        return _decode_leniently(line)
    return message


def _validated(line: bytearray | str) -> types.JSONRPCMessage | None:
    try:
        return types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return None


def _decode_leniently(line: bytearray) -> types.JSONRPCMessage | Refusal:
    """Mend what clients really send: a byte order mark, or half an emoji where a text was cut."""
    try:
        text = json.dumps(json.loads(line.decode("utf-8-sig")), ensure_ascii=False)
        mended = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        given = json.loads(mended)
    except (ValueError, RecursionError):
        return Refusal(text=_PARSE_ERROR, code=types.PARSE_ERROR)
    message = _validated(mended)
    if message is None or (isinstance(message, types.JSONRPCNotification) and given.get("id") is not None):
        return _refusal(given)
    return message


def _refusal(given: Any) -> Refusal:
    if not isinstance(given, dict):
        return Refusal(text=_NO_OBJECT)
    given_id = as_request_id(given.get("id"))
    if "method" not in given and given.keys() & {"result", "error"}:
        return Refusal(text=_BAD_RESPONSE, waiting_id=given_id)
    return Refusal(text=f"Invalid request: {_faults(given)}.", request_id=given_id)


def _faults(given: dict[str, Any]) -> str:
    checks = {
        'jsonrpc must be "2.0"': given.get("jsonrpc") == "2.0",
        "id must be a string or an integer": as_request_id(given.get("id", 0)) is not None,
        "method must be a string": isinstance(given.get("method"), str),
        "params must be an object": isinstance(given.get("params"), dict | None),
    }
    return ", ".join(text for text, holds in checks.items() if not holds) or "it is nested too deeply"


def _pollable(fd: int) -> bool:
    """Whether the event loop can watch it. The null device and files look readable for ever, or cannot be watched."""
    if sys.platform == "win32":
        return False
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(fd)


@contextmanager
def _closing(read_fd: int, write_fd: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(write_fd)
        if _pollable(read_fd):  # else a thread may still sit in a read of it
            os.close(read_fd)


@contextmanager
def _non_blocking(*fds: int) -> Iterator[None]:
    """The flag belongs to the description, which a terminal shares with the parent, or fd 0 with fd 1: put it back."""
    before = {fd: os.get_blocking(fd) for fd in fds if _pollable(fd)}
    for fd in before:
        os.set_blocking(fd, False)
    try:
        yield
    finally:
        for fd, blocking in before.items():
            os.set_blocking(fd, blocking)


def _private_copy(fd: int) -> int:
    if sys.platform == "win32":
        return os.dup(fd)
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)  # never in the place of a closed stderr


def _divert(fd: int, target: int) -> None:
    os.dup2(target, fd)
    os.close(target)


def _harmless_output() -> int:
    """Stderr, unless it is closed or leads into the very pipe that is to be kept clean."""
    with suppress(OSError):
        if not os.path.samestat(os.fstat(1), os.fstat(2)):
            return os.dup(2)
    return os.open(os.devnull, os.O_WRONLY)
