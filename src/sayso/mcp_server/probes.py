"""What those who run the server look at: whether it is up, whether it can work, and its numbers. No texts of anyone."""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from sayso.asks.desk import AskDesk
from sayso.bridge import Patience, Threads
from sayso.errors import SaysoError, StoreTooNew
from sayso.mcp_server.backend import Backend
from sayso.mcp_server.endpoint import Endpoint
from sayso.mcp_server.metrics import CONTENT_TYPE, Metrics
from sayso.mcp_server.token_guard import TokenGuard

logger = logging.getLogger(__name__)

READY_SECONDS = 2.0
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")


class Probes:
    """Three routes. Two say next to nothing and are open to all; the numbers are for this machine and for tokens."""

    def __init__(
        self, desk: AskDesk, backend: Backend, tokens: TokenGuard, metrics: Metrics, endpoint: Endpoint
    ) -> None:
        self._desk, self._backend, self._tokens, self._metrics, self._endpoint = (
            desk,
            backend,
            tokens,
            metrics,
            endpoint,
        )
        # One at a time: a store that hangs must not take a thread for each look.
        self._looking = Threads(1, "sayso-ready")

    @property
    def routes(self) -> Sequence[BaseRoute]:
        return (
            Route("/healthz", self.healthy),
            Route("/readyz", self.ready),
            Route("/metrics", self.numbers),
        )

    async def healthy(self, request: Request) -> Response:
        """The process is up and its event loop turns."""
        return PlainTextResponse("ok\n")

    async def ready(self, request: Request) -> Response:
        """It can work: the store answers, is of this version, and the server is not about to stop."""
        if self._backend.stopping:
            return PlainTextResponse("stopping\n", 503)
        async with Patience(READY_SECONDS):
            try:
                await self._looking.look(self._desk.check_store)
                return PlainTextResponse("ok\n")
            except StoreTooNew as error:
                logger.warning("Not ready: %s", error)
                return PlainTextResponse("a newer version has changed the store: upgrade this server\n", 503)
            except SaysoError as error:
                logger.warning("Not ready: %s", error)
        return _no_store()

    async def numbers(self, request: Request) -> Response:
        """For Prometheus: on this machine without more ado, from elsewhere with any agent's token."""
        try:
            if not _is_local(request) and await self._tokens.made_token(request.scope) is None:
                return self._tokens.refuse_made(request.scope)
            asks = await self._tokens.do(self._desk.sizes)
        except SaysoError as error:
            logger.warning("Cannot count: %s", error)
            return _no_store()
        sessions, exchanges = self._endpoint.sessions.count(), len(self._endpoint.exchanges)
        text = self._metrics.text(asks=asks, sessions=sessions, exchanges=exchanges)
        return PlainTextResponse(text, headers={"Content-Type": CONTENT_TYPE})


def _no_store() -> Response:
    return PlainTextResponse("the store does not answer\n", 503)


def _is_local(request: Request) -> bool:
    """Whether somebody on this machine asks by a name of this machine, and no proxy for somebody else."""
    if request.client is None or any(name in request.headers for name in _FORWARDED):
        return False
    return _is_loopback(request.client.host) and _is_loopback(request.url.hostname or "")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
