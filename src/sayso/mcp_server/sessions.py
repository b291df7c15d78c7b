"""The sessions of handshake clients over HTTP, each with its connection and what is open in it.

Their ids are signed and say what was agreed on, so that a session outlives the process that opened it: whichever
process of the store is asked next goes on with it. From 2026-07-28 on there are no sessions.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sayso.accounts import AgentToken
from sayso.mcp_server.context import Handler
from sayso.mcp_server.dispatcher import Dispatcher
from sayso.mcp_server.exchange import Exchange
from sayso.protocol.connection import Connection
from sayso.protocol.messages import Json
from sayso.protocol.request import ClientInfo, Request
from sayso.protocol.seal import Signed

SESSION_IDLE = 30 * 60.0
"""Seconds after which a session that nobody uses is forgotten. It holds no ask: those go by the exchange."""

MOST_OF_ONE = 1_000
"""How many sessions of one agent are kept. Which it has not used for longest is forgotten; if it does use that again,
that goes on all the same."""
MOST_ENDED = 10_000
"""How many sessions are remembered as ended."""

_LONGEST_PART = 1_000
"""Characters of what a client says it can do, beyond which only what matters here is kept."""
_NAMED = "mcp-"


class HttpSession:
    """A handshake client's session, and whose token opened it."""

    __slots__ = ("connection", "dispatcher", "exchanges", "id", "lost", "name", "notices", "token", "used_at")

    def __init__(self, token: AgentToken, connection: Connection, handlers: Mapping[str, Handler]) -> None:
        self.token, self.connection = token, connection
        self.dispatcher = Dispatcher(connection, handlers, self)
        self.id = self.name = ""
        self.exchanges: set[Exchange] = set()
        self.notices: Exchange | None = None
        """The stream for what belongs to no request."""
        self.lost = False
        """Whether its last connection broke in the middle of an exchange."""
        self.used_at = time.monotonic()

    @property
    def lives(self) -> bool:
        """Whether somebody is there: its last connection did not break, or something else of it is open."""
        return bool(self.exchanges) or not self.lost

    @contextmanager
    def entered(self, exchange: Exchange) -> Iterator[None]:
        """While an exchange lasts. A call is cancelled with it, as of use to nobody."""
        self.exchanges.add(exchange)
        exchange.when_over = self._abandon
        try:
            yield
        finally:
            self.exchanges.discard(exchange)
            self.lost = exchange.lost
            self.used_at = time.monotonic()

    def _abandon(self, exchange: Exchange) -> None:
        for request in exchange.requests:
            self.dispatcher.abandon(request)

    async def say(self, message: Json, about: Request | None) -> None:
        exchange = about.exchange if about else self.notices
        if exchange:
            exchange.say(message, about)

    async def answer(self, message: Json, request: Request) -> None:
        request.exchange.say(message, request)


def session_name(session_id: str) -> str:
    """What others may know a session by: with its id anybody who has the token could speak in it."""
    return f"{_NAMED}{hashlib.sha256(session_id.encode()).hexdigest()[:16]}" if session_id else ""


def is_session_name(name: str) -> bool:
    return name.startswith(_NAMED)


class HttpSessions:
    """Those that this process knows of, by the tokens that opened them."""

    def __init__(
        self, key: Callable[[], bytes], connect: Callable[[], Connection], handlers: Mapping[str, Handler]
    ) -> None:
        self._signed, self._connect, self._handlers = Signed(key, "session"), connect, handlers
        self._open: defaultdict[str, dict[str, HttpSession]] = defaultdict(dict)
        """Of each token, the one that was used last comes last."""
        self._by_name: dict[str, HttpSession] = {}
        self._ended: OrderedDict[str, None] = OrderedDict()

    def count(self) -> int:
        self._forget_idle()
        return len(self._by_name)

    def open(self, session: HttpSession) -> None:
        """Keep a session whose handshake has just been made, and name it."""
        token, client = session.token, session.connection.client
        agreed = [session.connection.version, client.name[:200], client.version[:200], _bounded(client.capabilities)]
        self._keep(session, self._signed.write([secrets.token_hex(8), token.name, token.created_at, *agreed]))

    def find(self, session_id: str, token: AgentToken) -> HttpSession | None:
        """The session of this id, if it is this agent's and was not ended. One that another process opened goes on
        here."""
        session = self._open[token.name].get(session_id) or self._taken_over(session_id, token)
        if session:
            self._use(session)
        return session

    def end(self, session: HttpSession) -> None:
        """Nobody can use it any more."""
        self._forget(session)
        self._ended[session.id] = None
        if len(self._ended) > MOST_ENDED:
            self._ended.popitem(last=False)

    def of(self, tokens: Collection[str]) -> list[HttpSession]:
        """The sessions that these tokens opened."""
        return [session for token in tokens for session in self._open[token].values()]

    def tokens(self) -> set[str]:
        """The names of those that have any."""
        self._forget_idle()
        return {token for token, theirs in self._open.items() if theirs}

    def lives(self, name: str) -> bool:
        """Whether the session of this name is still there. Called from any thread."""
        session = self._by_name.get(name)
        return session is not None and session.lives

    def _taken_over(self, session_id: str, token: AgentToken) -> HttpSession | None:
        if session_id in self._ended:
            return None
        match self._signed.read(session_id):
            case [str(), token.name, token.created_at, str(version), str(name), str(about), dict(capabilities)]:
                connection = self._connect()
                connection.version = version
                connection.client = ClientInfo({"name": name, "version": about}, capabilities)
                return self._keep(HttpSession(token, connection, self._handlers), session_id)
        return None

    def _keep(self, session: HttpSession, session_id: str) -> HttpSession:
        session.id, session.name = session_id, session_name(session_id)
        self._by_name[session.name] = session
        self._use(session)
        theirs = self._open[session.token.name]
        if len(theirs) > MOST_OF_ONE and (idle := next((each for each in theirs.values() if not each.exchanges), None)):
            self._forget(idle)
        return session

    def _use(self, session: HttpSession) -> None:
        session.used_at = time.monotonic()
        theirs = self._open[session.token.name]
        theirs.pop(session.id, None)
        theirs[session.id] = session

    def _forget_idle(self) -> None:
        """Whoever comes back later goes on all the same, as in a session of another process."""
        long_ago = time.monotonic() - SESSION_IDLE
        for session in list(self._by_name.values()):
            if not session.exchanges and session.used_at < long_ago:
                self._forget(session)

    def _forget(self, session: HttpSession) -> None:
        self._open[session.token.name].pop(session.id, None)
        self._by_name.pop(session.name, None)


def _bounded(capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """What a client can do, short enough for a header."""
    if len(str(capabilities)) <= _LONGEST_PART:
        return dict(capabilities)
    shows = ClientInfo(None, capabilities).shows_forms
    return {"elicitation": {}} if shows else {}
