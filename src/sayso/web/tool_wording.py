"""How the use of a tool is told in a conversation: a line to fold away, and what it was given, as Markdown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sayso.permissions import edits
from sayso.permissions.markdown import fenced
from sayso.text import one_line, printable

_SUBJECTS = ("command", "file_path", "notebook_path", "path", "pattern", "url", "query", "question", "description")
_WIDTH = 120


def name(body: Mapping[str, Any]) -> str:
    """The tool's name, without the marks that MCP tools are called by."""
    parts = str(body["name"]).split("__")
    return one_line(": ".join(parts[1:]) if parts[0] == "mcp" and len(parts) > 2 else str(body["name"]), 60) or "a tool"


def subject(body: Mapping[str, Any]) -> str:
    """What it is used on, in one line."""
    given = body["input"] if isinstance(body["input"], Mapping) else {}
    named = (given.get(key) for key in _SUBJECTS)
    return next((one_line(value, _WIDTH) for value in named if isinstance(value, str) and value.strip()), "")


def about(body: Mapping[str, Any]) -> str:
    """What the agent says a command is for."""
    told = body["input"] if isinstance(body["input"], Mapping) else {}
    described = told.get("description") if isinstance(told.get("command"), str) else ""
    return described.strip() if isinstance(described, str) else ""


def given(body: Mapping[str, Any]) -> str:
    """All that the tool was given."""
    tool, told = str(body["name"]), dict(body["input"]) if isinstance(body["input"], Mapping) else {}
    parts = []
    if change := edits.change(tool, told, None):
        parts.append(fenced(printable(change.diff), "diff"))
        told = {key: value for key, value in told.items() if key not in change.told}
    if isinstance(command := told.get("command"), str):
        parts.append(fenced(printable(command), ""))
        del told["command"]
        if about(body):
            del told["description"]
    if told:
        parts.append(fenced(json.dumps(told, ensure_ascii=False, indent=2), ""))
    return "\n\n".join(parts)
