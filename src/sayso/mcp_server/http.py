"""MCP over HTTP: the same tools at /mcp for agents with a token, on every version of the protocol.

Which names and pages may call is checked by the web application that takes in these routes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from sayso.accounts import AgentToken
from sayso.asks.model import Asker
from sayso.bridge import BackgroundTasks, Patience, Rings, endless, listening, seen_through
from sayso.desks import Desks
from sayso.dialects.profiles import profile
from sayso.errors import SaysoError
from sayso.mcp_server.backend import Backend
from sayso.mcp_server.caller import described
from sayso.mcp_server.context import CallContext, Handler
from sayso.mcp_server.endpoint import LARGEST_REQUEST as LARGEST_REQUEST
from sayso.mcp_server.endpoint import Endpoint, stopping
from sayso.mcp_server.exchange import Exchange, refusal
from sayso.mcp_server.metrics import Metrics
from sayso.mcp_server.probes import Probes
from sayso.mcp_server.server import build
from sayso.mcp_server.sessions import is_session_name
from sayso.mcp_server.token_guard import REVOKED, TokenGuard
from sayso.records import replace

logger = logging.getLogger(__name__)

STOP_GRACE = 3.0
"""Seconds in which calls that were told to end can hand over what they have."""
LINGER = 1.0
"""Seconds without a request after which nobody who was told to call again is still expected."""
_GATHER = 1.0
"""Seconds between two looks at the tokens, however often the bell rings."""


class McpOverHttp:
    """Serves /mcp, and what those who run it look at: /healthz, /readyz and /metrics."""

    def __init__(self, desks: Desks) -> None:
        self._desks, self._config = desks, (config := desks.config)
        shown = profile(config)
        self._tokens = TokenGuard(desks)
        self._metrics = Metrics(tool.name for tool in shown.tools)
        self._backend = Backend(
            config,
            asker_of=_asker,
            folder_of=self._folder_of,
            desks=desks,
            lives=self._lives,
            handed_over=self._metrics.handed_over,
        )
        server = build(shown, self._backend)
        handlers = {**server.handlers, "tools/call": self._counted(server.handlers["tools/call"])}
        self._endpoint = Endpoint(server.connect, handlers, self._backend.secret)
        self._probes = Probes(desks.asks, self._backend, self._tokens, self._metrics, self._endpoint)

    @property
    def routes(self) -> Sequence[BaseRoute]:
        """What also people reach, below a path of their own."""
        return (Route("/mcp", self), Route("/mcp/", self), *self._probes.routes)

    @property
    def direct(self) -> Mapping[str, ASGIApp]:
        return {"/mcp": self, "/mcp/": self}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request at /mcp."""
        try:
            token = await self._tokens.token(scope)
        except SaysoError as error:
            # Where the store is, is no business of somebody who may be anybody.
            logger.warning("Cannot tell who is calling: %s", error)
            told = refusal(503, "Sayso's store does not answer. Call again in a while.", {"Retry-After": "5"})
            await told(scope, receive, send)
            return
        if token is None:
            self._metrics.refused()
            await self._tokens.refuse(scope)(scope, receive, send)
            return
        await self._endpoint.serve(Exchange(scope, receive, send, token))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """While requests are served."""
        await self._tokens.do(self._backend.secret)
        beside = BackgroundTasks()
        async with self._backend:
            beside.start(endless("Looking for revoked tokens", self._watch_tokens))
            try:
                yield
            finally:
                await seen_through(self._stop(beside))
        self._tokens.close()

    async def _stop(self, beside: BackgroundTasks) -> None:
        await self.hand_over()
        self._endpoint.cut(lambda _: True, stopping)
        await beside.cancel()

    async def hand_over(self) -> None:
        """End waiting calls in a way that lets their clients go on, here once this process is back or elsewhere. Until
        then whoever comes is let in: some call again at once."""
        if self._backend.stopping:
            return
        waited = bool(self._endpoint.exchanges)
        self._backend.stop_waiting()
        self._endpoint.stopping = True
        self._endpoint.cut(lambda exchange: exchange.method == "GET" and not exchange.owed, stopping)
        async with Patience(STOP_GRACE):
            await self._endpoint.quiet()
            while waited and await self._endpoint.is_called_within(LINGER):
                await self._endpoint.quiet()

    # Calls

    def _counted(self, serve: Handler) -> Handler:
        """Count and time tool calls."""

        def counted(ctx: CallContext) -> Awaitable[Mapping[str, Any]]:
            task = asyncio.current_task()
            assert task  # each call has one of its own
            task.add_done_callback(self._metrics.begin(ctx.tool))
            return serve(ctx)

        return counted

    def _lives(self, asker: Asker) -> bool:
        """Whether a session that asked here is still there. Of one that its client has named we do not hear the end."""
        return self._endpoint.sessions.lives(asker.session) if is_session_name(asker.session) else True

    def _folder_of(self, ctx: CallContext) -> Path:
        """The folder of the agent's project; where this machine has no such folder, one of the agent's own."""
        token: AgentToken = ctx.exchange.token
        if token.project and Path(token.project).is_dir():
            return Path(token.project)
        return self._config.state_dir / "agents" / token.name

    # Tokens that are revoked

    async def _watch_tokens(self) -> None:
        """Endless until cancelled on leaving: at first and after each ring, end what revoked tokens have open."""
        rings = Rings()
        async with listening(await self._tokens.do(self._desks.bell), rings.ring):
            while True:
                rung = rings.next
                try:
                    await self._end_revoked()
                except SaysoError as error:
                    logger.warning("Cannot look for revoked tokens just now: %s", error)
                    rings.ring()
                await asyncio.sleep(_GATHER)
                await rung.wait()

    async def _end_revoked(self) -> None:
        used = self._endpoint.tokens()
        revoked = used - await self._tokens.valid() if used else set()
        if revoked:
            self._endpoint.cut(lambda exchange: exchange.token.name in revoked, self._tokens.revoked, REVOKED)
            await self._endpoint.end_sessions(revoked)


def _asker(ctx: CallContext) -> Asker:
    """The agent behind a request: its token says who it is, whatever machine it calls from."""
    exchange: Exchange = ctx.exchange
    return _known(described(ctx), exchange.token, exchange.peer, exchange.session)


@lru_cache(maxsize=256)
def _known(asker: Asker, token: AgentToken, peer: str, session: str) -> Asker:
    """The same for every call of a conversation, so made once."""
    session = asker.session or session
    return replace(asker, session=session, agent=token.name, project=token.project, owner=token.user, host=peer)
