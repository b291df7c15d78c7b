"""MCP at one address of HTTP, in both eras: sessions for handshake clients, none since 2026-07-28.

A handshake client that loses the stream of a call comes back by the id of its last event, to whichever process of
the store: the id holds the call itself, and what it had come to. So nothing is kept for those who may come back.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from typing import Any

from starlette.responses import JSONResponse, Response

from sayso.bridge import Patience
from sayso.errors import ProtocolError
from sayso.mcp_server.context import Handler
from sayso.mcp_server.dispatcher import Dispatcher
from sayso.mcp_server.exchange import Exchange, refusal
from sayso.mcp_server.sessions import HttpSession, HttpSessions
from sayso.protocol import events, headers, messages
from sayso.protocol.connection import Cancelled, Connection
from sayso.protocol.messages import INVALID_REQUEST, PARSE_ERROR, UNSUPPORTED_VERSION, Json
from sayso.protocol.request import Request
from sayso.protocol.seal import Signed
from sayso.protocol.versions import HANDSHAKES, MODERN, VERSION_KEY

logger = logging.getLogger(__name__)

LARGEST_REQUEST = 4 * 1024 * 1024
RESUMABLE = "2025-03-26"
"""The first version whose clients come back to a stream that broke."""

LONGEST_BOOKMARK = 6_000
"""Characters: clients send it back in a header, and proxies take no longer ones."""

QUICK = 0.1
"""Seconds within which a handshake client's request is answered plainly; longer ones get a stream at once, so that the
client knows how to come back."""
QUICK_MODERN = 15.0
"""The same since 2026-07-28: there is no coming back, and only a plain answer has a status of its own."""

CANCELLED = -32800
_LEAVE_SECONDS = 5.0
_NOTICES = "notices"

_MISSING_SESSION = "Missing session ID: send the Mcp-Session-Id header that the answer to initialize had."
_NO_SESSION = "Session not found. It was ended, or is not yours: send initialize again."
_ONE_MESSAGE = "Invalid request: the body must be one JSON-RPC request or notification."
_NOT_ACCEPTABLE = "Not acceptable: the Accept header must name application/json and text/event-stream."
_NOT_JSON = "Unsupported media type: the Content-Type header must be application/json."
_TOO_LARGE = f"The request is over {LARGEST_REQUEST:,} bytes, the limit for one."
_NO_SUCH_EVENT = "The Last-Event-ID header names no event of this session. Make the call again."
_CALL_AGAIN = "The connection was lost, and this call is too long to be resumed. Make the same call again."


class Endpoint:
    """Serves the requests of agents, and knows who is in."""

    def __init__(
        self, connect: Callable[[], Connection], handlers: Mapping[str, Handler], key: Callable[[], bytes]
    ) -> None:
        """`key` signs what clients carry for us; processes with the same one go on with each other's sessions."""
        self._connect, self._handlers = connect, handlers
        self.sessions = HttpSessions(key, connect, handlers)
        self.exchanges: set[Exchange] = set()
        self.stopping = False
        """Whether calls that would wait are to go elsewhere."""
        self._events = Signed(key, "event")
        self._fewer = asyncio.Event()
        self._called = asyncio.Event()

    async def serve(self, exchange: Exchange) -> None:
        """One request, until its response is complete or nobody listens any more."""
        self.exchanges.add(exchange)
        self._called.set()
        try:
            answering = await self._serve(exchange)
            if answering:
                await answering
        except ProtocolError as error:
            await exchange.refuse(_error(400, error))
        except Exception:
            # The top: what went wrong here is no business of the client's.
            logger.exception("A request at /mcp ended in a fault")
            if exchange.begun:
                raise
            await exchange.refuse(refusal(500, "Internal server error"))
        finally:
            self.exchanges.discard(exchange)
            self._fewer.set()

    def cut(self, which: Callable[[Exchange], bool], instead: Callable[[], Response], why: str = "") -> None:
        """End exchanges at once; those that have begun, with `why`."""
        for exchange in list(self.exchanges):
            if which(exchange):
                exchange.cut(instead(), why)

    async def quiet(self) -> None:
        """Until no exchange is open. Endless by itself: whoever waits sets the limit."""
        while self.exchanges:
            self._fewer = asyncio.Event()
            await self._fewer.wait()

    async def is_called_within(self, seconds: float) -> bool:
        """Whether somebody comes in this time."""
        self._called = asyncio.Event()
        async with Patience(seconds):
            await self._called.wait()
        return self._called.is_set()

    def tokens(self) -> set[str]:
        """The names of the tokens that are in use."""
        return {each.token.name for each in self.exchanges} | self.sessions.tokens()

    async def end_sessions(self, tokens: Collection[str]) -> None:
        for session in self.sessions.of(tokens):
            await self._end(session)

    async def _serve(self, exchange: Exchange) -> Awaitable[None] | None:
        """Understand the request and have it served. What is yet to be awaited, where it may be for days, is returned:
        so all that was only needed to understand it is gone by then."""
        if exchange.method == "POST":
            return await self._post(exchange)
        version = exchange.headers.get(headers.VERSION)
        if version is not None and version not in HANDSHAKES:
            await exchange.refuse(Response(status_code=405, headers={"Allow": "POST"}))
            return None
        match exchange.method:
            case "GET":
                await self._get(exchange)
            case "DELETE":
                await self._delete(exchange)
            case _:
                await exchange.refuse(Response(status_code=405, headers={"Allow": "GET, POST, DELETE"}))
        return None

    # Requests

    async def _post(self, exchange: Exchange) -> Awaitable[None] | None:
        accepted = exchange.headers.get("accept", "")
        if not (headers.accepts(accepted, headers.JSON) and headers.accepts(accepted, headers.EVENTS)):
            await exchange.refuse(refusal(406, _NOT_ACCEPTABLE))
            return None
        if not headers.is_json(exchange.headers.get("content-type", "")):
            await exchange.refuse(refusal(415, _NOT_JSON))
            return None
        body = await exchange.body(LARGEST_REQUEST)
        if body is None:
            await exchange.refuse(refusal(413, _TOO_LARGE))
        elif not exchange.lost:
            given = _read(body)
            return await (self._modern if _is_modern(exchange, given) else self._handshake)(exchange, given)
        return None

    async def _modern(self, exchange: Exchange, given: Any) -> Awaitable[None] | None:
        if not isinstance(given, dict) or "method" not in given:
            raise ProtocolError(INVALID_REQUEST, _ONE_MESSAGE)
        if "id" not in given:
            await self._take_note(exchange, given)
            return None
        dispatcher = Dispatcher(self._connect(), self._handlers, _TO_EXCHANGE)
        exchange.when_over = partial(_abandon, dispatcher)
        try:
            if not messages.faults_of(given):
                headers.check(given, exchange.headers.items())
            self._take(exchange, dispatcher, given)
        except ProtocolError as error:
            exchange.owed = 1
            exchange.say(messages.error(messages.request_id(given["id"]), error))
        exchange.when_answered = dispatcher.close
        return exchange.answer(headers.status_of, QUICK_MODERN)

    async def _take_note(self, exchange: Exchange, given: Json) -> None:
        """A notification, which is about nothing: each request stands for itself, and is cancelled by hanging up."""
        version = exchange.headers.get(headers.VERSION, "")
        if wrong := messages.faults_of(given):
            raise ProtocolError(INVALID_REQUEST, f"Invalid request: {wrong}.")
        if version != MODERN:
            told = {"supported": [MODERN], "requested": version}
            raise ProtocolError(UNSUPPORTED_VERSION, "Unsupported protocol version", told)
        await exchange.refuse(Response(status_code=202))

    async def _handshake(self, exchange: Exchange, given: Any) -> None:
        if isinstance(given, dict) and given.get("method") == "initialize":
            await self._begin_session(exchange, given)
            return
        session = await self._session(exchange)
        if session is None:
            return
        with session.entered(exchange):
            if self.stopping and _waits(given):
                await self._send_away(exchange, session, given)
                return
            self._take(exchange, session.dispatcher, given)
            if not exchange.owed:
                await exchange.refuse(Response(status_code=202))
                return
            self._make_resumable(exchange, session, given)
            await exchange.answer(_handshake_status, QUICK)

    async def _begin_session(self, exchange: Exchange, given: Json) -> None:
        session = HttpSession(exchange.token, self._connect(), self._handlers)
        self._take(exchange, session.dispatcher, given)
        if not exchange.owed:
            raise ProtocolError(INVALID_REQUEST, _MISSING_SESSION)
        if session.connection.shook_hands:
            self.sessions.open(session)
            exchange.more = {headers.SESSION: session.id}
        await exchange.answer(_handshake_status, QUICK)

    def _take(self, exchange: Exchange, dispatcher: Dispatcher, given: Any) -> None:
        """Have what was said understood and served; the answers go to this exchange."""
        came = dispatcher.connection.take(given)
        for event in came:
            if isinstance(event, Request):
                _owe(exchange, event)
            elif isinstance(event, Cancelled):
                _withdraw(event.request)
        for send in dispatcher.take(came, exchange):
            if send.about:
                _owe(exchange, send.about)
            elif "method" not in send.message:
                exchange.owed += 1
            exchange.say(send.message, send.about)

    # Sessions

    async def _session(self, exchange: Exchange) -> HttpSession | None:
        """The session that a request names, or a refusal."""
        named = exchange.headers.get(headers.SESSION, "")
        session = self.sessions.find(named, exchange.token) if named else None
        if session is None:
            refused = refusal(404, _NO_SESSION) if named else refusal(400, _MISSING_SESSION)
            await exchange.refuse(refused)
            return None
        exchange.session, exchange.version = session.name, session.connection.version
        exchange.more = {headers.SESSION: session.id}
        return session

    async def _delete(self, exchange: Exchange) -> None:
        if session := await self._session(exchange):
            await self._end(session)
            await exchange.refuse(Response(status_code=200))

    async def _end(self, session: HttpSession) -> None:
        self.sessions.end(session)
        for exchange in list(session.exchanges):
            exchange.cut(refusal(404, _NO_SESSION))
        await session.dispatcher.close()

    # Streams

    async def _get(self, exchange: Exchange) -> None:
        if not headers.accepts(exchange.headers.get("accept", ""), headers.EVENTS):
            await exchange.refuse(refusal(406, _NOT_ACCEPTABLE))
            return
        session = await self._session(exchange)
        if session is None:
            return
        last = exchange.headers.get(headers.LAST_EVENT, "").partition(events.AFTER_MARK)[0]
        with session.entered(exchange):
            if last in ("", _NOTICES):
                await self._notices(exchange, session)
            elif last == events.END:
                await exchange.refuse(Response(status_code=405, headers={"Allow": "POST, DELETE"}))
            else:
                await self._resume(exchange, session, self._events.read(last))

    async def _notices(self, exchange: Exchange, session: HttpSession) -> None:
        """The stream for what belongs to no request. A new one takes the place of one whose client is gone."""
        if session.notices:
            session.notices.cut(refusal(409, "Another stream of this session has taken the place of this one."))
        if session.connection.version >= RESUMABLE:
            exchange.bookmark = lambda _: _NOTICES
        session.notices = exchange
        try:
            await exchange.stream()
        finally:
            if session.notices is exchange:
                session.notices = None

    async def _resume(self, exchange: Exchange, session: HttpSession, told: Any) -> None:
        """Go on with a call whose stream broke: here, in another process, or in one before this."""
        match told:
            case [session.name, {"id": str() | int() as named} as given, str(state)]:
                await _leave_to(exchange, session, named)
                exchange.state = state
                self._make_resumable(exchange, session, given)
                if "method" not in given:
                    exchange.owed = 1
                    exchange.say(messages.error(named, ProtocolError(messages.CONNECTION_CLOSED, _CALL_AGAIN)))
                elif self.stopping:
                    await exchange.send_away()
                    return
                else:
                    self._take(exchange, session.dispatcher, given)
                await exchange.stream()
            case _:
                raise ProtocolError(INVALID_REQUEST, _NO_SUCH_EVENT)

    def _make_resumable(self, exchange: Exchange, session: HttpSession, given: Any) -> None:
        if not isinstance(given, dict) or session.connection.version < RESUMABLE:
            return

        def bookmark(state: str) -> str:
            whole = self._events.write([session.name, given, state])
            return whole if len(whole) <= LONGEST_BOOKMARK else short

        short = self._events.write([session.name, {"id": given.get("id")}, ""])
        exchange.bookmark = bookmark

    async def _send_away(self, exchange: Exchange, session: HttpSession, given: Json) -> None:
        """A call that begins while this process ends: its client is to come back when another is there."""
        self._make_resumable(exchange, session, given)
        if exchange.bookmark:
            await exchange.send_away()
        else:
            await exchange.refuse(stopping())


class ToExchange:
    """Carries what is said about a request to the exchange that brought it."""

    async def say(self, message: Json, about: Request | None) -> None:
        if about:
            about.exchange.say(message, about)

    async def answer(self, message: Json, request: Request) -> None:
        request.exchange.say(message, request)


_TO_EXCHANGE = ToExchange()


def stopping() -> Response:
    told = "This server is stopping. Call again: another one, or this one once it is back, goes on where it was."
    return refusal(503, told, {"Retry-After": "1", "Connection": "close"})


def _read(body: bytes) -> Any:
    given = messages.decode(body)
    if messages.is_too_deep(given, body):
        raise ProtocolError(INVALID_REQUEST, "Invalid request: it is nested too deeply.")
    return given


def _is_modern(exchange: Exchange, given: Any) -> bool:
    """Whether a request stands for itself. Without the header it is refused there for lacking that."""
    version = exchange.headers.get(headers.VERSION)
    if version is not None:
        return version not in HANDSHAKES
    params = given.get("params") if isinstance(given, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and VERSION_KEY in meta and headers.SESSION not in exchange.headers


def _waits(given: Any) -> bool:
    return isinstance(given, dict) and given.get("method") == "tools/call" and "id" in given


def _owe(exchange: Exchange, request: Request) -> None:
    if request not in exchange.requests:
        request.exchange = exchange
        exchange.requests.append(request)
        exchange.owed += 1


def _withdraw(request: Request) -> None:
    """The client wants no answer; its stream ends all the same, and handshake clients wait for that."""
    exchange: Exchange | None = request.exchange
    if exchange:
        exchange.say(messages.error(request.id, ProtocolError(CANCELLED, "Request cancelled")))


def _abandon(dispatcher: Dispatcher, exchange: Exchange) -> None:
    """A call is of use only as long as somebody waits for its answer."""
    for request in exchange.requests:
        dispatcher.abandon(request)


async def _leave_to(exchange: Exchange, session: HttpSession, named: str | int) -> None:
    """End what else still serves this request: its client is now here."""
    for other in list(session.exchanges):
        if other is not exchange and any(request.id == named for request in other.requests):
            other.cut(refusal(409, "This call was resumed by another request."))
            async with Patience(_LEAVE_SECONDS):
                await other.end()


def _handshake_status(answer: Json) -> int:
    refused = "error" in answer and answer["error"]["code"] in (PARSE_ERROR, INVALID_REQUEST)
    return 400 if refused else 200


def _error(status: int, error: ProtocolError) -> Response:
    return JSONResponse(messages.error(None, error), status)
