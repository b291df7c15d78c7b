"""What Codex tells of its work, as events of a run. A tool that does what one of Claude Code's does has that name, so
that it looks the same on a page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from sayso.adapters.rpc import Json
from sayso.agents.agent import items, mapping, number, shortened, text_event, trimmed, words
from sayso.agents.model import EventKind, NewEvent

_NO_TOOLS = (
    *("userMessage", "hookPrompt", "agentMessage", "plan", "reasoning", "contextCompaction", "functionCallOutput"),
    *("enteredReviewMode", "exitedReviewMode", "subAgentActivity", "sleep"),
)
_NOT_INPUT = ("id", "type", "status", "aggregatedOutput", "exitCode", "result", "error", "durationMs", "processId")
_TODO_STATES = {"inProgress": "in_progress"}
_numbers = count(1)


def begun(item: Json) -> Iterator[NewEvent]:
    """It uses a tool."""
    if item.get("type") not in _NO_TOOLS:
        name, given = _tool(item)
        body = {"id": words(item.get("id")), "name": name, "input": trimmed(given)}
        diff = "\n".join(map(_diff, items(item.get("changes"))))
        yield NewEvent(kind=EventKind.TOOL, body={**body, "diff": shortened(diff)} if diff else body)


def ended(item: Json) -> Iterator[NewEvent]:
    match item.get("type"):
        case "agentMessage" | "plan":
            yield from text_event(EventKind.TEXT, item.get("text"))
        case "reasoning":
            told = item.get("summary") or item.get("content")
            parts = [words(part) for part in told] if isinstance(told, list) else []
            yield from text_event(EventKind.THINKING, "\n\n".join(parts))
        case "contextCompaction":
            yield from text_event(EventKind.NOTICE, "Codex has summed up what was said before, to make room.")
        case kind if kind not in _NO_TOOLS:
            denied = item.get("status") == "declined"
            body = {"id": words(item.get("id")), "text": shortened(_outcome(item))}
            failed = denied or item.get("status") == "failed"
            more = {"denied": True} if denied else {}
            yield NewEvent(kind=EventKind.TOOL_RESULT, body={**body, "error": failed, **more})


def _tool(item: Json) -> tuple[str, Any]:
    """Its name, and what it was given."""
    match item.get("type"):
        case "commandExecution":
            from sayso.gates.codex_asks import in_shell

            return "Bash", {"command": in_shell(words(item.get("command")))}
        case "fileChange":
            return "apply_patch", _changes(items(item.get("changes")))
        case "mcpToolCall":
            return f"mcp__{words(item.get('server'))}__{words(item.get('tool'))}", item.get("arguments") or {}
        case "webSearch":
            return "WebSearch", {"query": words(item.get("query"))}
        case "imageView":
            return "Read", {"file_path": words(item.get("path"))}
    return words(item.get("type")) or "a tool", {key: value for key, value in item.items() if key not in _NOT_INPUT}


def _changes(changes: Sequence[Json]) -> dict[str, Any]:
    paths = [words(change.get("path")) for change in changes]
    return {"file_path": paths[0]} if len(paths) == 1 else {"files": paths}


def _diff(change: Json) -> str:
    """Codex tells the hunks of a file that it changes, and the whole text of one that is new or goes."""
    path, text = words(change.get("path")), words(change.get("diff"))
    match mapping(change.get("kind")).get("type"):
        case "add":
            lines = [f"+{line}" for line in text.splitlines()]
        case "delete":
            lines = [f"-{line}" for line in text.splitlines()]
        case _:
            lines = text.splitlines()
    return "\n".join((f"--- {path}", f"+++ {path}", *lines))


def _outcome(item: Json) -> str:
    if output := words(item.get("aggregatedOutput")):
        return output
    told = [words(part.get("text")) for part in items(mapping(item.get("result")).get("content"))]
    return "\n".join(told) or words(mapping(item.get("error")).get("message")) or words(item.get("status"))


def todo(plan: Sequence[Json]) -> Iterator[NewEvent]:
    """Its plan, as the tool by which Claude keeps its own."""
    todos = [
        {"content": words(step.get("step")), "status": _TODO_STATES.get(status := words(step.get("status")), status)}
        for step in plan
    ]
    name = f"plan-{next(_numbers)}"
    yield NewEvent(kind=EventKind.TOOL, body={"id": name, "name": "TodoWrite", "input": trimmed({"todos": todos})})
    yield NewEvent(kind=EventKind.TOOL_RESULT, body={"id": name, "text": "", "error": False})


def notice(method: str, params: Json) -> Iterator[NewEvent]:
    """What else a person should know of, or see."""
    match method:
        case "thread/tokenUsage/updated":
            yield from _usage(mapping(params.get("tokenUsage")))
        case "error" if params.get("willRetry"):
            yield from text_event(EventKind.NOTICE, mapping(params.get("error")).get("message"))
        case "warning":
            yield from text_event(EventKind.NOTICE, params.get("message"))
        case "configWarning":
            yield from text_event(EventKind.NOTICE, params.get("summary"))
        case "mcpServer/startupStatus/updated" if params.get("status") == "failed":
            name = words(params.get("name"))
            yield from text_event(EventKind.NOTICE, f"MCP server that could not be started: {name}.")
        case "mcpServer/elicitation/request":
            server, text = words(params.get("serverName")), words(params.get("message"))
            yield from text_event(EventKind.NOTICE, f"Declined, because it cannot be asked here: {server} {text}")
        case "item/permissions/requestApproval":
            why = words(params.get("reason"))
            yield from text_event(EventKind.NOTICE, f"Not granted, because it cannot be asked here: more rights. {why}")


def _usage(usage: Json) -> Iterator[NewEvent]:
    used, window = number(mapping(usage.get("last")).get("totalTokens")), number(usage.get("modelContextWindow"))
    if used and window:
        yield NewEvent(kind=EventKind.USAGE, body={"used": int(used), "window": int(window)})
