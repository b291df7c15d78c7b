"""The scripted agent of `sayso demo`: a real MCP client that starts a real server and asks. Run as a module.

It tells what it received as one line of JSON on stdout, and leaves when its stdin is closed.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

import anyio
import anyio.lowlevel
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, Implementation, TextContent

from sayso import __version__
from sayso.text import json_line

NAME = "demo-agent"
QUESTIONS: list[dict[str, Any]] = [
    {
        "title": "Storage",
        "prompt": "Where should the new service keep its data?",
        "options": [
            {"label": "SQLite", "description": "One file, nothing to set up.", "recommended": True},
            {"label": "PostgreSQL", "description": "For several machines at once."},
            {"label": "Plain files", "description": "Easy to read, hard to search."},
        ],
    },
    {
        "title": "Checks",
        "prompt": "Which checks should run before every commit?",
        "multiSelect": True,
        "options": [
            {"label": "Formatter"},
            {"label": "Type checker"},
            {"label": "Unit tests", "description": "About forty seconds."},
        ],
    },
    {
        "title": "Release",
        "prompt": "When may I publish the first version?",
        "options": [
            {"label": "As soon as it is green"},
            {"label": "After you have looked at it", "recommended": True},
            {"label": "Not this week"},
        ],
    },
]


async def ask() -> None:
    """Ask all of it in one call and tell what came back."""
    server = StdioServerParameters(command=sys.executable, args=["-m", "sayso.cli", "server"], env=dict(os.environ))
    with anyio.CancelScope() as scope:
        _leave_when_alone(scope)
        async with Client(server, client_info=Implementation(name=NAME, version=__version__)) as client:
            # Endless, as an agent's wait for a person is; closing our stdin ends it.
            _tell(await client.call_tool("ask_user_questions", {"questions": QUESTIONS}))


def _leave_when_alone(scope: anyio.CancelScope) -> None:
    """Cancel the scope when whoever started us closes our stdin, on purpose or by dying."""
    token = anyio.lowlevel.current_token()

    def watch() -> None:
        while os.read(0, 1024):
            pass
        anyio.from_thread.run_sync(scope.cancel, token=token)

    threading.Thread(target=watch, daemon=True).start()


def _tell(result: CallToolResult) -> None:
    text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
    print(json_line({"text": text, "data": result.structured_content}), flush=True)


if __name__ == "__main__":
    anyio.run(ask)
