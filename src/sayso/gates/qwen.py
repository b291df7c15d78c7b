"""Qwen Code's `PermissionRequest` hook, as tried with 0.24.4. It has Claude Code's words, runs in a terminal only, and
before the client's own prompt, which comes when the hook has not decided."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sayso.clients import RUN_VARIABLE
from sayso.gates.client import GateVerdict, OwnPrompt, Prompt, Trail
from sayso.gates.hook_words import EVENT, behavior, own_tools, permission, told

OWN_TOOLS = own_tools("mcp__{server}__{tool}")
_SAME = {
    **dict.fromkeys(("run_shell_command", "monitor"), "Bash"),
    **dict.fromkeys(("edit", "replace"), "Edit"),
    "write_file": "Write",
    "notebook_edit": "NotebookEdit",
    **dict.fromkeys(("read_file", "zoom_image"), "Read"),
    **dict.fromkeys(("grep_search", "search_file_content"), "Grep"),
    "glob": "Glob",
    "list_directory": "LS",
    "web_fetch": "WebFetch",
    "web_search": "WebSearch",
}
_ONLY_THERE = ("ask_user_question", "exit_plan_mode", "propose_goal")
"""What it lets nobody but a person at its terminal answer, whatever a hook says."""


class Qwen:
    name = "qwen-cli-mcp-client"
    title = "Qwen Code"
    patience = 86_400 - 5.0

    def stands_back(self, event: Mapping[str, Any], environ: Mapping[str, str]) -> bool:
        tool = str(event.get("tool_name"))
        return (
            event.get("hook_event_name") != EVENT
            or tool in _ONLY_THERE
            or OWN_TOOLS.fullmatch(tool) is not None
            or bool(environ.get(RUN_VARIABLE))
        )

    def read(self, event: Mapping[str, Any], environ: Mapping[str, str]) -> Prompt:
        return Prompt(
            permission=permission(event.get("tool_name"), event.get("tool_input"), _SAME),
            session=str(event.get("session_id") or ""),
            version="",
            process=0,
            folder=Path(str(event.get("cwd") or ".")),
            own_prompt=OwnPrompt.AFTERWARDS,
        )

    def trail(self, event: Mapping[str, Any], prompt: Prompt) -> Trail | None:
        return None

    def told(self, verdict: GateVerdict, prompt: Prompt) -> Mapping[str, Any]:
        return told(behavior(verdict))
