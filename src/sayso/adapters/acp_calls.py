"""The use of a tool as ACP tells it, in several messages of which each may know more; and as a tool that is known here.

An agent need not say what a tool is given. Then what it does say is shown, and no rule allows it.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sayso.agents.agent import items, mapping, words
from sayso.dialects.approve import Permission, wanted_here
from sayso.permissions.action import Action, ActionKind
from sayso.permissions.edits import unified
from sayso.records import replace
from sayso.rules.uses import NOT_TOLD, UNCLEAR
from sayso.text import one_line

Json = Mapping[str, Any]
TODO = "TodoWrite"
"""The tool by which Claude Code keeps a list of what is to be done: the plans of all agents are shown alike."""
ENDED = ("completed", "failed")
_FOLDERS = ("cwd", "workdir", "working_directory", "directory", "dir_path")
"""How agents may spell from where a path leads on."""
_NAMES = {
    **dict.fromkeys(("filePath", "filepath", "absolute_path", "path"), "file_path"),
    **dict.fromkeys(("oldString", "old_str"), "old_string"),
    **dict.fromkeys(("newString", "new_str"), "new_string"),
    "replaceAll": "replace_all",
    "file_text": "content",
}
"""How agents spell the fields of Claude Code's tools."""
_OF_FILES = ("edit", "delete", "move", "read")
_KINDS = {
    "execute": ActionKind.SHELL,
    **dict.fromkeys(("edit", "delete", "move"), ActionKind.EDIT),
    "read": ActionKind.READ,
    "fetch": ActionKind.FETCH,
}
_UNNAMED = {kind: kind for kind in ("execute", "edit", "delete", "move", "read", "fetch", "search", "think")}
_MOST_NAME = 60
_HEAD = re.compile(r"^(?:---|\+\+\+|Index:) +([^\t\n]+)", re.MULTILINE)
"""The files that the head of a diff names."""


@dataclass(frozen=True, kw_only=True)
class FolderWords:
    """The words in the input of an agent's shell that say where a command is run."""

    chosen: str = ""
    """Where the model says so."""
    added: Mapping[str, str] = field(default_factory=dict)
    """What the agent adds by itself where the model says nothing."""


@dataclass(frozen=True, kw_only=True)
class AcpCall:
    """All that an agent has said of one use of a tool so far."""

    id: str
    folders: FolderWords = FolderWords()
    title: str = ""
    kind: str = "other"
    status: str = "pending"
    name: str = ""
    """Of the tool; empty where the agent does not say."""
    input: Json | None = None
    content: Sequence[Json] = ()
    paths: Sequence[str] = ()
    output: object = None
    unclear: str = ""
    """Why it is not certain what is asked for, where the agent says two things of it."""

    @property
    def has_ended(self) -> bool:
        return self.status in ENDED

    @property
    def given(self) -> Json:
        """The input of the tool, without where it is used: some tell that before the model has said anything else."""
        return {key: value for key, value in (self.input or {}).items() if key not in self.place}

    @property
    def place(self) -> Mapping[str, str]:
        """The word that says where a command is run. Any other that might say so is an input that nothing is known of:
        the model can write what it likes into it, and the agent may go by it or not."""
        given, chosen = self.input or {}, self.folders.chosen
        if self.kind != "execute":
            return {}
        if chosen in given:
            folder = words(given[chosen])
            return {chosen: folder} if folder and not folder.startswith("~") else {}
        return {key: folder for key, folder in self.folders.added.items() if given.get(key) == folder}

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
    before = AcpCall(id=call.id, name=call.name, folders=call.folders, kind=call.kind, title=call.title)
    asked = told_more(before, said)
    if not call.given:
        return asked
    content, paths = asked.content or call.content, asked.paths or call.paths
    asked = replace(asked, content=content, paths=paths)
    if call.kind == asked.kind and call.name in ("", asked.name):
        more = _beyond(call, asked)
        if more.keys() <= {"diff"}:
            return replace(asked, input={**(call.input or {}), **more})
    use = "use" if "use" not in (asked.input or {}) else "use of the tool"
    given = {**(asked.input or {}), use: dict(call.input or {})}
    return replace(asked, input=given, unclear="It asks for something else than it has told of this use of the tool.")


def _beyond(call: AcpCall, asked: AcpCall) -> Json:
    """What the request says that was not told of the use of the tool. The diff that opencode asks with is its own."""
    told, known = ((_renamed(each) if call.kind == "edit" else each) for each in (asked.given, call.given))
    more = {key: value for key, value in told.items() if key not in known or known[key] != value}
    if call.kind == "edit" and "diff" in more and _shows(asked, more["diff"]):
        del more["diff"]
    return more


def _shows(call: AcpCall, diff: object) -> bool:
    """Whether the changes that are shown are those of this diff."""
    from sayso.gates.codex_asks import patched

    hunks = words(diff).partition("\n@@")[2]
    after = [(words(part.get("newText")), patched(words(part.get("oldText")), f"@@{hunks}")) for part in _diffs(call)]
    return bool(hunks) and any(new == made for new, made in after)


def same_request(one: AcpCall, other: AcpCall) -> bool:
    """Whether nothing is asked for by one that is not by the other."""
    return known_as(one) == known_as(other) and _about(one) == _about(other)


def _about(call: AcpCall) -> tuple[object, ...]:
    return call.kind, call.name, call.place, call.unclear, list(call.paths), _diffs(call)


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
    if given.keys() == {"todos"} and "todo" in _tool(call).lower():
        return Permission(tool=TODO, given=given)
    named = _renamed(given) if kind == "edit" else given
    if kind == "edit" and named.keys() >= {"file_path", "old_string", "new_string"}:
        return Permission(tool="Edit", given=named)
    if kind == "edit" and named.keys() >= {"file_path", "content"}:
        return Permission(tool="Write", given=named)
    return Permission(tool=_tool(call), given=given)


def _tool(call: AcpCall) -> str:
    """Its name, else what kind of tool it is. A title is any text, and may be what a rule calls another tool by."""
    return one_line(call.name, _MOST_NAME) or _UNNAMED.get(call.kind, "a tool")


def _renamed(given: Json) -> Json:
    """With Claude Code's names for the fields, unless two of them would become one."""
    renamed = _names(given)
    return renamed if len(renamed) == len(given) else given


def _names(given: Json) -> Json:
    return {_NAMES.get(key, key): value for key, value in given.items()}


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
    action = wanted_here(known_as(call), _folder(call, project))
    data = dict(action.data)
    if diff := _diff(call):
        data["diff"] = diff
    if unclear := _unclear(call, project):
        data[UNCLEAR] = unclear
    if not call.given:
        data[NOT_TOLD] = f"{label} does not tell the whole input of the tool. This is all that it tells."
    kind = action.kind if action.kind is not ActionKind.OTHER else _KINDS.get(call.kind, ActionKind.OTHER)
    return replace(action, kind=kind, data=data)


def _folder(call: AcpCall, project: Path) -> Path:
    return project / next(iter(call.place.values()), "")


def _unclear(call: AcpCall, project: Path) -> str:
    """Why it is not certain what the agent would do; empty where nothing says so. A command is looked through by rules,
    which know all that its input may have."""
    if call.unclear:
        return call.unclear
    if not call.name and call.given and known_as(call).tool == _tool(call):
        return f"Which tool it is the agent does not say, but for its title: {call.title}"
    if call.kind != "edit" and _diffs(call):
        return "It tells changes of a file, but this is no edit."
    if call.kind not in _OF_FILES:
        return ""
    if found := [word for word in _FOLDERS if call.given.get(word)]:
        return f"The file may be meant from another folder: {found[0]}"
    if len(_names(call.given)) < len(call.given):
        return "The input names the same thing twice."
    file = _names(call.given).get("file_path")
    others = [path for path in _named(call) if isinstance(file, str) and not _is_same(project, file, path)]
    return f"The agent names another file as well: {others[0]}" if others else ""


def _named(call: AcpCall) -> Iterator[str]:
    """The files that the agent names beside the input."""
    yield from call.paths
    yield from (words(part.get("path")) for part in _diffs(call))
    head = words(call.given.get("diff")).partition("\n@@")[0]
    yield from _HEAD.findall(head)


def _is_same(project: Path, one: str, other: str) -> bool:
    return os.path.normpath(project / one) == os.path.normpath(project / other)


def _diff(call: AcpCall) -> str:
    """The changes that the agent tells beside the input: those are the ones that it makes."""
    return "\n".join(
        unified(words(part.get("path")), words(part.get("oldText")), words(part.get("newText")))
        for part in _diffs(call)
    )


def _diffs(call: AcpCall) -> Sequence[Json]:
    return [part for part in call.content if part.get("type") == "diff"]
