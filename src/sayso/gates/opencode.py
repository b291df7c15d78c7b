"""opencode's prompts, as tried with 1.18.18.

A plugin of ours (`install/opencode_plugin.js`) sees them and starts the gate; the terminal's own prompt stays open
beside it. When that is answered, the plugin ends the gate: by a signal of its own for a yes, as any process is ended
for a no.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sayso.clients import RUN_VARIABLE
from sayso.dialects import approve
from sayso.dialects.approve import Permission
from sayso.gates.client import GateVerdict, OwnPrompt, Prompt, Trail
from sayso.gates.hook_words import PATCH, own_tools, permission
from sayso.records import replace

PERMISSION, QUESTIONS = "permission.asked", "question.asked"
OWN_TOOLS = own_tools("{server}_{tool}")
_SAME = {
    **dict.fromkeys(("bash", "shell"), "Bash"),
    "edit": "Edit",
    "multiedit": "MultiEdit",
    "write": "Write",
    **dict.fromkeys(("apply_patch", "patch"), PATCH),
    "read": "Read",
    "grep": "Grep",
    "glob": "Glob",
    "list": "LS",
    "webfetch": "WebFetch",
    "websearch": "WebSearch",
}
_OF_NO_TOOL = ("external_directory", "doom_loop")
"""What it asks about the use of a tool besides whether it may be used."""


class Opencode:
    name = "opencode"
    title = "opencode"
    patience = float("inf")

    def stands_back(self, event: Mapping[str, Any], environ: Mapping[str, str]) -> bool:
        tool = _part(event, "use").get("tool")
        return (
            event.get("type") not in (PERMISSION, QUESTIONS)
            or (isinstance(tool, str) and OWN_TOOLS.fullmatch(tool) is not None)
            or bool(environ.get(RUN_VARIABLE))
        )

    def read(self, event: Mapping[str, Any], environ: Mapping[str, str]) -> Prompt:
        asked = _part(event, "properties")
        return Prompt(
            permission=_questions(asked) if event.get("type") == QUESTIONS else _wanted(event, asked),
            session=str(asked.get("sessionID") or ""),
            version=str(event.get("version") or ""),
            process=0,
            folder=Path(str(event.get("directory") or ".")),
            own_prompt=OwnPrompt.BESIDE,
        )

    def trail(self, event: Mapping[str, Any], prompt: Prompt) -> Trail | None:
        return None

    def told(self, verdict: GateVerdict, prompt: Prompt) -> Mapping[str, Any]:
        """What the plugin sends to its client, and to which of a prompt's addresses."""
        if not prompt.permission.is_question:
            no = {"reply": "reject", "message": verdict.message}
            return {"to": "reply", "body": {"reply": "once"} if verdict.allowed else no}
        if not verdict.allowed:
            return {"to": "reject", "body": {}}
        said = verdict.given["answers"]
        asked = [question["question"] for question in prompt.permission.given["questions"]]
        return {"to": "reply", "body": {"answers": [[said[text]] if said[text] else [] for text in asked]}}


def _wanted(event: Mapping[str, Any], asked: Mapping[str, Any]) -> Permission:
    """The use of a tool with all of its input; or, whatever else it is, all that the client says of it."""
    use, about = _part(event, "use"), asked.get("permission")
    tool, given = use.get("tool"), _part(use, "input")
    is_of_tool = isinstance(tool, str) and about not in _OF_NO_TOOL
    if not is_of_tool or not given or not _agrees(asked, given, str(event.get("directory") or ".")):
        known = {key: asked[key] for key in ("patterns", "metadata") if asked.get(key)}
        return approve.read({"tool_name": about, "input": {**known, **({"use": dict(use)} if use else {})}})
    found = permission(tool, dict(given), _SAME)
    diff = _part(asked, "metadata").get("diff")
    if found.tool != PATCH or not isinstance(diff, str):
        return found
    # The patch alone does not show what goes with a file.
    return replace(found, given={**found.given, "diff": diff.strip("\n")})


def _agrees(asked: Mapping[str, Any], given: Mapping[str, Any], folder: str) -> bool:
    """Whether the client tells the same with its prompt as with the use of the tool, of all that both tell."""
    told = _part(asked, "metadata")
    if "command" in told and told["command"] != given.get("command"):
        return False
    if "filepath" in told and "filePath" in given and not _is_path(told["filepath"], given["filePath"], folder):
        return False
    return all(told[name] == given[name] for name in ("url", "query") if name in told and name in given)


def _is_path(told: object, given: object, folder: str) -> bool:
    """Whether it is the same file: opencode tells where it lies, its agent may say so from the folder that it is in."""
    if not isinstance(told, str) or not isinstance(given, str):
        return False
    return os.path.normpath(told) == os.path.normpath(os.path.join(folder, given))


def _questions(asked: Mapping[str, Any]) -> Permission:
    """Its questions as those of Claude Code's tool, of which only one word differs."""
    found = asked.get("questions")
    questions = [
        {**question, "multiSelect": question.get("multiple", False)} if isinstance(question, dict) else question
        for question in (found if isinstance(found, list) else [])
    ]
    return approve.read({"tool_name": approve.NATIVE_QUESTIONS, "input": {"questions": questions}})


def _part(event: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = event.get(name)
    return found if isinstance(found, dict) else {}
