"""What several clients' hooks have in common: Claude Code's words for a prompt, and which tools are the same by another
name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sayso.dialects import approve
from sayso.dialects.approve import Permission
from sayso.gates.client import GateVerdict
from sayso.gates.patches import of_patch

EVENT = "PermissionRequest"
PATCH = "apply_patch"
"""The tool that changes several files at once, as rules know it."""

_SERVERS = "(?:sayso|auq|ask-user)"
_ASKING = "(?:ask_user|ask_person|ask_user_questions|question_ask|question_summary|get_answers|approve)"


def own_tools(spelt: str) -> re.Pattern[str]:
    """The tools by which agents ask, as a client spells them: `{server}` and `{tool}` in a pattern. Whether they may is
    for the client's settings: by its name alone nobody can tell that a tool is really ours, so it is never allowed for
    its name; and a question whether to ask would be absurd."""
    return re.compile(spelt.format(server=_SERVERS, tool=_ASKING))


_OF_FILES = ("Read", "Edit", "MultiEdit", "Write")
_FIELDS = {
    **dict.fromkeys(("path", "filePath", "filepath", "absolute_path", "fileName"), "file_path"),
    **dict.fromkeys(("oldString", "old_str"), "old_string"),
    **dict.fromkeys(("newString", "new_str"), "new_string"),
    "replaceAll": "replace_all",
    "is_background": "run_in_background",
    **dict.fromkeys(("file_text", "newFileContents"), "content"),
}
"""How clients spell the fields of Claude Code's tools."""
_PATCHES = ("patch", "patchText", "input", "command")
"""How they spell the one that holds a patch."""


def permission(tool: object, given: object, same: Mapping[str, str]) -> Permission:
    """What a hook asks. `same` has the tools that do what one of Claude Code's does: they are known by its
    name, with its fields, so that the same rules hold and the same is shown. InvalidInput names what is wrong."""
    known = same.get(tool, "") if isinstance(tool, str) else ""
    if known == PATCH and isinstance(given, str):
        given = {"patch": given}
    if not known or not isinstance(given, dict):
        return approve.read({"tool_name": known or tool, "input": given})
    renamed: dict[str, Any] = given
    if known == PATCH:
        renamed = _as_patch(given)
    elif known in (*_OF_FILES, "Bash"):
        renamed = _renamed(given)
    # Where two would come to one name it is not certain which of them its client goes by.
    return approve.read({"tool_name": known, "input": renamed} if renamed else {"tool_name": tool, "input": given})


def _renamed(given: Mapping[str, Any]) -> dict[str, Any]:
    """With Claude Code's names; nothing where two would become one."""
    renamed = {_FIELDS.get(key, key): value for key, value in given.items()}
    if isinstance(edits := renamed.get("edits"), list):
        renamed["edits"] = [(_renamed(edit) or edit) if isinstance(edit, dict) else edit for edit in edits]
    return renamed if len(renamed) == len(given) else {}


def _as_patch(given: Mapping[str, Any]) -> dict[str, Any]:
    """With the files that it changes; nothing where there is more in it than one patch."""
    texts = [key for key in _PATCHES if isinstance(given.get(key), str)]
    return of_patch(given[texts[0]]) if len(texts) == 1 and len(given) == 1 else {}


def told(decision: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": EVENT, "decision": decision}}


def behavior(verdict: GateVerdict) -> dict[str, Any]:
    """The verdict for the input as it came."""
    return {"behavior": "allow"} if verdict.allowed else {"behavior": "deny", "message": verdict.message}
