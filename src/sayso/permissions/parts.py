"""What people are shown of an action: made of its data alone, and complete. Every value of the data is in some part.

Each text is spelt out already; a surface has nothing to do but to put it into a block that no content can leave.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from sayso.permissions import words
from sayso.permissions.action import Action, ActionKind, action_from
from sayso.text import exact, json_block

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.-]{1,60}")


class PartName(StrEnum):
    """What a part is: a surface translates these."""

    COMMAND_LINE = "Command line"
    SHELL = "Shell command"
    CHANGE = "Change"
    PLAN = "Plan"
    STDIN = "Standard input"
    FILE = "File"
    ENVIRONMENT = "Environment"
    BEFORE = "Runs first"
    FOLDER = "Folder"
    TOOL = "Tool"
    TOOL_FILE = "Tool file"
    COMPARED = "Compared with"
    INPUT = "Input"
    MORE = "More"
    EDITED = "Edited"


@dataclass(frozen=True, kw_only=True)
class ActionPart:
    """One block of what is shown. `about` says which, where there are several of a name; `step` counts from 1 in a
    sequence. Both are spelt out too."""

    name: PartName
    text: str
    language: str = ""
    about: str = ""
    step: int = 0

    @property
    def label(self) -> str:
        """What it is called, in English."""
        said = f"{self.name} {self.about}" if self.about else str(self.name)
        return f"Step {self.step}: {said}" if self.step else said


def parts_of(action: Action) -> tuple[ActionPart, ...]:
    """Everything, what matters most first."""
    if action.kind is ActionKind.SEQUENCE:
        steps = (
            replace(part, step=number)
            for number, step in enumerate(action.data["steps"], start=1)
            for part in parts_of(action_from(step))
        )
        others = {key: value for key, value in action.data.items() if key != "steps"}
        return (*steps, *_about(action), *_rest(others))
    told = dict(action.data)
    return (*_first(action, told), *_input(told), *_about(action), *_rest(told))


def _first(action: Action, told: dict[str, Any]) -> Iterator[ActionPart]:
    """What will be done itself. Whatever is told is taken out of `told`."""
    if _is_words(told.get("argv")):
        yield ActionPart(name=PartName.COMMAND_LINE, text=words.command_line(told.pop("argv")), language="bash")
    if isinstance(told.get("stdin"), str):
        yield ActionPart(name=PartName.STDIN, text=exact(told.pop("stdin")))
    if _is_texts(told.get("files")):
        for path, text in told.pop("files").items():
            yield ActionPart(name=PartName.FILE, about=exact(path), text=exact(text))
    if _is_texts(told.get("environment")):
        lines = [f"{words.word(name)}={words.word(value)}" for name, value in told.pop("environment").items()]
        yield from [ActionPart(name=PartName.ENVIRONMENT, text="\n".join(lines), language="bash")] if lines else []
    if _is_words(told.get("before")):
        line = words.command_line(told.pop("before"))
        yield from [ActionPart(name=PartName.BEFORE, text=line, language="bash")] if line else []
    if action.kind is ActionKind.SHELL:
        yield from _taken(told, "command", PartName.SHELL, "bash")
    if action.kind is ActionKind.PLAN:
        yield from _taken(told, "plan", PartName.PLAN, "")
    if action.kind is ActionKind.EDIT:
        yield from _edit(told)


def _taken(told: dict[str, Any], key: str, name: PartName, language: str) -> Iterator[ActionPart]:
    """The text of one field of the input as a part of its own."""
    given = told.get("input")
    if isinstance(given, Mapping) and isinstance(text := given.get(key), str):
        told["input"] = {other: value for other, value in given.items() if other != key}
        yield ActionPart(name=name, text=exact(text), language=language)


def _edit(told: dict[str, Any]) -> Iterator[ActionPart]:
    given, diff = told.get("input"), told.get("diff")
    for key in ("file_path", "notebook_path"):
        yield from _taken(told, key, PartName.FILE, "")
    if isinstance(diff, str) and diff:
        yield ActionPart(name=PartName.CHANGE, text=exact(diff), language="diff")
        del told["diff"]
        if isinstance(given, Mapping):
            shown = _before_and_after(diff)
            told["input"] = {key: value for key, value in told["input"].items() if not _is_seen(key, value, shown)}


def _before_and_after(diff: str) -> dict[str, str]:
    """The two texts that a diff shows, with a gap where it leaves something out."""
    texts = {"-": "", "+": ""}
    for line in diff.split("\n")[2:]:
        for mark in texts:
            texts[mark] += line[1:] + "\n" if line[:1] in (mark, " ") else "\0" if line.startswith("@@") else ""
    return {"old_string": texts["-"], "new_string": texts["+"], "content": texts["+"], "new_source": texts["+"]}


def _is_seen(key: str, value: object, shown: Mapping[str, str]) -> bool:
    """Whether the diff shows all of it, in one piece."""
    return isinstance(value, str) and "\0" not in value and words.returns_spelt(value) in shown.get(key, "")


def _input(told: dict[str, Any]) -> Iterator[ActionPart]:
    """The fields of an agent's tool: texts as they are, everything else as JSON."""
    given = told.get("input")
    if not isinstance(given, Mapping):
        return
    del told["input"]
    texts = {key: value for key, value in given.items() if isinstance(value, str) and _PLAIN_NAME.fullmatch(key)}
    for key, text in texts.items():
        yield ActionPart(name=PartName.INPUT, about=key, text=exact(text))
    if others := {key: value for key, value in given.items() if key not in texts}:
        yield ActionPart(name=PartName.INPUT, text=json_block(others), language="json")


def _about(action: Action) -> Iterator[ActionPart]:
    yield ActionPart(name=PartName.TOOL, text=exact(action.tool))
    yield ActionPart(name=PartName.FOLDER, text=exact(action.folder))


def _rest(told: Mapping[str, Any]) -> Iterator[ActionPart]:
    """Whatever there is besides. Nothing is left out because nobody thought of it."""
    told = dict(told)
    for key, name in (("tool_file", PartName.TOOL_FILE), ("file", PartName.COMPARED)):
        if _is_texts(told.get(key)) and told[key]:
            yield ActionPart(name=name, text="\n".join(exact(text) for text in told.pop(key).values()))
    if others := {key: value for key, value in told.items() if value not in (None, "", [], {})}:
        yield ActionPart(name=PartName.MORE, text=json_block(others), language="json")


def _is_words(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _is_texts(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(each, str) for each in value.values())
