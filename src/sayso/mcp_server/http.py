"""MCP over HTTP: the same tools at /mcp for agents with a token, on every version of the protocol.

Which names and pages may call is checked by the web application that takes in these routes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import CallNext, HandlerResult
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from sse_starlette.sse import AppStatus
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Message, Receive, Scope, Send

from sayso.accounts import AgentToken
from sayso.asks.desk import Desk
from sayso.asks.model import Asker
from sayso.config import Config
from sayso.dialects.profiles import profile
from sayso.errors import SaysoError
from sayso.mcp_server.caller import Context, described
from sayso.mcp_server.door import Door, refusal
from sayso.mcp_server.exchange import SESSION_HEADER, Exchange, Tell, exchange_of
from sayso.mcp_server.metrics import Metrics
from sayso.mcp_server.office import Office
from sayso.mcp_server.probes import Probes
from sayso.mcp_server.server import build
from sayso.mcp_server.traffic import SESSION_IDLE, Traffic, is_session_name, session_name
from sayso.store import Store
from sayso.store.bell import Listener

logger = logging.getLogger(__name__)

LARGEST_REQUEST = 4 * 1024 * 1024
STOP_GRACE = 3.0
"""Seconds in which calls that were told to end can hand over what they have."""
_GATHER = 1.0
"""Seconds between two looks at the tokens, however often the bell rings."""


class McpOverHttp:
    """Serves /mcp, and what those who run it look at: /healthz, /readyz and /metrics."""

    def __init__(self, config: Config, store: Store) -> None:
        shown = profile(config)
        self._config, self._store = config, store
        self._door = Door(store)
        self._traffic = Traffic()
        self._metrics = Metrics(tool.name for tool in shown.tools)
        self._office = Office(
            config,
            asker_of=_asker,
            after_write=self._after_write,
            folder_of=self._folder_of,
            store=store,
            lives=self._lives,
        )
        self._probes = Probes(Desk(store), self._office, self._door, self._metrics, self._traffic)
        server = build(shown, self._office)
        server.middleware.append(self._watch_call)
        self._sessions = StreamableHTTPSessionManager(
            server, session_idle_timeout=SESSION_IDLE, max_request_body_size=LARGEST_REQUEST
        )
        # It shows the token's name to what seals the state of a call, so that no other agent can bring it back.
        self._app = AuthContextMiddleware(self._sessions.handle_request)

    @property
    def routes(self) -> Sequence[BaseRoute]:
        return (Route("/mcp", self), Route("/mcp/", self), *self._probes.routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request at /mcp."""
        if self._office.stopping:
            await _stopping()(scope, receive, send)
            return
        try:
            token = await self._door.token(scope)
        except SaysoError as error:
            # Where the store is, is no business of somebody who may be anybody.
            logger.warning("Cannot tell who is calling: %s", error)
            told = refusal(503, "Sayso's store does not answer. Call again in a while.", {"Retry-After": "5"})
            await told(scope, receive, send)
            return
        if token is None:
            self._metrics.refused()
            await self._door.refuse(scope)(scope, receive, send)
            return
        scope["user"] = _user(token.name)
        exchange = Exchange(scope, receive, send, token)
        with self._traffic.entered(exchange):
            await exchange.serve(self._app)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """While requests are served. Leaving ends waiting calls in a way that lets their clients call elsewhere."""
        # Else the SDK's streams would end with the signal, before the calls on them could say anything.
        AppStatus.enable_automatic_graceful_drain = False
        await self._door.do(self._office.secret)
        async with self._office, self._sessions.run(), anyio.create_task_group() as beside:
            beside.start_soon(self._watch_tokens)
            try:
                yield
            finally:
                with anyio.CancelScope(shield=True):
                    await self._stop()
                beside.cancel_scope.cancel()
        self._door.close()

    async def _stop(self) -> None:
        self._office.stop_waiting()
        self._traffic.cut(lambda exchange: exchange.method == "GET", _stopping)
        with anyio.move_on_after(STOP_GRACE):
            await self._traffic.quiet()
        self._traffic.cut(lambda _: True, _stopping)

    # Calls

    async def _watch_call(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Count and time tool calls, and cancel those whose client has gone: handshake clients' would go on."""
        if ctx.method != "tools/call":
            return await call_next(ctx)
        with self._metrics.call((ctx.params or {}).get("name")), exchange_of(ctx).call():
            return await call_next(ctx)
        raise MCPError(code=types.CONNECTION_CLOSED, message="Nobody listens to this call any more.")

    def _after_write(self, ctx: Context, tell: Tell) -> None:
        def told(written: bool) -> None:
            self._metrics.handed_over(written)
            tell(written)

        exchange_of(ctx).after_write(ctx.request_id, told)

    def _lives(self, asker: Asker) -> bool:
        """Whether a session that asked here is still there. Of one that its client has named we do not hear the end."""
        return self._traffic.lives(asker.session) if is_session_name(asker.session) else True

    def _folder_of(self, ctx: Context) -> Path:
        """The folder of the agent's project; where this machine has no such folder, one of the agent's own."""
        token = exchange_of(ctx).token
        if token.project and Path(token.project).is_dir():
            return Path(token.project)
        return self._config.state_dir / "agents" / token.name

    # Tokens that are revoked

    async def _watch_tokens(self) -> None:
        """Endless until cancelled on leaving: after each ring, end what revoked tokens have open."""
        loop, rung = asyncio.get_running_loop(), asyncio.Event()

        def ring() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(rung.set)

        listener = Listener(await self._door.do(self._store.bell), ring)
        try:
            while True:
                await rung.wait()
                rung.clear()
                try:
                    await self._end_revoked()
                except SaysoError as error:
                    logger.warning("Cannot look for revoked tokens just now: %s", error)
                    rung.set()
                await anyio.sleep(_GATHER)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(listener.close)

    async def _end_revoked(self) -> None:
        used = self._traffic.tokens()
        revoked = used - await self._door.valid() if used else set()
        if revoked:
            self._traffic.cut(lambda exchange: exchange.token.name in revoked, self._door.revoked)
            for session, token in self._traffic.sessions_of(revoked):
                await self._end_session(session, token)

    async def _end_session(self, session: str, token: str) -> None:
        """End a handshake client's session as the client itself would: the SDK offers no other way."""
        headers = [(SESSION_HEADER.encode(), session.encode())]
        scope = {"type": "http", "method": "DELETE", "path": "/mcp", "headers": headers, "user": _user(token)}
        await self._sessions.handle_request(scope, _nothing_more, _to_nobody)
        self._traffic.forget(session)


def _asker(ctx: Context) -> Asker:
    """The agent behind a request: its token says who it is, whatever machine it calls from."""
    exchange = exchange_of(ctx)
    return _known(described(ctx), exchange.token, exchange.peer, session_name(exchange.session))


@lru_cache(maxsize=256)
def _known(asker: Asker, token: AgentToken, peer: str, session: str) -> Asker:
    """The same for every call of a conversation, so made once."""
    session = asker.session or session
    return replace(asker, session=session, agent=token.name, project=token.project, owner=token.user, host=peer)


@lru_cache(maxsize=256)
def _user(name: str) -> AuthenticatedUser:
    """The token's name as the SDK wants it, by which it keeps agents out of each other's sessions."""
    return AuthenticatedUser(AccessToken(token="", client_id=name, scopes=[]))


def _stopping() -> Response:
    told = "This server is stopping. Call again: another one, or this one once it is back, goes on where it was."
    return refusal(503, told, {"Retry-After": "1", "Connection": "close"})


async def _nothing_more() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _to_nobody(message: Message) -> None:
    """The response to a request that we made ourselves."""
