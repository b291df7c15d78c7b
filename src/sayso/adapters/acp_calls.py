"""The use of a tool as ACP tells it, in several messages of which each may know more; and as a tool that is known here.

An agent need not say what a tool is given. Then what it does say is shown, and no rule allows it.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sayso.agents.agent import items, mapping, words
from sayso.dialects.approve import Permission, wanted_action
from sayso.permissions.action import Action, ActionKind
from sayso.permissions.edits import path_of, unified
from sayso.permissions.seen_file import seen
from sayso.records import replace
from sayso.rules.uses import NOT_TOLD
from sayso.text import one_line

Json = Mapping[str, Any]
TODO = "TodoWrite"
"""The tool by which Claude Code keeps a list of what is to be done: the plans of all agents are shown alike."""
ENDED = ("completed", "failed")
_FOLDERS = ("cwd", "workdir", "directory")
"""How agents spell where a command is run."""
_NAMES = {
    **dict.fromkeys(("filePath", "absolute_path", "path"), "file_path"),
    **dict.fromkeys(("oldString", "old_str"), "old_string"),
    **dict.fromkeys(("newString", "new_str"), "new_string"),
    "replaceAll": "replace_all",
    "file_text": "content",
}
"""How agents spell the fields of Claude Code's tools."""
_KINDS = {
    "execute": ActionKind.SHELL,
    **dict.fromkeys(("edit", "delete", "move"), ActionKind.EDIT),
    "read": ActionKind.READ,
    "fetch": ActionKind.FETCH,
}
_MOST_NAME = 60


@dataclass(frozen=True, kw_only=True)
class AcpCall:
    """All that an agent has said of one use of a tool so far."""

    id: str
    title: str = ""
    kind: str = "other"
    status: str = "pending"
    name: str = ""
    """Of the tool; empty where the agent does not say."""
    input: Json | None = None
    content: Sequence[Json] = ()
    paths: Sequence[str] = ()
    output: object = None

    @property
    def has_ended(self) -> bool:
        return self.status in ENDED

    @property
    def given(self) -> Json:
        """The input of the tool, without where it is used: some tell that before the model has said anything else."""
        return {key: value for key, value in (self.input or {}).items() if key not in _FOLDERS}

    @property
    def is_begun(self) -> bool:
        """Whether there is something to show of it."""
        return self.status != "pending" or bool(self.given)

    @property
    def text(self) -> str:
        """What came of it, in words."""
        told = [words(mapping(part.get("content")).get("text")) for part in self.content if part.get("type") != "diff"]
        return "\n".join(text for text in told if text) or _in_words(self.output)


def told_more(before: AcpCall, said: Json) -> AcpCall:
    """The call with what a message says of it. What a message leaves out stays."""
    given = said.get("rawInput")
    paths = [words(place.get("path")) for place in items(said.get("locations"))]
    return replace(
        before,
        title=words(said.get("title")) or before.title,
        kind=words(said.get("kind")) or before.kind,
        status=words(said.get("status")) or before.status,
        name=words(mapping(said.get("_meta")).get("toolName")) or before.name,
        input=given if isinstance(given, dict) and given else before.input,
        content=items(said.get("content")) or before.content,
        paths=[path for path in paths if path] or before.paths,
        output=said.get("rawOutput", before.output),
    )


def _in_words(output: object) -> str:
    if isinstance(output, str):
        return output
    told = mapping(output)
    return next((text for key in ("output", "content", "message", "error") if (text := words(told.get(key)))), "")


def asked_for(call: AcpCall, said: Json) -> AcpCall:
    """What a request for a permission is about: what it says itself, with the input that the use of the tool was told
    with, if both say the same. Some tell less of the input with the request, and some ask about something else that
    the same call would need."""
    asked = told_more(AcpCall(id=call.id, name=call.name), said)
    if not call.given:
        return replace(asked, input=asked.input or None)
    if asked.input is None or _agree(call, asked):
        return replace(asked, input=call.input, content=asked.content or call.content, paths=asked.paths or call.paths)
    return replace(asked, input={**asked.input, "use": dict(call.input or {})})


def _agree(call: AcpCall, asked: AcpCall) -> bool:
    given, told = call.given, asked.input or {}
    same_command = "command" not in told or told["command"] == given.get("command")
    path = _renamed(given).get("file_path")
    same_file = call.kind != "edit" or list(asked.paths) in ([path], [])
    return call.kind == asked.kind and same_command and same_file


def known_as(call: AcpCall) -> Permission:
    """The tool and its input, in the words of Claude Code's where one of those does the same: then the same rules hold,
    and the same is shown."""
    given, kind = call.given, call.kind
    if not given:
        return Permission(tool=_tool(call), given=dict(_all_that_is_told(call)))
    if kind == "execute" and isinstance(given.get("command"), str):
        return Permission(tool="Bash", given=given)
    if kind == "fetch" and isinstance(given.get("url"), str):
        return Permission(tool="WebFetch", given=given)
    if isinstance(given.get("todos"), list):
        return Permission(tool=TODO, given=given)
    named = _renamed(given) if kind == "edit" else given
    if kind == "edit" and named.keys() >= {"file_path", "old_string", "new_string"}:
        return Permission(tool="Edit", given=named)
    if kind == "edit" and named.keys() >= {"file_path", "content"}:
        return Permission(tool="Write", given=named)
    return Permission(tool=_tool(call), given=given)


def _tool(call: AcpCall) -> str:
    return one_line(call.name or call.title, _MOST_NAME) or call.kind


def _renamed(given: Json) -> Json:
    """With Claude Code's names for the fields, unless two of them would become one."""
    renamed = {_NAMES.get(key, key): value for key, value in given.items()}
    return renamed if len(renamed) == len(given) else given


def _all_that_is_told(call: AcpCall) -> Iterator[tuple[str, Any]]:
    """What there is to show of a call whose input the agent does not tell."""
    if call.kind == "execute":
        yield "command", call.title
    elif call.title:
        yield "title", call.title
    if call.text:
        yield "description", call.text
    if len(call.paths) == 1 and call.kind in ("edit", "read"):
        yield "file_path", call.paths[0]
    elif call.paths:
        yield "paths", list(call.paths)


def action_of(call: AcpCall, project: Path, label: str) -> Action:
    """What the agent wants to do, as things stand now."""
    permission, folder = known_as(call), _folder(call, project)
    named = path_of(permission.tool, permission.given)
    action = wanted_action(permission, os.path.realpath(folder), seen(folder / named) if named else None)
    data = dict(action.data)
    if diff := _diff(call):
        data["diff"] = diff
    if not call.given:
        data[NOT_TOLD] = f"{label} does not tell the whole input of the tool. This is all that it tells."
    kind = action.kind if action.kind is not ActionKind.OTHER else _KINDS.get(call.kind, ActionKind.OTHER)
    return replace(action, kind=kind, data=data)


def _folder(call: AcpCall, project: Path) -> Path:
    given = call.input or {}
    return next((project / given[key] for key in _FOLDERS if words(given.get(key))), project)


def _diff(call: AcpCall) -> str:
    """The changes that the agent tells beside the input: those are the ones that it makes."""
    return "\n".join(
        unified(words(part.get("path")), words(part.get("oldText")), words(part.get("newText")))
        for part in call.content
        if part.get("type") == "diff"
    )
