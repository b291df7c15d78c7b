"""One HTTP request and its response, watched: whether an answer was handed over, and whether anyone still listens.

A response counts as handed over once the system has taken it, to a connection that was not known to be lost.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import anyio.lowlevel
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sayso.accounts import AgentToken
from sayso.mcp_server.caller import Context

SESSION_HEADER = "mcp-session-id"
_KEY = "sayso.exchange"
_DATA = b"data: "

Tell = Callable[[bool], None]


class Exchange:
    """One request of an agent that has shown its token."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, token: AgentToken) -> None:
        self.token = token
        self.method: str = scope["method"]
        self.peer = str(scope["client"][0])[:200] if scope.get("client") else ""
        self.session = Headers(scope=scope).get(SESSION_HEADER, "")
        """The session it belongs to, once that is known; requests from 2026-07-28 on have none."""
        self.status = 0
        self.lost = False
        """Whether whoever made the request was gone before the response was complete."""
        self._scope, self._receive, self._send = scope, receive, send
        self._cut = anyio.CancelScope()
        self._instead: Response | None = None
        self._owed: list[tuple[object, Tell]] = []
        self._calls: set[anyio.CancelScope] = set()
        self._over = False
        self._complete = False

    async def serve(self, app: ASGIApp) -> None:
        """Have the app answer, until the response is complete, nobody listens any more, or it is cut short."""
        self._scope[_KEY] = self
        try:
            with self._cut:
                await app(self._scope, self._hear, self._tell)
        finally:
            self._end()
        if self._cut.cancel_called and not self._complete:
            await self._close()

    def cut(self, instead: Response) -> None:
        """End it now: with this response, or, where one has begun, without any more of it."""
        self._instead = instead
        self._cut.cancel()

    @contextmanager
    def call(self) -> Iterator[None]:
        """A call that is of use only as long as somebody waits for its response: it is cancelled with that."""
        with anyio.CancelScope() as scope:
            self._calls.add(scope)
            if self._over:
                scope.cancel()
            try:
                yield
            finally:
                self._calls.discard(scope)

    def after_write(self, request_id: object, tell: Tell) -> None:
        """Tell when the response to the request has been handed over (True), or once it never can be."""
        if self._over:
            tell(False)
        else:
            self._owed.append((request_id, tell))

    async def _hear(self) -> Message:
        message = await self._receive()
        # After a complete response, servers say "disconnect" to whoever still listens.
        if message["type"] == "http.disconnect" and not self._complete:
            self.lost = True
            self._end()
        return message

    async def _tell(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.session = Headers(raw=message["headers"]).get(SESSION_HEADER, self.session)
        elif self._owed and self._answers(message.get("body", b"")):
            message = await self._hand_over(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self._complete = True
        await self._send(message)

    async def _hand_over(self, message: Message) -> Message:
        """Send the answer and see it gone, before the response ends: from then on a loss could not be told from an
        ordinary end. What is left to be sent."""
        await self._send({**message, "more_body": True})
        # The server waits here until what was sent before is no longer in its hands.
        await self._send({"type": "http.response.body", "body": b"", "more_body": True})
        # A connection that was lost before makes itself heard now, and leaves nothing to be settled.
        await anyio.lowlevel.checkpoint()
        self._settle(written=True)
        return {**message, "body": b""}

    def _answers(self, body: bytes) -> bool:
        """Whether this part of the response holds the response to a request, not a notification on the way to it."""
        texts = [line[len(_DATA) :] for line in body.splitlines() if line.startswith(_DATA)] or [body]
        waited_for = [request_id for request_id, _ in self._owed]
        return any("method" not in sent and sent.get("id") in waited_for for sent in map(_read, texts))

    def _settle(self, *, written: bool) -> None:
        owed, self._owed = self._owed, []
        for _, tell in owed:
            tell(written)

    def _end(self) -> None:
        """From now on nobody listens."""
        self._over = True
        self._settle(written=False)
        for call in self._calls:
            call.cancel()

    async def _close(self) -> None:
        if self.status:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        elif self._instead:
            await self._instead(self._scope, self._receive, self._send)


def exchange_of(ctx: Context) -> Exchange:
    """The exchange that a call came with."""
    assert ctx.request is not None
    exchange: Exchange = ctx.request.scope[_KEY]
    return exchange


def _read(text: bytes) -> dict[str, Any]:
    try:
        message = json.loads(text)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}
