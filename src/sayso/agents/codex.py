"""Codex without a terminal: `codex exec --json -`. It has no permission prompts that could be routed to a person."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sayso.agents.agent import ParsedLine, PersonLine, items, mapping, shortened, text_event, trimmed, words
from sayso.agents.model import Ending, EventKind, NewEvent, Run, Spoken
from sayso.brought import BroughtFile, Used
from sayso.config import Config
from sayso.trust import real

_SANDBOXES = {"plan": "read-only", "acceptEdits": "workspace-write", "bypassPermissions": "danger-full-access"}
"""The nearest that Codex has to each permission mode. Without one, its own settings hold."""

_TOOLS = {"command_execution", "mcp_tool_call", "web_search", "file_change", "todo_list"}
_NOT_INPUT = {"id", "type", "status", "aggregated_output", "exit_code", "result", "error"}


class Codex:
    """Knows how to start Codex and what its lines mean."""

    label = "Codex"
    install = "Install it with `npm install -g @openai/codex`, or set codex_command to where it is."
    reads = Used.CODEX
    is_spoken_to = False

    def argv(
        self, config: Config, run: Run, line: PersonLine | None, kept_out: Sequence[BroughtFile] = ()
    ) -> list[str]:
        options = run.options
        argv = [*config.codex_command, "exec", "--json", "--skip-git-repo-check"]
        argv += ["-c", _untrusted(run.project.directory)] if kept_out else []
        if line:
            first, *rest = line.command
            argv += ["-c", f"mcp_servers.{line.server}.command={json.dumps(first)}"]
            argv += ["-c", f"mcp_servers.{line.server}.args={json.dumps(rest)}"]
            # Without a terminal it refuses every tool that is not granted by name.
            tool = line.ask_tool.removeprefix(f"mcp__{line.server}__")
            argv += ["-c", f'mcp_servers.{line.server}.tools.{tool}.approval_mode="approve"']
            # Codex gives its servers no environment but what it is told to hand on.
            argv += ["-c", f'mcp_servers.{line.server}.env_vars=["ASK_USER_CONFIG","SAYSO_STATE_DIR","SAYSO_STORE"]']
        if options.model:
            argv += ["--model", options.model]
        if options.permission_mode in _SANDBOXES:
            argv += ["--sandbox", _SANDBOXES[options.permission_mode]]
        return [*argv, "resume", run.session, "-"] if run.session else [*argv, "-"]

    def spoken(self, name: str, said: Spoken) -> bytes:
        return said.text.encode(errors="replace")

    def hear(self, said: Mapping[str, Any]) -> ParsedLine:
        item = mapping(said.get("item"))
        match said.get("type"):
            case "thread.started":
                session = words(said.get("thread_id"))
                return ParsedLine(
                    events=(NewEvent(kind=EventKind.STARTED, body={"session": session}),), session=session
                )
            case "item.started":
                return ParsedLine(events=tuple(_begun(item)))
            case "item.completed":
                return ParsedLine(events=tuple(_ended(item)))
            case "turn.completed":
                return ParsedLine(events=(NewEvent(kind=EventKind.RESULT, body={"error": False}),), ending=Ending())
            case "turn.failed":
                told = words(mapping(said.get("error")).get("message")) or "The turn failed."
                return ParsedLine(
                    events=(NewEvent(kind=EventKind.RESULT, body={"error": True, "text": shortened(told, 2_000)}),),
                    ending=Ending(message=shortened(told, 2_000)),
                )
            case "error":
                return ParsedLine(events=text_event(EventKind.NOTICE, said.get("message")))
        return ParsedLine()


def _untrusted(project: Path) -> str:
    """Overrules whatever trust Codex has in the folder and those above it. As tried with 0.166, only the whole table
    does that."""
    folder = real(project)
    levels = [f'{json.dumps(str(place))}={{trust_level="untrusted"}}' for place in (folder, *folder.parents)]
    return f"projects={{{','.join(levels)}}}"


def _begun(item: Mapping[str, Any]) -> Iterator[NewEvent]:
    if item.get("type") in _TOOLS:
        given = {key: value for key, value in item.items() if key not in _NOT_INPUT}
        body = {"id": words(item.get("id")), "name": _name(item), "input": trimmed(given)}
        yield NewEvent(kind=EventKind.TOOL, body=body)


def _name(item: Mapping[str, Any]) -> str:
    if item.get("type") == "mcp_tool_call":
        return f"{words(item.get('server'))}: {words(item.get('tool'))}"
    return words(item.get("type")).replace("_", " ")


def _ended(item: Mapping[str, Any]) -> Iterator[NewEvent]:
    match item.get("type"):
        case "agent_message":
            yield from text_event(EventKind.TEXT, item.get("text"))
        case "reasoning":
            yield from text_event(EventKind.THINKING, item.get("text"))
        case "error":
            yield from text_event(EventKind.NOTICE, item.get("message"))
        case kind if kind in _TOOLS:
            text = words(item.get("aggregated_output")) or _outcome(item)
            body = {"id": words(item.get("id")), "text": shortened(text), "error": item.get("status") == "failed"}
            yield NewEvent(kind=EventKind.TOOL_RESULT, body=body)


def _outcome(item: Mapping[str, Any]) -> str:
    result = mapping(item.get("result"))
    told = [words(part.get("text")) for part in items(result.get("content"))]
    return "\n".join(told) or words(mapping(item.get("error")).get("message"))
