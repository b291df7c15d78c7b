"""Servers of the SDK alone, on the same uvicorn as Sayso's, for its calls over HTTP to be compared with.

`bare` lets everybody in, and its one tool does nothing; `as-it-comes` does so on what the SDK brings to read HTTP with,
the others on what Sayso reads it with. `alike` does with the SDK's own parts what Sayso does for a
call of `get_answers`: it looks up the caller's token, and what there is for that caller, in an SQLite file.
Usage: python -m bench.web_rivals as-it-comes|bare|alike FILE. It prints its port.
"""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import sys
from typing import Any

import anyio.to_thread
import mcp_types as types
import uvicorn
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from pydantic import AnyHttpUrl
from starlette.applications import Starlette

from sayso.web.serve import listen

TOKEN = "a-token-of-the-bench"
TOOL = "get_answers"
Context = ServerRequestContext[Any, Any]


async def list_tools(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[types.Tool(name=TOOL, input_schema={"type": "object"})])


def done(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


def bare() -> Starlette:
    async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        return done("done")

    server: Server[Any] = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
    return server.streamable_http_app()


class Shelf:
    """An SQLite file with tokens, and with answers for those who hold them. Looked at in a thread, as is usual."""

    def __init__(self, file: str) -> None:
        self._connection = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("CREATE TABLE tokens (hash TEXT PRIMARY KEY, name TEXT NOT NULL)")
        self._connection.execute("CREATE TABLE answers (agent TEXT NOT NULL, body TEXT NOT NULL)")
        self._connection.execute("CREATE INDEX answers_of ON answers (agent)")
        self._connection.execute("INSERT INTO tokens VALUES (?, 'bench')", (_hash(TOKEN),))
        self._one_at_a_time = anyio.CapacityLimiter(1)

    async def verify_token(self, token: str) -> AccessToken | None:
        rows = await self._rows("SELECT name FROM tokens WHERE hash = ?", _hash(token))
        return AccessToken(token=token, client_id=rows[0][0], scopes=[]) if rows else None

    async def answers(self, agent: str) -> list[tuple[str]]:
        return await self._rows("SELECT body FROM answers WHERE agent = ?", agent)

    async def _rows(self, query: str, value: str) -> list[tuple[str]]:
        def work() -> list[tuple[str]]:
            return self._connection.execute(query, (value,)).fetchall()

        return await anyio.to_thread.run_sync(work, limiter=self._one_at_a_time)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def alike(file: str) -> Starlette:
    shelf = Shelf(file)

    async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        caller = get_access_token()
        assert caller is not None
        return done(f"{len(await shelf.answers(caller.client_id))} answers")

    server: Server[Any] = Server("alike", on_list_tools=list_tools, on_call_tool=call_tool)
    here = AnyHttpUrl("http://127.0.0.1/mcp")
    auth = AuthSettings(issuer_url=here, resource_server_url=here, validate_token_resource=False)
    return server.streamable_http_app(auth=auth, token_verifier=shelf)


def main() -> None:
    kind, file = sys.argv[1:]
    app = alike(file) if kind == "alike" else bare()
    listening = listen("127.0.0.1", 0)
    print(listening.getsockname()[1], flush=True)
    http = "h11" if kind == "as-it-comes" else "httptools"
    settings = uvicorn.Config(app, http=http, log_level="error", access_log=False, ws="none")
    asyncio.run(uvicorn.Server(settings).serve([listening]))


if __name__ == "__main__":
    main()
