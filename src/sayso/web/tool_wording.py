"""How the use of a tool is told in a conversation: a line to fold away, and what it was given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sayso.dialects.approve import Permission, wanted_action
from sayso.permissions.parts import PartName
from sayso.text import one_line
from sayso.web.permission_card import ShownPart, shown_parts

_SUBJECTS = ("command", "file_path", "notebook_path", "path", "pattern", "url", "query", "question", "description")
_WIDTH = 120
_ABOVE = (PartName.TOOL, PartName.FOLDER)
"""What the line itself or the head of the page says."""


def name(body: Mapping[str, Any]) -> str:
    """The tool's name, without the marks that MCP tools are called by."""
    parts = str(body["name"]).split("__")
    return one_line(": ".join(parts[1:]) if parts[0] == "mcp" and len(parts) > 2 else str(body["name"]), 60) or "a tool"


def subject(body: Mapping[str, Any]) -> str:
    """What it is used on, in one line."""
    given = body["input"] if isinstance(body["input"], Mapping) else {}
    named = (given.get(key) for key in _SUBJECTS)
    return next((one_line(value, _WIDTH) for value in named if isinstance(value, str) and value.strip()), "")


def given(body: Mapping[str, Any]) -> list[ShownPart]:
    """All that the tool was given, in the blocks of a permission."""
    told = body["input"] if isinstance(body["input"], Mapping) else {}
    action = wanted_action(Permission(tool=str(body["name"]), given=told), "", None)
    return [part for part in shown_parts(action) if part.name not in _ABOVE]
