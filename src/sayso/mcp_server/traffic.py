"""Who is in: the open exchanges and sessions of one server process, so that they can be counted and ended.

Sessions are those of handshake clients; from 2026-07-28 on each request stands for itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import anyio
from starlette.responses import Response

from sayso.mcp_server.exchange import Exchange

SESSION_IDLE = 30 * 60.0
"""Seconds after which a session that nobody uses is forgotten. It holds no ask: those go by the exchange."""


_NAMED = "mcp-"


@dataclass
class Session:
    """A handshake client's session, and whose token opened it."""

    token: str
    used_at: float
    exchanges: int = 0
    lost: bool = False
    """Whether its last connection broke in the middle of an exchange."""


def session_name(session_id: str) -> str:
    """What others may know a session by: with its id anybody who has the token could speak in it."""
    return f"{_NAMED}{hashlib.sha256(session_id.encode()).hexdigest()[:16]}" if session_id else ""


def is_session_name(name: str) -> bool:
    return name.startswith(_NAMED)


class Traffic:
    """Counts who comes and goes."""

    def __init__(self) -> None:
        self.exchanges: set[Exchange] = set()
        self._sessions: dict[str, Session] = {}
        self._fewer: anyio.Event | None = None

    @property
    def sessions(self) -> int:
        self._forget_idle()
        return len(self._sessions)

    @contextmanager
    def entered(self, exchange: Exchange) -> Iterator[None]:
        """While an exchange lasts."""
        self.exchanges.add(exchange)
        session = self._sessions.get(exchange.session)
        if session:
            session.exchanges += 1
        try:
            yield
        finally:
            self.exchanges.discard(exchange)
            if session:
                session.exchanges -= 1
                session.lost = exchange.lost
            self._note(exchange)
            if self._fewer:
                self._fewer.set()

    def cut(self, which: Callable[[Exchange], bool], instead: Callable[[], Response]) -> None:
        """End exchanges at once."""
        for exchange in list(self.exchanges):
            if which(exchange):
                exchange.cut(instead())

    async def quiet(self) -> None:
        """Until no exchange is open. Endless by itself: whoever waits sets the limit."""
        while self.exchanges:
            self._fewer = anyio.Event()
            await self._fewer.wait()

    def tokens(self) -> set[str]:
        """The names of the tokens that are in use."""
        self._forget_idle()
        return {each.token.name for each in self.exchanges} | {each.token for each in self._sessions.values()}

    def sessions_of(self, tokens: Collection[str]) -> list[tuple[str, str]]:
        """The sessions that these tokens opened, each with its token."""
        return [(name, session.token) for name, session in self._sessions.items() if session.token in tokens]

    def forget(self, session: str) -> None:
        self._sessions.pop(session, None)

    def lives(self, name: str) -> bool:
        """Whether the session of this name is still there: not ended, not idle for long, and not cut off with nothing
        else of it open. Called from any thread."""
        session = next((each for key, each in list(self._sessions.items()) if session_name(key) == name), None)
        return session is not None and (session.exchanges > 0 or not session.lost)

    def _note(self, exchange: Exchange) -> None:
        """Learn from a response which sessions there are."""
        if exchange.status == 404 or (exchange.method == "DELETE" and exchange.status == 200):
            self.forget(exchange.session)
        elif exchange.session and 200 <= exchange.status < 300:
            session = self._sessions.setdefault(exchange.session, Session(token=exchange.token.name, used_at=0))
            session.used_at = anyio.current_time()

    def _forget_idle(self) -> None:
        """The SDK ends sessions that are idle without a word; so do we here."""
        long_ago = anyio.current_time() - SESSION_IDLE
        for session_id, session in list(self._sessions.items()):
            if not session.exchanges and session.used_at < long_ago:
                del self._sessions[session_id]
