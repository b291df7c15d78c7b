"""How the use of a tool is told in a conversation: a line to fold away, and what it was given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sayso.action_data import digest_of
from sayso.agents.agent import items, trimmed, words
from sayso.agents.model import Run, RunEvent
from sayso.asks.model import Ask
from sayso.dialects.approve import Permission, wanted_action
from sayso.permissions.action import original_of
from sayso.permissions.parts import PartName
from sayso.permissions.verdict import Decision, Verdict, verdict_of
from sayso.records import replace
from sayso.text import lasting, one_line
from sayso.web.markdown import plain_line
from sayso.web.permission_card import ShownPart, shown_parts

_SUBJECTS = ("command", "file_path", "notebook_path", "path", "pattern", "url", "query", "question", "description")
_WIDTH = 120
_ASKS = re.compile(r"ask[-_]?user|ask_person|AskUserQuestion|request_user_input")
_ABOVE = (PartName.TOOL, PartName.FOLDER)
"""What the line itself or the head of the page says."""
_LOOKS = {"Read", "Grep", "Glob", "LS", "NotebookRead"}
_PLAN = "TodoWrite"
"""The tool by which Claude keeps a list of what is to be done. The plans of all agents are told by it."""
_STEP_STATES = {"completed": "done", "in_progress": "doing"}
_EDITED, _DENIED, _UNDECIDED = "edited", "denied", "undecided"
_WORTH_TELLING = 1_000
"""Milliseconds that the use of a tool must take to be told."""


@dataclass(frozen=True, kw_only=True)
class UsedTool:
    """One use of a tool, as far as it takes to know what became of it."""

    at: int
    digest: str

    @classmethod
    def of(cls, event: RunEvent) -> UsedTool:
        return cls(at=event.at, digest=_digest(event.body["name"], event.body["input"]))


@dataclass(frozen=True, kw_only=True)
class ToolState:
    """How the use of a tool stands: `running`, `done`, `failed`, `denied`, `undecided` if nobody said yes or no before
    its agent let go of it, or `unknown` if its agent ended first."""

    name: str
    took: str = ""
    is_edited: bool = False
    """Whether it was allowed as a person had edited it, and not as its line says."""


@dataclass(frozen=True, kw_only=True)
class PlanStep:
    """One step of an agent's plan: `done`, `doing` or `open`."""

    text: str
    state: str


Decided = Mapping[str, Sequence[tuple[int, str]]]
"""When something was decided in a run, and what, by the digest of the use of a tool: the same may be wanted again."""


def state(run: Run, use: UsedTool | None, result: RunEvent | None, decided: Decided) -> ToolState:
    if result is None:
        return ToolState(name="unknown" if run.state.ended else "running")
    took = result.at - use.at if use else 0
    told = lasting(took) if took >= _WORTH_TELLING else ""
    before = [word for at, word in decided.get(use.digest, ()) if at <= result.at] if use else []
    word = before[-1] if before else ""
    if not result.body["error"]:
        return ToolState(name="done", took=told, is_edited=word == _EDITED)
    # An agent may call denied what it was kept from by an interruption.
    agents = _DENIED if result.body.get("denied") else "failed"
    return ToolState(name=word if word in (_DENIED, _UNDECIDED) else agents, took=told)


def decided(asks: Iterable[Ask]) -> Decided:
    """What became of the permissions among these, for uses of tools."""
    found: dict[str, list[tuple[int, str]]] = {}
    for ask in sorted(asks, key=lambda each: each.ended_at or 0):
        if ask.ended_at and (verdict := verdict_of(ask)):
            found.setdefault(_use_of(ask), []).append((ask.ended_at, _word(verdict)))
    return found


def _word(verdict: Verdict) -> str:
    match verdict.decision:
        case Decision.ALLOWED:
            return _EDITED if verdict.edited else ""
        case Decision.DENIED:
            return _DENIED
        case Decision.UNDECIDED:
            return _UNDECIDED
    return ""


def _use_of(ask: Ask) -> str:
    """The digest of the use of a tool that a permission is for; empty where its texts were not kept."""
    wanted = original_of(ask)
    return _digest(wanted["tool"], trimmed(wanted["data"].get("input", {}))) if wanted else ""


def _digest(tool: str, given: object) -> str:
    return digest_of({"tool": tool, "input": given})


def is_look(body: Mapping[str, Any]) -> bool:
    """Whether it only looks at files."""
    return body["name"] in _LOOKS


def asks(body: Mapping[str, Any]) -> bool:
    """Whether it asks a person: then a card shows what."""
    return _ASKS.search(str(body["name"])) is not None


def plan(body: Mapping[str, Any]) -> list[PlanStep]:
    """The steps of a plan, if the tool keeps one."""
    told = body["input"] if isinstance(body["input"], Mapping) and body["name"] == _PLAN else {}
    return [
        PlanStep(
            text=one_line(words(step.get("content")), 300), state=_STEP_STATES.get(words(step.get("status")), "open")
        )
        for step in items(told.get("todos"))
    ]


def name(body: Mapping[str, Any]) -> str:
    """The tool's name, without the marks that MCP tools are called by."""
    if asks(body):
        return "Asks you"
    parts = str(body["name"]).split("__")
    return one_line(": ".join(parts[1:]) if parts[0] == "mcp" and len(parts) > 2 else str(body["name"]), 60) or "a tool"


def subject(body: Mapping[str, Any], folder: Path) -> str:
    """What it is used on, in one line; a file below the folder of its agent by its name there."""
    given = body["input"] if isinstance(body["input"], Mapping) else {}
    named = (given.get(key) for key in _SUBJECTS)
    texts = (value for value in (*named, body.get("title")) if isinstance(value, str) and value.strip())
    told = next(texts, "").removeprefix(f"{folder}/")
    return plain_line(told, _WIDTH) if asks(body) else one_line(told, _WIDTH)


def given(body: Mapping[str, Any]) -> list[ShownPart]:
    """All that the tool was given, in the blocks of a permission."""
    told = body["input"] if isinstance(body["input"], Mapping) else {}
    action = wanted_action(Permission(tool=str(body["name"]), given=told), "", None)
    if diff := words(body.get("diff")):
        action = replace(action, data={**action.data, "diff": diff})
    return [part for part in shown_parts(action) if part.name not in _ABOVE]
