"""What several clients' hooks have in common: Claude Code's words for a prompt, and which tools are the same by another
name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sayso.dialects import approve
from sayso.dialects.approve import Permission
from sayso.gates.client import GateVerdict

EVENT = "PermissionRequest"

_SERVERS = "(?:sayso|auq|ask-user)"
_ASKING = "(?:ask_user|ask_person|ask_user_questions|question_ask|question_summary|get_answers|approve)"


def own_tools(spelt: str) -> re.Pattern[str]:
    """The tools by which agents ask, as a client spells them: `{server}` and `{tool}` in a pattern. Whether they may is
    for the client's settings: by its name alone nobody can tell that a tool is really ours, so it is never allowed for
    its name; and a question whether to ask would be absurd."""
    return re.compile(spelt.format(server=_SERVERS, tool=_ASKING))


def permission(tool: object, given: object, same: Mapping[str, str]) -> Permission:
    """What a hook asks. `same` has the tools that do what one of Claude Code's does, with the same input: they are
    known by its name, so that the same rules hold and the same is shown. InvalidInput names what is wrong."""
    known = same.get(tool, tool) if isinstance(tool, str) else tool
    return approve.read({"tool_name": known, "input": given})


def told(decision: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": EVENT, "decision": decision}}


def behavior(verdict: GateVerdict) -> dict[str, Any]:
    """The verdict for the input as it came."""
    return {"behavior": "allow"} if verdict.allowed else {"behavior": "deny", "message": verdict.message}
