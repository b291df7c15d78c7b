"""The reference server over HTTP, in this process."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from anyio.from_thread import start_blocking_portal
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import Receive, Scope, Send
from tests.e2e.http.reference import HANDLERS, connect
from tests.e2e.stdio.bridge import QuietServer

from sayso.accounts import AgentToken
from sayso.mcp_server.endpoint import Endpoint
from sayso.mcp_server.exchange import Exchange
from sayso.web.serve import HttpConnection


class _Site:
    """The endpoint of everybody, without a token."""

    def __init__(self) -> None:
        self._endpoint = Endpoint(connect, HANDLERS, lambda: b"not a secret")
        self._token = AgentToken(name="anybody", user="", project="", created_at=0)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._endpoint.serve(Exchange(scope, receive, send, self._token))


@contextmanager
def serving() -> Iterator[str]:
    """The address of a reference server over HTTP."""
    with start_blocking_portal() as portal, socket.create_server(("127.0.0.1", 0)) as listening:
        app = Starlette(routes=[Route("/mcp", portal.call(_Site))])
        server = QuietServer(uvicorn.Config(app, http=HttpConnection, lifespan="off", ws="none", log_level="error"))
        ended = portal.start_task_soon(server.serve, [listening])
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            ended.result()
