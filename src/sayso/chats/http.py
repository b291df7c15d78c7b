"""Calls over HTTP to a chat. What goes wrong is told without the address: that of a bot holds its secret."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp

from sayso import untrusted_json
from sayso.errors import ChatFailed

PATIENCE = 20.0
"""Seconds for one call, unless it is one that waits for something."""
AGAIN = 5.0
"""Seconds after which a chat that was not reached is tried again, where it names none."""
LONGEST_REPLY = 4 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class ChatReply:
    status: int
    data: Any
    """What it said, as JSON; None where it was none."""
    retry_after: float | None


class ChatHttp:
    """The calls of one chat."""

    def __init__(self, label: str, session: aiohttp.ClientSession) -> None:
        self._label, self._session = label, session

    async def call(
        self, method: str, url: str, *, headers: Mapping[str, str] | None = None, body: Any = None, patience: float = 0
    ) -> ChatReply:
        """One call, with a body as JSON. ChatFailed where nothing came of it; no redirect is followed."""
        timeout = aiohttp.ClientTimeout(total=patience or PATIENCE)
        given: dict[str, Any] = {
            "headers": dict(headers or {}),
            "json": body,
            "allow_redirects": False,
            "timeout": timeout,
        }
        async with self._told_plainly(), self._session.request(method, url, **given) as reply:
            text = b""
            async for chunk in reply.content.iter_any():
                text += chunk
                if len(text) > LONGEST_REPLY:
                    raise ChatFailed(f"{self._label} says more than anybody reads.")
            return ChatReply(status=reply.status, data=_json(text), retry_after=_seconds(reply.headers))

    async def lines(self, url: str, headers: Mapping[str, str], silence: float) -> AsyncIterator[Any]:
        """What a stream of JSON lines says, until it ends. Nothing for `silence` seconds is a failure."""
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=PATIENCE, sock_read=silence)
        given: dict[str, Any] = {"headers": dict(headers), "allow_redirects": False, "timeout": timeout}
        async with self._told_plainly(), self._session.get(url, **given) as reply:
            if reply.status != 200:
                said = await reply.content.read(LONGEST_REPLY)
                yield ChatReply(status=reply.status, data=_json(said), retry_after=_seconds(reply.headers))
                return
            async for line in reply.content:
                yield _json(line)

    @asynccontextmanager
    async def socket(self, url: str, beat: float) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        """An open WebSocket, which is closed when it is silent for longer than its beat."""
        opening = self._session.ws_connect(url, heartbeat=beat, max_msg_size=LONGEST_REPLY)
        async with self._told_plainly(), opening as line:
            yield line

    @asynccontextmanager
    async def _told_plainly(self) -> AsyncIterator[None]:
        try:
            yield
        except (aiohttp.ClientError, OSError, ValueError) as error:
            why = getattr(error, "strerror", "") or type(error).__name__
            raise ChatFailed(f"{self._label} is not reached: {why}", AGAIN) from None


def _json(text: bytes) -> Any:
    try:
        return untrusted_json.loads(text)
    except ValueError:
        return None


def _seconds(headers: Mapping[str, str]) -> float | None:
    told = headers.get("Retry-After", "")
    return min(float(told), 3600.0) if told.isascii() and told.isdigit() else None
