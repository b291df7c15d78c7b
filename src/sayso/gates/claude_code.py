"""Claude Code's `PermissionRequest` hook, and those of a session's begin and end, as tried with 2.1.325.

In a terminal its own dialog stays open meanwhile, and whoever decides first wins: a No there ends the hook's process,
of a Yes only the transcript tells. For an agent that works in the background it shows none before the hook has ended.
AskUserQuestion and ExitPlanMode come by the same hook, and take an allow only with an input.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

from sayso import untrusted_json
from sayso.asks.askers import asker_here
from sayso.clients import RUN_VARIABLE
from sayso.config import load
from sayso.desks import open_desks
from sayso.dialects import approve
from sayso.dialects.approve import Permission
from sayso.files import read_regular
from sayso.gates.asker import client_process, project_of
from sayso.gates.client import GateVerdict, OwnPrompt, Prompt
from sayso.gates.hook_words import EVENT, behavior, own_tools, permission, told
from sayso.gates.transcript import SessionTranscript
from sayso.process_table import command_line
from sayso.text import fit_for_column

_NEEDS_INPUT = (approve.NATIVE_QUESTIONS, "ExitPlanMode")
BEGUN, ENDED = "SessionStart", "SessionEnd"
_IN_TERMINAL = "cli"
_PROMPT_TOOL = "--permission-prompt-tool"
_AGENT = re.compile(r"claude-code_(\d+-\d+-\d+)_")
_AGENT_ID = re.compile(r"[\w-]{1,100}")
_MOST_ABOUT_AGENT = 65_536
"""Bytes of the file about an agent that are read."""
OWN_TOOLS = own_tools("mcp__(?:plugin_sayso_)?{server}__{tool}")


class ClaudeCode:
    name = "claude-code"
    title = "Claude Code"
    patience = 86_400 - 5.0
    """What `install/hooks.py` sets, less what starting takes."""

    def stands_back(self, event: Mapping[str, Any], environ: Mapping[str, str]) -> bool:
        if environ.get(RUN_VARIABLE) or _is_set_up_twice(environ):
            return True
        if event.get("hook_event_name") in (BEGUN, ENDED):
            self._note_session(event, environ)
            return True
        return (
            event.get("hook_event_name") != EVENT
            or OWN_TOOLS.fullmatch(str(event.get("tool_name"))) is not None
            or _asks_by_tool(command_line(_number(environ.get("CLAUDE_PID", ""))))
        )

    def _note_session(self, event: Mapping[str, Any], environ: Mapping[str, str]) -> None:
        """Prints nothing: what such a hook prints is told to the model."""
        config = load(cwd=project_of(Path(str(event.get("cwd") or "."))))
        pid = _number(environ.get("CLAUDE_PID", ""))
        process = client_process(pid)
        version, session = _version(environ.get("AI_AGENT", "")), str(event.get("session_id") or "")
        asker = asker_here(process, config.project_name, client=self.name, version=version, session=session)
        with open_desks(config) as desks:
            if event["hook_event_name"] == ENDED:
                desks.roster.note_end(asker)
            elif session and process and process.pid == pid:
                # It does not wait for this hook. One that has ended by now is not to be taken for its successor.
                desks.roster.note_gate(asker, "")

    def read(self, event: Mapping[str, Any], environ: Mapping[str, str]) -> Prompt:
        return Prompt(
            permission=permission(event.get("tool_name"), event.get("tool_input"), {}),
            session=str(event.get("session_id") or ""),
            version=_version(environ.get("AI_AGENT", "")),
            process=_number(environ.get("CLAUDE_PID", "")),
            folder=Path(str(event.get("cwd") or ".")),
            own_prompt=_own_prompt(event, environ),
            takes_changes=True,
            subagent=_subagent(event),
        )

    def trail(self, event: Mapping[str, Any], prompt: Prompt) -> SessionTranscript | None:
        path = _transcript(event)
        return SessionTranscript(path, prompt.permission) if path else None

    def told(self, verdict: GateVerdict, prompt: Prompt) -> Mapping[str, Any]:
        return told(_decision(verdict, prompt.permission))


def _own_prompt(event: Mapping[str, Any], environ: Mapping[str, str]) -> OwnPrompt:
    if environ.get("CLAUDE_CODE_ENTRYPOINT", _IN_TERMINAL) != _IN_TERMINAL:
        return OwnPrompt.NEVER
    return OwnPrompt.AFTERWARDS if _is_in_background(event) else OwnPrompt.BESIDE


def _is_in_background(event: Mapping[str, Any]) -> bool:
    """Whether the agent that asks was started by another, and does not work in front of it. Where that is not told, it
    counts as in the background: there a person at the terminal sees nothing as long as the hook waits."""
    path = _transcript(event)
    if path is None or not _agent_of(event):
        return False
    with suppress(OSError, ValueError):
        match untrusted_json.loads(read_regular(path.with_suffix(".meta.json"), _MOST_ABOUT_AGENT)):
            case {"requestShape": "foreground"}:
                return False
    return True


def _transcript(event: Mapping[str, Any]) -> Path | None:
    """What an agent does that another one has started is in a file of its own."""
    named, agent = event.get("transcript_path"), _agent_of(event)
    if not isinstance(named, str) or not named:
        return None
    path = Path(named).absolute()
    return path.with_suffix("") / "subagents" / f"agent-{agent}.jsonl" if agent else path


def _agent_of(event: Mapping[str, Any]) -> str:
    """The agent that asks, where another one has started it."""
    agent = event.get("agent_id")
    return agent if isinstance(agent, str) and _AGENT_ID.fullmatch(agent) else ""


def _subagent(event: Mapping[str, Any]) -> str:
    kind = event.get("agent_type")
    return fit_for_column(kind) if _agent_of(event) and isinstance(kind, str) else ""


def _decision(verdict: GateVerdict, wanted: Permission) -> Mapping[str, Any]:
    if verdict.allowed and (wanted.tool in _NEEDS_INPUT or verdict.given != wanted.given):
        return {"behavior": "allow", "updatedInput": dict(verdict.given)}
    return behavior(verdict)


def _asks_by_tool(words: Sequence[str]) -> bool:
    """Whether it was started with our tool for permission prompts, to which it brings all of them as well."""
    named = [word.partition("=")[2] for word in words if word.startswith(f"{_PROMPT_TOOL}=")]
    named += [after for word, after in pairwise(words) if word == _PROMPT_TOOL]
    return any(name.startswith("mcp__") and name.endswith(f"__{approve.NAME}") for name in named)


def _is_set_up_twice(environ: Mapping[str, str]) -> bool:
    """Whether this is the plugin's hook, and the person has set up the same themselves: then theirs asks."""
    if not environ.get("CLAUDE_PLUGIN_ROOT"):
        return False
    folder = environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude")
    try:
        return b"gate claude-code" in Path(folder, "settings.json").read_bytes()
    except OSError:
        return False


def _version(agent: str) -> str:
    """From `claude-code_2-1-325_harness`, as it calls itself to what it starts."""
    found = _AGENT.match(agent)
    return found[1].replace("-", ".") if found else ""


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0
