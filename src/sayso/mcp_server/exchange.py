"""One HTTP request and its response: what is said about it, whether it was handed over, whether anyone still listens.

An answer counts as handed over once the system has taken it, on a connection that was not known to be lost.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from sayso.accounts import AgentToken
from sayso.bridge import WHEN_LOST, Patience
from sayso.errors import ProtocolError
from sayso.protocol import events, headers
from sayso.protocol.messages import INTERNAL_ERROR, INVALID_REQUEST, Json, encode, error
from sayso.protocol.request import Request

PING_SECONDS = 15.0
"""How long a stream is silent before a sign of life: proxies end those that seem dead."""

_STREAM = {"content-type": headers.EVENTS, "cache-control": "no-cache, no-transform", "x-accel-buffering": "no"}


_FORGOTTEN = Headers()


class Exchange:
    """One request of an agent that has shown its token."""

    # Thousands of them wait: a dictionary for each would take more than a kilobyte.
    __slots__ = (
        "_complete",
        "_cut",
        "_end_awaited",
        "_id",
        "_instead",
        "_news",
        "_numbered",
        "_over",
        "_patience",
        "_receive",
        "_said",
        "_scope",
        "_send",
        "_shown_id",
        "_tag",
        "_why",
        "begun",
        "bookmark",
        "headers",
        "lost",
        "method",
        "more",
        "owed",
        "peer",
        "program",
        "requests",
        "session",
        "state",
        "token",
        "version",
        "when_answered",
        "when_over",
    )

    def __init__(self, scope: Scope, receive: Receive, send: Send, token: AgentToken) -> None:
        self.token = token
        self.method: str = scope["method"]
        self.headers = Headers(scope=scope)
        self.program = self.headers.get("user-agent", "")
        self.peer = str(scope["client"][0])[:200] if scope.get("client") else ""
        self.session = ""
        """The name of the session it belongs to; requests from 2026-07-28 on have none."""
        self.version = ""
        """The version of the protocol that was agreed on in that session."""
        self.more: dict[str, str] = {}
        """Headers of its response."""
        self.state = ""
        """What a call had come to that is resumed with it, in the call's own words."""
        self.lost = False
        """Whether whoever made the request was gone before the response was complete."""
        self.requests: list[Request] = []
        """What it is to bring the answers to."""
        self.owed = 0
        """How many answers are to be sent; the response ends with the last."""
        self.bookmark: Callable[[str], str] | None = None
        """Makes the id by which a client finds its way back to a call that has come to a state; None: it cannot."""
        self.when_over: Callable[[Exchange], None] = lambda _: None
        """Told as soon as nobody listens any more."""
        self.when_answered: Callable[[], Awaitable[None]] | None = None
        """Awaited after the response, or once nobody is there for it."""
        self._scope, self._receive, self._send = scope, receive, send
        self._cut = Patience()
        self._instead: Response | None = None
        self._why = ""
        self._said: list[tuple[Json, Request | None]] = []
        self._news: asyncio.Future[None] | None = None
        self._patience: asyncio.TimerHandle | None = None
        self._end_awaited: asyncio.Event | None = None
        self._id = self._shown_id = self._tag = ""
        self._numbered = 0
        self.begun = False
        """Whether its response has begun: then no other can take its place."""
        self._complete = self._over = False

    # What comes in

    async def body(self, limit: int) -> bytes | None:
        """What was sent; None if that is more than the limit."""
        length = self.headers.get("content-length", "")
        if length.isdecimal() and int(length) > limit:
            return None
        parts, size = [], 0
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                self.lost = True
                return b""
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > limit:
                return None
            if not message.get("more_body", False):
                return b"".join(parts)

    # What goes out

    def say(self, message: Json, about: Request | None = None) -> None:
        """Have this sent: an answer, or something on the way to it."""
        if not self._over:
            self._said.append((message, about))
            self._ring()
        elif about and _is_answer(message):
            about.lost()

    def note(self, state: str) -> None:
        """Let the client keep what a call has come to: if the stream breaks, that is where the call is resumed."""
        if self.bookmark and not self._over:
            self._id = self.bookmark(state)
            self._ring()

    async def refuse(self, response: Response) -> None:
        """Answer with this and nothing else."""
        self.begun = self._complete = True
        response.headers.update(self.more)
        await response(self._scope, self._receive, self._send)

    def answer(self, status_of: Callable[[Json], int], patience: float) -> Awaitable[None]:
        """Send what is said until all is answered: as JSON if nothing comes before the answer and that within the
        patience, else as a stream of events."""
        return self._see_through(status_of, patience)

    def stream(self) -> Awaitable[None]:
        """Send what is said as events, until all is answered or nobody listens any more."""
        return self._see_through()

    async def send_away(self) -> None:
        """Have the client come back for the answer after a while, and perhaps to another process."""
        await self._begin(200, _STREAM)
        if self.bookmark:
            await self._put(events.bookmark(self._event_id(self.bookmark(self.state)), self.version))
        await self._finish()

    def cut(self, instead: Response | None, why: str = "") -> None:
        """End it now: with this response, or, where one has begun, without any more of it than `why`, as the error of
        what is yet to be answered. Without that a client may come back for it, and waits for a while if it cannot."""
        if not self._over:
            self._instead, self._why = instead, why
        self._end()
        self._cut.end()

    async def _see_through(self, status_of: Callable[[Json], int] | None = None, patience: float = 0) -> None:
        # Nobody looks at what its request said any more, and this may take days.
        self.headers, self._scope["headers"] = _FORGOTTEN, []
        watching = self._watched()
        try:
            async with self._cut:
                if status_of is None or not await self._answered_as_json(status_of, patience):
                    await self._stream()
            if self._cut.over and not self._complete:
                await self._close()
        finally:
            if watching:
                watching.cancel()
            self._end()
            if self._end_awaited:
                self._end_awaited.set()
            if self.when_answered:
                await self.when_answered()

    async def end(self) -> None:
        """Until its response is complete, or nobody is there for it. Endless by itself: whoever waits sets the
        limit."""
        self._end_awaited = self._end_awaited or asyncio.Event()
        await self._end_awaited.wait()

    async def _answered_as_json(self, status_of: Callable[[Json], int], patience: float) -> bool:
        """Whether that was possible within the patience, or nobody listens any more."""
        await self._within(patience)
        if self.owed != 1 or not self._said or not _is_answer(self._said[0][0]):
            return self._over
        message, about = self._said.pop(0)
        data = encode(message)
        named = {"content-type": headers.JSON, "content-length": str(len(data))}
        await self._begin(status_of(message), named)
        await self._hand_over(data, about)
        await self._finish()
        return True

    async def _stream(self) -> None:
        await self._begin(200, _STREAM)
        if self.bookmark and not self._id:
            self._id = self.bookmark(self.state)
        while not self._over:
            if self._id != self._shown_id:
                self._shown_id = self._id
                await self._put(events.bookmark(self._event_id(self._id), self.version))
            elif not self._said:
                await self._within(PING_SECONDS)
                if not self._has_news:
                    await self._put(events.PING)
            elif await self._send_next():
                await self._finish()
                return

    async def _send_next(self) -> bool:
        """Send one message; whether it was the last."""
        message, about = self._said.pop(0)
        if not _is_answer(message):
            await self._put(events.event(message, self._event_id(self._id)))
            return False
        self.owed -= 1
        await self._hand_over(events.event(message, self._event_id(self._id if self.owed else events.END)), about)
        return not self.owed

    def _event_id(self, mark: str) -> str:
        """An id that no other event of the session has, with the mark that matters."""
        if not mark:
            return ""
        self._tag = self._tag or secrets.token_hex(4)
        self._numbered += 1
        return f"{mark}{events.AFTER_MARK}{self._tag}-{self._numbered}"

    async def _hand_over(self, data: bytes, about: Request | None) -> None:
        """Send an answer and see it gone, before the response ends: from then on a loss could not be told from an
        ordinary end."""
        await self._put(data)
        # The server waits here until what was sent before is no longer in its hands.
        await self._put(b"")
        # A connection that was lost before makes itself heard now.
        await asyncio.sleep(0)
        if about and not self._over:
            self.requests.remove(about)
            about.written()

    def _within(self, seconds: float) -> Awaitable[None]:
        """Until there is something to be sent, but not for longer than this."""
        loop = asyncio.get_running_loop()
        self._news = loop.create_future()
        if self._has_news:
            self._ring()
        else:
            self._patience = loop.call_later(seconds, self._ring)
        return self._news

    def _ring(self) -> None:
        if self._patience:
            self._patience.cancel()
        if self._news and not self._news.done():
            self._news.set_result(None)

    @property
    def _has_news(self) -> bool:
        return bool(self._said) or self._over or self._id != self._shown_id

    async def _begin(self, status: int, named: Mapping[str, str]) -> None:
        self.begun = True
        raw = [(name.encode(), value.encode("latin-1")) for name, value in {**named, **self.more}.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": raw})

    async def _put(self, data: bytes) -> None:
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def _finish(self) -> None:
        self._complete = True
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    def _watched(self) -> asyncio.Task[None] | None:
        """Have us told when nobody listens any more. Other servers than ours tell only whoever waits for it."""
        if tells := self._scope.get(WHEN_LOST):
            tells(self._lose)
            return None
        return asyncio.get_running_loop().create_task(self._watch())

    async def _watch(self) -> None:
        """Endless until cancelled."""
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._lose()

    def _lose(self) -> None:
        # After a complete response, servers say "disconnect" to whoever still listens.
        if not self._complete:
            self.lost = True
            self._end()

    def _end(self) -> None:
        """From now on nobody listens."""
        if self._over:
            return
        self._over = True
        self._said.clear()
        self._ring()
        self.when_over(self)
        for request in self.requests:
            request.lost()

    async def _close(self) -> None:
        if self.begun:
            for request in self.requests if self._why else ():
                told = error(request.id, ProtocolError(INVALID_REQUEST, self._why))
                await self._put(events.event(told, self._event_id(events.END)))
            await self._finish()
        elif self._instead:
            self._complete = True
            await self._instead(self._scope, self._receive, self._send)


def refusal(status: int, text: str, named: Mapping[str, str] | None = None) -> Response:
    """A refusal in the form of the protocol, so that clients show its text."""
    code = INTERNAL_ERROR if status >= 500 else INVALID_REQUEST
    return JSONResponse(error(None, ProtocolError(code, text)), status, named)


def _is_answer(message: Json) -> bool:
    return "method" not in message
