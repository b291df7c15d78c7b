"""Running the application: the socket, the address people use, and a stop that leaves nobody hanging."""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import signal
import socket
import struct
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager, suppress
from email.utils import formatdate
from functools import lru_cache
from types import FrameType
from typing import Any, cast
from urllib.parse import urlsplit

import httptools
import uvicorn
from starlette.applications import Starlette
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from sayso.bridge import WHEN_LOST, LightEvent, from_threads
from sayso.config import Config
from sayso.errors import CannotListen
from sayso.web.security import NAMED, is_loopback

_new_loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
with suppress(ImportError):
    # Here, and not once people are told that it serves: whoever ends it then ends it in order.
    from uvloop import new_event_loop as _new_loop

GRACE_SECONDS = 10
_BACKLOG = 2048
_OURS = "Your web inbox runs there already: `sayso web --link --port {port}` makes a link to it."
_TAKEN = "No inbox of this store answers there: choose another place with --host and --port."
_IN_THE_WAY = {
    errno.EACCES: "Ports below 1024 are the system's: choose another with --port.",
    errno.EADDRNOTAVAIL: "That is no address of this machine: choose another with --host.",
}
_ANYWHERE = ("0.0.0.0", "::")  # noqa: S104
_KEEP_ALIVE = 75
"""Longer than proxies keep idle connections, so that they never send into one that we are just closing."""

_PATIENCE = {"TCP_KEEPIDLE": 15, "TCP_KEEPALIVE": 15, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 6, "TCP_USER_TIMEOUT": 30_000}
"""Seconds of silence before the other side is asked for a sign of life, between two such questions, how many of them;
and the milliseconds that what was sent may stay unconfirmed. Each system knows some of these."""


_REQUEST_SECONDS = 20
"""How long somebody may take to send a whole request, from the moment they connect or begin it."""

_READ_SECONDS = 30
"""How long somebody may read nothing of what we send."""

_MOST_UNFINISHED = 64 * 1024
"""Bytes of a request that may come without an end to its headers, or to a part of its body."""
_MOST_HEADERS = 200
"""Of one request. A short one takes twenty times the memory that it takes on the way."""
_MOST_AHEAD, _MOST_BYTES_AHEAD = 32, 64 * 1024
"""How many requests, and bytes of them, may come on one connection behind one that is not answered yet."""

_MOST_FILES = 8192
_KEPT_FILES = 160
"""What the store, the agents and the commands need besides connections, and those that were just taken in."""
_AT_ONCE = 16
"""How many connections are taken in before the others have their turn: a crowd must not use up all files at a blow."""

_FULL = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


HandOver = Callable[[], Awaitable[None]]
"""Sends away those who wait for an answer, in a way that lets them go on with another process."""


class HttpConnection(HttpToolsProtocol):
    """A connection ends with what is no HTTP on it, and leaves nothing behind. Who connects and says nothing is sent
    away after a while, and sooner when somebody else needs the place, and so is who does not read what we send; whoever
    else is being served stays."""

    # With ours among theirs it would have more attributes than instances can have without a table of their own each.
    __slots__ = ("_ahead", "_answered", "_has_head", "_heard", "_is_over", "_is_whole", "_patience", "_stalled",
                 "_unfinished", "_when_lost")  # fmt: skip

    most = _MOST_FILES
    """How many there may be at once."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.pipeline = _Pipeline()  # type: ignore[assignment]
        self._patience: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._heard = 0.0
        self._answered: RequestResponseCycle | None = None
        """The request that is answered now, or was last. `cycle` is the newest that has come."""
        self._when_lost: Callable[[], object] | None = None
        """Told when nobody listens any more to the answer that is being given."""
        self._has_head = self._is_whole = False
        """Whether all headers of the newest request have come, and whether all of it has."""
        self._is_over = False
        """Whether something has come that is no HTTP. Nobody reads what follows."""
        self._unfinished = 0
        """How many bytes of something have come whose end has not."""
        self._ahead = 0
        """How many bytes have come of requests whose turn it is not yet."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.flow = _Flow(transport)
        self._heard = self.loop.time()
        self._patience = self.loop.call_later(_REQUEST_SECONDS, self._send_away)
        if len(self.connections) > self.most:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        if self._is_over:
            return
        self._heard = self.loop.time()
        self.server_state.default_headers = _headers_at(int(time.time()))
        self._unfinished += len(data)
        self.parser = self.parser or self._new_parser()
        super().data_received(data)
        if self._unfinished > _MOST_UNFINISHED and not self._is_over:
            self.send_400_response("The headers of this request are too long.")
        if self._is_whole or self._is_over:
            self._be_patient()
            # The next request gets one of its own: this one may be answered in days.
            self.parser, self.headers = None, []  # type: ignore[assignment]
        elif self._patience is None:
            self._patience = self.loop.call_later(_REQUEST_SECONDS, self._send_away)

    def _new_parser(self) -> httptools.HttpRequestParser:
        parser = httptools.HttpRequestParser(self)
        # What follows a request that is the last by its own word is looked at as well.
        parser.set_dangerous_leniencies(lenient_data_after_close=True)
        return parser

    def on_message_begin(self) -> None:
        self._has_head = self._is_whole = False
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        # What comes after the body is nothing that a proxy in front of us has looked at.
        if not self._has_head:
            if len(self.headers) == _MOST_HEADERS:
                raise httptools.HttpParserError("too many headers")
            super().on_header(name, value.strip(b" \t"))

    def on_headers_complete(self) -> None:
        self._unfinished, self._has_head = 0, True
        hosts = [value for name, value in self.headers if name == b"host"]
        if len(hosts) > 1 or (not hosts and self.parser.get_http_version() == "1.1"):
            raise httptools.HttpParserError("one Host header is needed")
        if len(self.pipeline) >= _MOST_AHEAD:
            raise httptools.HttpParserError("too many requests at once")
        super().on_headers_complete()
        self.cycle.message_event = LightEvent()  # type: ignore[assignment]
        cast("dict[str, Any]", self.scope)[WHEN_LOST] = self.when_lost
        if self.pipeline:
            # Else nobody would notice that they hang up. What is kept for them is limited all the same.
            self.flow.resume_reading()
            self._keep_ahead(len(self.url) + sum(len(name) + len(value) for name, value in self.headers))
        else:
            self._answered = self.cycle

    def on_body(self, body: bytes) -> None:
        self._unfinished = 0
        if self.pipeline:
            self._keep_ahead(len(body))
        super().on_body(body)

    def _keep_ahead(self, size: int) -> None:
        self._ahead += size
        if self._ahead > _MOST_BYTES_AHEAD:
            raise httptools.HttpParserError("too much at once")

    def on_message_complete(self) -> None:
        self._unfinished, self._is_whole = 0, True
        super().on_message_complete()
        if self.parser.should_upgrade():
            # What follows would be of another protocol, which we do not speak.
            self._is_over, self.cycle.keep_alive = True, False

    def _unsupported_upgrade_warning(self) -> None:
        """It is answered all the same: nobody has to be told, nor advised what to install."""

    def on_response_complete(self) -> None:
        self._when_lost = None
        if self.pipeline:
            self._answered = self.pipeline[-1][0]
        super().on_response_complete()
        if not self.pipeline:
            self._ahead = 0

    def _be_patient(self) -> None:
        if self._patience:
            self._patience.cancel()
            self._patience = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._look_at_reader(self.transport.get_write_buffer_size() + 1)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._forget_reader()

    def _look_at_reader(self, before: int) -> None:
        """Look again and again whether any of what is to be sent has been taken, and hang up where nothing was."""
        left = self.transport.get_write_buffer_size()
        if left < before:
            self._stalled = self.loop.call_later(_READ_SECONDS, self._look_at_reader, left)
        else:
            self._hang_up()

    def _hang_up(self) -> None:
        """End it at once, and have the system forget what it still holds for them."""
        self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def _forget_reader(self) -> None:
        if self._stalled:
            self._stalled.cancel()
            self._stalled = None

    @property
    def _is_served(self) -> bool:
        """Whether it is our turn: a whole request has come, and is not answered yet, and they read what we say."""
        answered = self._answered
        return bool(answered and not answered.response_complete and not answered.more_body and not self._stalled)

    def _send_away(self) -> None:
        self._patience = None
        if not self._is_served:
            self.transport.close()

    def _make_room(self) -> None:
        """End the connection that has been silent for longest; where all are being served, this newest one."""
        others = [one for one in self.connections if isinstance(one, HttpConnection) and one is not self]
        idle = [one for one in others if not one._is_served and not one.transport.is_closing()]
        if idle:
            min(idle, key=lambda one: one._heard)._hang_up()
        else:
            self.transport.write(_FULL)
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._tell_of_the_end()
        self._be_patient()
        self._forget_reader()
        if self.timeout_keep_alive_task:
            # Else all that belongs to a connection that broke is kept until it would have been idle for too long.
            self.timeout_keep_alive_task.cancel()

    def send_400_response(self, msg: str) -> None:
        self._is_over = True
        # Their turn does not come any more.
        self.pipeline.clear()
        answered = self._answered
        if answered is None or answered.response_complete:
            super().send_400_response(msg)
        elif not answered.more_body:
            # What is wrong came after it: it has its answer, and then this ends.
            answered.keep_alive = False
        elif answered.response_started:
            self.transport.close()
        else:
            self._tell_of_the_end()
            super().send_400_response(msg)

    def when_lost(self, tell: Callable[[], object]) -> None:
        """Have whoever answers the request whose turn it is told when nobody listens to that any more."""
        # A body that came at once may have stopped the reading, and nobody would notice that they hang up.
        self.flow.resume_reading()
        if self._answered and self._answered.disconnected:
            tell()
        else:
            self._when_lost = tell

    def _tell_of_the_end(self) -> None:
        """To what is still to be said on it, nobody listens any more. Others than the newest are not told otherwise."""
        if self._answered:
            self._answered.disconnected = True
            self._answered.message_event.set()
        tell, self._when_lost = self._when_lost, None
        if tell:
            tell()


class _Pipeline(list[tuple[RequestResponseCycle, ASGI3Application]]):
    """Requests whose turn it is not yet, the next one last. Seldom any: an empty deque takes ten times the memory."""

    __slots__ = ()

    def appendleft(self, one: tuple[RequestResponseCycle, ASGI3Application]) -> None:
        self.insert(0, one)


class _Flow(FlowControl):
    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.read_paused = self.write_paused = False
        self._is_writable_event = LightEvent(is_set=True)  # type: ignore[assignment]


@lru_cache(1)
def _headers_at(seconds: int) -> list[tuple[bytes, bytes]]:
    return [(b"date", formatdate(seconds, usegmt=True).encode())]


class WebServer(uvicorn.Server):
    """Stops in the order that lets clients go on: waiting calls, newcomers, event streams, the rest."""

    def __init__(self, config: uvicorn.Config, hand_over: HandOver) -> None:
        super().__init__(config)
        self._hand_over = hand_over
        self._wake: Callable[[], None] = lambda: None

    async def main_loop(self) -> None:
        """Sleep until a signal ends it, and not, as others do, for a tenth of a second at a time."""
        ended = asyncio.Event()
        self._wake = from_threads(ended.set)
        if not self.should_exit:
            await ended.wait()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self._wake()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listening in sockets or ():
            # The event loop has set this to what it takes in at once; the others wait in the system's queue.
            listening.listen(_BACKLOG)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # The door is still open: whoever is told to call again may do so at once.
        await self._hand_over()
        for server in self.servers:
            server.close()
        # Idle connections end now, the others with their response: whoever calls again does so over a new one.
        for connection in list(self.server_state.connections):
            connection.shutdown()
        # Leaving the lifespan ends streams and waits, which the server would otherwise wait for in vain.
        await self.lifespan.shutdown()
        await super().shutdown(sockets)


def run(serving: Coroutine[Any, Any, None]) -> None:
    """On an event loop that takes less of the processor than Python's own, where the system has it."""
    with asyncio.Runner(loop_factory=_new_loop) as runner:
        runner.run(serving)


async def serve(app: Starlette, *listening: socket.socket, hand_over: HandOver) -> None:
    """Serve until a signal ends it; then `hand_over` comes first."""
    HttpConnection.most = _room_for_connections()
    settings = uvicorn.Config(
        app,
        http=HttpConnection,
        lifespan="on",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        interface="asgi3",
        backlog=_AT_ONCE,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    _log_as_we_do()
    # What was imported stays, so that nobody need look through it again and again.
    gc.freeze()
    with _signals_do_nothing_more():
        await WebServer(settings, hand_over).serve(list(listening))


def _room_for_connections() -> int:
    """As many as the system allows open files, which it is asked to allow enough of. Without room for one more, nobody
    could come in at all."""
    try:
        import resource
    except ImportError:
        return _MOST_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(10, (_MOST_FILES if soft == resource.RLIM_INFINITY else min(soft, _MOST_FILES)) - _KEPT_FILES)


def nobody_of_us(address: str) -> bool:
    return False


def listen(host: str, port: int, is_ours: Callable[[str], bool] = nobody_of_us) -> socket.socket:
    """A listening socket; a CannotListen says what is in the way. `is_ours` tells whether it is an inbox of ours."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6 and is_loopback(host):
                listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            _notice_who_vanishes(listening)
            listening.bind(address)
            listening.listen(_BACKLOG)
        except BaseException:
            listening.close()
            raise
        listening.setblocking(False)
        return listening
    except OSError as error:
        in_the_way = _IN_THE_WAY.get(error.errno or 0, _TAKEN)
        if error.errno == errno.EADDRINUSE and is_ours(_written(host, port)):
            in_the_way = _OURS.format(port=port)
        raise CannotListen(f"Cannot listen on {host}:{port}: {error.strerror or error}. {in_the_way}") from error


@contextmanager
def for_agents(
    config: Config, listening: socket.socket, is_ours: Callable[[str], bool] = nobody_of_us
) -> Iterator[tuple[str, list[socket.socket]]]:
    """Where the agents that this server starts reach it, and the sockets for that: they come by loopback alone."""
    host, (own, port) = config.web_host, listening.getsockname()[:2]
    if is_loopback(host) or host in _ANYWHERE:
        inside = own if is_loopback(host) else "::1" if ":" in host else "127.0.0.1"
        with ExitStack() as opened:
            # No name below `localhost` leads to any other loopback address.
            beside = [] if host == "::" or inside not in NAMED else _other_loopback(listening, is_ours)
            yield _written(inside, port), [listening, *map(opened.enter_context, beside)]
        return
    with listen("127.0.0.1", 0) as another:
        yield f"http://127.0.0.1:{another.getsockname()[1]}", [listening, another]


def _other_loopback(listening: socket.socket, is_ours: Callable[[str], bool]) -> list[socket.socket]:
    """A name below `localhost` leads to both loopback addresses of a machine. Somebody else who listened at the other
    one would be sent what is meant for us, cookies and all."""
    other = "::1" if listening.family == socket.AF_INET else "127.0.0.1"
    try:
        return [listen(other, listening.getsockname()[1], is_ours)]
    except CannotListen as error:
        if isinstance(error.__cause__, OSError) and error.__cause__.errno == errno.EADDRINUSE:
            raise
        # A machine without that address: nobody can listen there.
        return []


def _notice_who_vanishes(listening: socket.socket) -> None:
    """Have the system end connections to machines that were cut off: within 45 seconds, not a quarter of an hour.
    What is set here holds for every connection that comes in."""
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _PATIENCE.items():
        if hasattr(socket, name):
            listening.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def address(config: Config, port: int) -> str:
    """Where programs find it, without a slash at the end."""
    if config.web_url:
        return config.web_url.rstrip("/")
    host = _own_address() if config.web_host in _ANYWHERE else config.web_host
    return _written(host, port)


def _written(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def is_exposed(config: Config) -> bool:
    """Whether others could listen in: reachable from other machines and not known to be behind TLS."""
    return not is_loopback(config.web_host) and not config.web_url.startswith("https://")


def has_path(config: Config) -> bool:
    """Whether people are sent below a path, where no link of ours leads."""
    return urlsplit(config.web_url).path not in ("", "/")


def _own_address() -> str:
    """The address by which others on the network know this machine. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect(("192.0.2.1", 9))
        return str(probe.getsockname()[0])
    return socket.gethostname()


def _log_as_we_do() -> None:
    theirs, ours = logging.getLogger("uvicorn"), logging.getLogger("sayso")
    theirs.handlers, theirs.propagate = ours.handlers, False
    theirs.setLevel(max(ours.level, logging.WARNING))


@contextmanager
def _signals_do_nothing_more() -> Iterator[None]:
    """The server raises the signals that ended it once more; by then it has done what they ask for."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda *_: None) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
