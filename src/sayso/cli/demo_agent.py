"""The scripted agent of `sayso demo`: a real MCP client that starts a real server and asks. Run as a module.

It tells what it received as one line of JSON on stdout, and leaves when its stdin is closed.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

from sayso import __version__
from sayso.doctor.client import StdioClient, text_of
from sayso.errors import ProtocolError
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


def ask() -> None:
    """Ask all of it in one call and tell what came back."""
    command = [sys.executable, "-P", "-m", "sayso.cli", "server"]
    client = StdioClient(command, name=NAME, version=__version__, environment=os.environ)
    left = _leave_when_alone(client)
    try:
        with client:
            # Endless, as an agent's wait for a person is; closing our stdin ends it.
            result = client.call("ask_user_questions", {"questions": QUESTIONS})
    except ProtocolError:
        if left.is_set():
            return
        raise
    print(json_line({"text": text_of(result), "data": result.get("structuredContent")}), flush=True)


def _leave_when_alone(client: StdioClient) -> threading.Event:
    """Leave when whoever started us closes our stdin, on purpose or by dying. Set when that has happened."""
    left = threading.Event()

    def watch() -> None:
        while os.read(0, 1024):
            pass
        left.set()
        client.close()

    threading.Thread(target=watch, daemon=True).start()
    return left


if __name__ == "__main__":
    ask()
