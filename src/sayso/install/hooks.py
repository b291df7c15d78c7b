"""The hook by which Claude Code hands late answers to its agent: an entry for some events in its settings file."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sayso.errors import CannotEdit
from sayso.install import in_json
from sayso.install.notation import at, parsed

EVENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse")
"""The steps of an agent at which its client takes more context."""

SECONDS = 5
"""After which the client gives the hook up; it ends by itself long before."""

_OURS = re.compile(r"\b(?:sayso|auq)(?:\.exe)?['\"]? hook\b")


@dataclass(frozen=True, kw_only=True)
class HookPart:
    """The hook in a settings file of Claude Code."""

    path: Path
    argv: Sequence[str]

    def entry(self) -> dict[str, Any]:
        return hook_entry(self.argv)

    def is_in(self, text: str) -> bool:
        return any(_ours(item) for event in EVENTS for item in _hooks(text, event))

    def added(self, text: str) -> str:
        for event in EVENTS:
            items = _hooks(text, event)
            place = next((place for place, item in enumerate(items) if _ours(item)), len(items))
            if place == len(items) or items[place] != self.entry():
                text = _kept(text, in_json.put, ["hooks", event, place], self.entry())
        return text

    def removed(self, text: str, made: int) -> str:
        for event in EVENTS:
            items = _hooks(text, event)
            for place in reversed(range(len(items))):
                if _ours(items[place]):
                    text = _kept(text, in_json.drop, ["hooks", event, place])
            if at(parsed("json", text), ["hooks", event]) == []:
                text = _kept(text, in_json.drop, ["hooks", event])
        if at(parsed("json", text), ["hooks"]) == {}:
            text = _kept(text, in_json.drop, ["hooks"])
        return text

    def makes(self, text: str) -> int:
        return 0


def hook_entry(argv: Sequence[str]) -> dict[str, Any]:
    command = shlex.join(argv) if os.name == "posix" else subprocess.list2cmdline(argv)
    return {"hooks": [{"type": "command", "command": command, "timeout": SECONDS}]}


def registered_command(text: str) -> str | None:
    """The command of our hook that a settings file names."""
    found = (hook for event in EVENTS for item in _hooks(text, event) if _ours(item) for hook in item["hooks"])
    return next((str(hook["command"]) for hook in found if _OURS.search(str(hook.get("command", "")))), None)


def _hooks(text: str, event: str) -> list[Any]:
    items = at(parsed("json", text), ["hooks", event])
    return items if isinstance(items, list) else []


def _ours(item: Any) -> bool:
    hooks = item.get("hooks") if isinstance(item, dict) else None
    return isinstance(hooks, list) and any(
        isinstance(hook, dict) and _OURS.search(str(hook.get("command", ""))) for hook in hooks
    )


def _kept(text: str, change: Any, path: Sequence[str | int], *value: Any) -> str:
    """The changed text, once it is sure that it can still be read."""
    try:
        changed: str = change(text, path, *value)
    except ValueError as error:
        raise CannotEdit(f'cannot take a hook: {error}. Fix its "hooks" and run this again.') from error
    parsed("json", changed)
    return changed
