"""Permission to ask: what lets an agent call the tools that ask a person without its client asking for each call first.

Without it nobody is asked anything where no person sits at the client: it refuses the call. Only tools that ask are
named, one by one; never the whole server, whose other tools may run commands.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from sayso.dialects.dialect import ASK_TOOLS
from sayso.errors import CannotEdit
from sayso.install import in_jsonc
from sayso.install.entry import ServerProgram
from sayso.install.notation import at, parsed, with_entry, without_entry

_LEAN_TOOLS = ("ask_user", "get_answers")

MARK = "Written by `sayso install`; `sayso uninstall` removes it."


def tools_of(server: ServerProgram) -> tuple[str, ...]:
    """Those that this server shows."""
    return _LEAN_TOOLS if "--lean" in server.args else ASK_TOOLS


@dataclass(frozen=True, kw_only=True)
class RulesPart:
    """Rules in a list of a JSON file, one for each tool."""

    path: Path
    steps: tuple[str, ...]
    rule: str
    """How one is written, with `{}` for the name of the tool."""
    tools: tuple[str, ...]
    notation: str = "json"

    def is_in(self, text: str) -> bool:
        return any(self._is_ours(item) for item in self._items(text))

    def added(self, text: str) -> str:
        for tool in self.tools:
            items = self._items(text)
            if self.rule.format(tool) not in items:
                text = _changed(self.notation, in_jsonc.put, text, [*self.steps, len(items)], self.rule.format(tool))
        return text

    def removed(self, text: str, made: int) -> str:
        items = self._items(text)
        for place in reversed(range(len(items))):
            if self._is_ours(items[place]):
                text = _changed(self.notation, in_jsonc.drop, text, [*self.steps, place])
        return _without_empty(self.notation, text, self.steps)

    def makes(self, text: str) -> int:
        return 0

    def against(self, text: str) -> list[str]:
        """What a person has decided of these tools that the grant does not change, as they have written it."""
        whole = (self.rule.removesuffix("__{}"), self.rule.format("*"))
        named = {*whole, *(self.rule.format(tool) for tool in self.tools)}
        lists = {name: at(parsed(self.notation, text), (*self.steps[:-1], name)) for name in ("deny", "ask")}
        return [
            f"{name}: {item}"
            for name, items in lists.items()
            for item in (items if isinstance(items, list) else [])
            if isinstance(item, str) and item in named
        ]

    def _items(self, text: str) -> list[Any]:
        items = at(parsed(self.notation, text), self.steps)
        return items if isinstance(items, list) else []

    def _is_ours(self, item: object) -> bool:
        return item in [self.rule.format(tool) for tool in ASK_TOOLS]


@dataclass(frozen=True, kw_only=True)
class ApprovalsPart:
    """Codex: a table for each tool, below that of the server. What a person has decided of a tool stays."""

    path: Path
    server: tuple[str, ...]
    tools: tuple[str, ...]

    def is_in(self, text: str) -> bool:
        return any(self._found(text, tool) == _APPROVED for tool in ASK_TOOLS)

    def added(self, text: str) -> str:
        for tool in self.tools:
            found = self._found(text, tool) or {}
            if "approval_mode" not in found:
                text = with_entry("toml", text, self._steps(tool), {**found, **_APPROVED})
        return text

    def removed(self, text: str, made: int) -> str:
        ours = [tool for tool in ASK_TOOLS if self._found(text, tool) == _APPROVED]
        if len(ours) == len(at(parsed("toml", text), (*self.server, "tools")) or {}):
            return without_entry("toml", text, (*self.server, "tools"), 0)
        for tool in ours:
            text = without_entry("toml", text, self._steps(tool), 0)
        return text

    def makes(self, text: str) -> int:
        return 0

    def against(self, text: str) -> list[str]:
        """What a person has decided of these tools that the grant does not change."""
        found = {tool: self._found(text, tool) for tool in self.tools}
        modes = {tool: one.get("approval_mode", "approve") for tool, one in found.items() if isinstance(one, dict)}
        return [f"{tool}: approval_mode is {mode}" for tool, mode in modes.items() if mode != "approve"]

    def _steps(self, tool: str) -> tuple[str, ...]:
        return (*self.server, "tools", tool)

    def _found(self, text: str, tool: str) -> Any:
        return at(parsed("toml", text), self._steps(tool))


_APPROVED = {"approval_mode": "approve"}


@dataclass(frozen=True, kw_only=True)
class FilePart:
    """A whole file of ours in a folder from which a client reads every file."""

    path: Path
    text: str
    mark: ClassVar[str] = MARK
    foreign: ClassVar[str] = "is somebody else's. Rename it and run this again."

    def is_in(self, text: str) -> bool:
        return self.mark in text

    def added(self, text: str) -> str:
        if text.strip() and not self.is_in(text):
            raise CannotEdit(self.foreign)
        return self.text

    def removed(self, text: str, made: int) -> str:
        return ""

    def makes(self, text: str) -> int:
        return 0


def gemini_policy(server: str, tools: Sequence[str]) -> str:
    """A rule of Gemini's policy engine."""
    names = json.dumps(list(tools))
    rule = f'[[rule]]\nmcpName = "{server}"\ntoolName = {names}\ndecision = "allow"\npriority = 500\n'
    return f"# {MARK}\n# Lets the agent call the tools that ask you; no tool that runs a command.\n{rule}"


def copilot_hook(server: str, tools: Sequence[str]) -> str:
    """A hook that allows calls of these tools. It looks at the name itself too: if a version of the client ran it for
    every tool, it would still allow no other."""
    names = "|".join(tools)
    allow = json.dumps({"permissionDecision": "allow", "permissionDecisionReason": "It asks the user."})
    pattern = f'"toolName": *"{server}-({names})"'
    hook = {
        "type": "command",
        "matcher": f"^{server}-({names})$",
        "bash": f"if grep -qE '{pattern}'; then echo '{allow}'; fi",
        "powershell": f"if (($input | Out-String) -match '{pattern}') {{ Write-Output '{allow}' }}",
        "comment": MARK,
    }
    return json.dumps({"version": 1, "hooks": {"preToolUse": [hook]}}, indent=2) + "\n"


def _without_empty(notation: str, text: str, steps: Sequence[str]) -> str:
    """Without the list and what is around it, where nothing else is in them."""
    for length in range(len(steps), 0, -1):
        if at(parsed(notation, text), steps[:length]) not in ([], {}):
            break
        text = _changed(notation, in_jsonc.drop, text, steps[:length])
    return text


def _changed(notation: str, change: Any, text: str, steps: Sequence[str | int], *value: Any) -> str:
    """The changed text, once it is sure that it can still be read."""
    try:
        changed: str = change(text, steps, *value)
    except ValueError as error:
        where = ".".join(step for step in steps if isinstance(step, str))
        raise CannotEdit(f'cannot take a rule: {error}. Fix its "{where}" and run this again.') from error
    parsed(notation, changed)
    return changed
