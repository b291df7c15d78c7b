"""The hooks that start Sayso, as entries for some events in a client's settings file, spelt as Claude Code spells them:
one hands late answers to its agent, one brings its permission prompts into the inbox."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sayso.errors import CannotEdit
from sayso.install import in_jsonc
from sayso.install.notation import at, parsed

EVENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse")
"""The steps of an agent at which its client takes more context."""

SECONDS = 5
"""After which the client gives the hook up; it ends by itself long before."""

PROMPTS = "PermissionRequest"
"""The event of a prompt."""

PROMPT_SECONDS = 86_400
"""After which the client gives up on a prompt in the inbox, and its own goes on alone."""

SESSIONS = ("SessionStart", "SessionEnd")
"""The events of a session's begin and end."""

NOTE_SECONDS = 60
"""After which the client ends a hook that only takes note, and that it does not wait for."""

LATE_ANSWERS = "hook"
"""What our program is started with."""


@dataclass(frozen=True, kw_only=True)
class HookPart:
    """The hook for late answers in a settings file of Claude Code."""

    path: Path
    program: Sequence[str]
    notation: str = "json"

    @property
    def events(self) -> Sequence[str]:
        return EVENTS

    @property
    def arguments(self) -> str:
        return LATE_ANSWERS

    def entry(self, event: str) -> dict[str, Any]:
        return hook_entry(self.program)

    def is_in(self, text: str) -> bool:
        return any(self._is_ours(item) for event in self.events for item in _hooks(self.notation, text, event))

    def missing(self, text: str) -> Sequence[str]:
        """The events at which our program is to be started and is not."""
        return [event for event in self.events if not any(map(self._is_ours, _hooks(self.notation, text, event)))]

    def added(self, text: str) -> str:
        for event in self.events:
            items = _hooks(self.notation, text, event)
            place = next((place for place, item in enumerate(items) if self._is_ours(item)), len(items))
            if place == len(items) or items[place] != self.entry(event):
                text = _kept(self.notation, text, in_jsonc.put, ["hooks", event, place], self.entry(event))
        return text

    def removed(self, text: str, made: int) -> str:
        for event in self.events:
            items = _hooks(self.notation, text, event)
            for place in reversed(range(len(items))):
                if self._is_ours(items[place]):
                    text = _kept(self.notation, text, in_jsonc.drop, ["hooks", event, place])
            if at(parsed(self.notation, text), ["hooks", event]) == []:
                text = _kept(self.notation, text, in_jsonc.drop, ["hooks", event])
        if at(parsed(self.notation, text), ["hooks"]) == {}:
            text = _kept(self.notation, text, in_jsonc.drop, ["hooks"])
        return text

    def makes(self, text: str) -> int:
        return 0

    def _is_ours(self, item: Any) -> bool:
        return any(_starts(hook, self.arguments) for hook in _commands(item))


@dataclass(frozen=True, kw_only=True)
class GatePart(HookPart):
    """The hook for permission prompts, of a client that has Claude Code's way to name one."""

    client: str = "claude-code"
    event: str = PROMPTS
    at_start: str = ""
    """Another event at which the gate is started: that of a new session, where its client needs that."""
    beside: Sequence[str] = ()
    """Events that the gate only takes note of, while its client goes on."""
    limit: int = PROMPT_SECONDS
    """After which the client gives up, in its own unit."""

    @property
    def events(self) -> Sequence[str]:
        return (*((self.at_start,) if self.at_start else ()), self.event, *self.beside)

    @property
    def arguments(self) -> str:
        return f"gate {self.client}"

    def entry(self, event: str) -> dict[str, Any]:
        if event in self.beside:
            return session_entry(self.program)
        return gate_entry(self.program, self.client, self.limit)

    def command(self, text: str) -> str | None:
        """What starts the gate, by the text of the file."""
        found = (hook for item in _hooks(self.notation, text, self.event) for hook in _commands(item))
        return next((str(hook["command"]) for hook in found if _starts(hook, self.arguments)), None)


def hook_entry(program: Sequence[str]) -> dict[str, Any]:
    return _entry(_line([*program, LATE_ANSWERS]), SECONDS)


def gate_entry(program: Sequence[str], client: str = "claude-code", limit: int = PROMPT_SECONDS) -> dict[str, Any]:
    return _entry(gate_line(program, client), limit)


def session_entry(program: Sequence[str]) -> dict[str, Any]:
    """For Claude Code's sessions: it does not wait for such a hook, and lets it end after itself."""
    (hook,) = _entry(gate_line(program, "claude-code"), NOTE_SECONDS)["hooks"]
    return {"hooks": [{**hook, "async": True}]}


def gate_line(program: Sequence[str], client: str) -> str:
    """In the place of the shell, so that the client ends this very process when its own prompt was answered."""
    line = _line([*program, "gate", client])
    return f"exec {line}" if os.name == "posix" else line


def _line(argv: Sequence[str]) -> str:
    return shlex.join(argv) if os.name == "posix" else subprocess.list2cmdline(argv)


def _entry(command: str, seconds: int) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": command, "timeout": seconds}]}


def registered_command(text: str) -> str | None:
    """The command for late answers that a settings file names."""
    found = (hook for event in EVENTS for item in _hooks("json", text, event) for hook in _commands(item))
    return next((str(hook["command"]) for hook in found if _starts(hook, LATE_ANSWERS)), None)


def _hooks(notation: str, text: str, event: str) -> list[Any]:
    items = at(parsed(notation, text), ["hooks", event])
    return items if isinstance(items, list) else []


def _commands(item: Any) -> list[Mapping[str, Any]]:
    hooks = item.get("hooks") if isinstance(item, dict) else None
    return [hook for hook in hooks if isinstance(hook, dict)] if isinstance(hooks, list) else []


def _starts(hook: Mapping[str, Any], arguments: str) -> bool:
    """Whether a hook starts our program with these."""
    ours = rf"\b(?:sayso|auq)(?:\.exe)?['\"]? {arguments}\b"
    return re.search(ours, str(hook.get("command", ""))) is not None


def _kept(notation: str, text: str, change: Any, path: Sequence[str | int], *value: Any) -> str:
    """The changed text, once it is sure that it can still be read."""
    try:
        changed: str = change(text, path, *value)
    except ValueError as error:
        raise CannotEdit(f'cannot take a hook: {error}. Fix its "hooks" and run this again.') from error
    parsed(notation, changed)
    return changed
