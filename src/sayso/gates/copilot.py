"""Copilot CLI's `permissionRequest` hook, as tried with 1.0.102.

It runs before anything that the client decides itself: before its own prompt, which comes when the hook has not decided
and is missing in `copilot -p`, and before its own rules, so that an allow of ours wins over a denial of theirs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sayso.clients import RUN_VARIABLE
from sayso.dialects import approve
from sayso.dialects.approve import Permission
from sayso.gates.client import GateVerdict, OwnPrompt, Prompt, Trail
from sayso.gates.hook_words import PATCH, behavior, own_tools, permission
from sayso.process_table import command_line

EVENT = "permissionRequest"
OWN_TOOLS = own_tools("{server}-{tool}")
_SAME = {
    **dict.fromkeys(("bash", "shell"), "Bash"),
    **dict.fromkeys(("edit", "insert", "str_replace"), "Edit"),
    **dict.fromkeys(("create", "write"), "Write"),
    "apply_patch": PATCH,
    **dict.fromkeys(("view", "read", "show_file"), "Read"),
    **dict.fromkeys(("grep", "rg"), "Grep"),
    "glob": "Glob",
    **dict.fromkeys(("list_directory", "ls"), "LS"),
    "web_fetch": "WebFetch",
    "web_search": "WebSearch",
}
_CHANGE = re.compile(
    r"diff --git a(?P<old>[^\n]+) b(?P<new>[^\n]+)\n(?:[a-z][^\n]*\n)*"
    r"--- a(?P<source>[^\n]+)\n\+\+\+ b(?P<target>[^\n]+)\n@@"
)
"""How the diff of a change begins: with the whole paths of the file before and after it."""
_NOTHING = "/dev/null"
_EDITOR = "str_replace_editor"
"""One tool that reads or changes a file, as its `command` says."""
_HEADLESS = ("-p", "--prompt")
_DECIDED = ("--deny-tool", "--allow-all", "--yolo")
"""How options begin by which a person has decided at its command line: a hook would overrule the first, and ask in vain
with the others."""


class Copilot:
    name = "copilot-cli"
    title = "Copilot CLI"
    patience = 86_400 - 5.0

    def stands_back(self, event: Mapping[str, Any], environ: Mapping[str, str]) -> bool:
        return (
            event.get("hookName") != EVENT
            or OWN_TOOLS.fullmatch(str(event.get("toolName"))) is not None
            or bool(environ.get(RUN_VARIABLE))
            or any(word.startswith(_DECIDED) for word in command_line(os.getppid()))
        )

    def read(self, event: Mapping[str, Any], environ: Mapping[str, str]) -> Prompt:
        is_headless = _is_headless(command_line(os.getppid()))
        return Prompt(
            permission=_wanted(event.get("toolName"), event.get("toolInput")),
            session=str(event.get("sessionId") or ""),
            version="",
            process=0,
            folder=Path(str(event.get("cwd") or ".")),
            own_prompt=OwnPrompt.NEVER if is_headless else OwnPrompt.AFTERWARDS,
        )

    def trail(self, event: Mapping[str, Any], prompt: Prompt) -> Trail | None:
        return None

    def told(self, verdict: GateVerdict, prompt: Prompt) -> Mapping[str, Any]:
        return behavior(verdict)


def _wanted(tool: object, given: object) -> Permission:
    if tool == "edit" and isinstance(given, dict) and given.keys() == {"file_path", "diff"}:
        return _change(given["file_path"], given["diff"])
    reads = isinstance(given, dict) and given.get("command") == "view"
    return permission(tool, given, {**_SAME, _EDITOR: "Read" if reads else "Edit"})


def _change(file: object, diff: object) -> Permission:
    """What any tool of its that changes files comes as. The file is the one that is there afterwards: where another one
    is moved, or where that is not certain, it is known as a patch of several."""
    shown = diff.strip("\n") if isinstance(diff, str) else diff
    found = _CHANGE.match(shown) if isinstance(shown, str) else None
    source, target = (found["source"], found["target"]) if found else ("", "")
    given: dict[str, Any] = {"file_path": file, "diff": shown}
    if not found or (found["old"], found["new"]) != (source, target) or file not in (source, target):
        return approve.read({"tool_name": PATCH, "input": {"path": file, "diff": shown}})
    if source not in (target, _NOTHING) and target != _NOTHING:
        given = {"changes": [{"path": source, "move_path": target}], "diff": shown}
        return approve.read({"tool_name": PATCH, "input": given})
    return approve.read({"tool_name": "Write" if source == _NOTHING else "Edit", "input": given})


def _is_headless(started_with: Sequence[str]) -> bool:
    """Whether that is Copilot without a terminal; what else starts hooks may have options of the same name."""
    is_copilot = any("copilot" in os.path.basename(word) for word in started_with[:2])
    return is_copilot and any(word in _HEADLESS or word.startswith("--prompt=") for word in started_with)
