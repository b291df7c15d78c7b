"""What people are shown of an action: made of its data alone, and complete. Every value of the data is in some part.

Each text is spelt out already; a surface has nothing to do but to put it into a block that no content can leave.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from sayso.asks.model import Ask
from sayso.permissions import words
from sayso.permissions.action import Action, ActionKind, action_from, rules_say, subagent_of
from sayso.permissions.quorum_words import Say, in_words
from sayso.records import record, replace
from sayso.text import exact, exact_diff, exact_words, json_block, json_line

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.-]{1,60}")


class PartName(StrEnum):
    """What a part is: a surface translates these."""

    LINK = "Link"
    COMMAND_LINE = "Command line"
    SHELL = "Shell command"
    CHANGE = "Change"
    PLAN = "Plan"
    STDIN = "Standard input"
    FILE = "File"
    ENVIRONMENT = "Environment"
    FIRST = "Runs first"
    PROGRAM = "Program"
    NO_PROGRAM = "Program not found yet"
    SANDBOX = "Sandbox"
    SKIPPED_IF_THERE = "Skipped if this file is there"
    SKIPPED_IF_MISSING = "Skipped if this file is missing"
    FOLDER = "Folder"
    TOOL = "Tool"
    TOOL_FILE = "Tool file"
    COMPARED = "Compared with"
    INPUT = "Input"
    OFFERED = "Offers the tool"
    NOT_TOLD = "Not told"
    UNCLEAR = "Not certain"
    MORE = "More"
    RULES = "Why you are asked"
    """What the rules say about it: no part of the action."""
    QUORUM = "Who has to agree"
    """Nor is this."""
    SUBAGENT = "Asked by the subagent"
    """Nor this."""
    EDITED = "Edited"


_CONDITIONS = {"exists": PartName.SKIPPED_IF_THERE, "missing": PartName.SKIPPED_IF_MISSING}


@record
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


def parts_of_asking(ask: Ask, say: Say = str) -> tuple[ActionPart, ...]:
    """Which of a session's agents asks, what the rules have to do with a person being asked, and who has to agree
    because of them, as the surface says it."""
    told = {
        PartName.SUBAGENT: subagent_of(ask),
        PartName.QUORUM: "\n".join(in_words(ask, say)),
        PartName.RULES: rules_say(ask),
    }
    return tuple(ActionPart(name=name, text=exact(text)) for name, text in told.items() if text)


def parts_of(action: Action) -> tuple[ActionPart, ...]:
    """Everything, what matters most first."""
    return tuple(_parts(action, {}))


def _parts(action: Action, programs: dict[str, str]) -> Iterator[ActionPart]:
    """`programs` are those that were told already, by the words that find them."""
    told = dict(action.data)
    if action.kind is ActionKind.SEQUENCE:
        for number, step in enumerate(told.pop("steps"), start=1):
            yield from (replace(part, step=number) for part in _parts(action_from(step), programs))
    yield from _not_known(told)
    yield from _links(told)
    yield from _skipped(told)
    yield from _first(action, told, programs)
    yield from _input(told)
    yield from _about(action)
    yield from _rest(told)


def _not_known(told: dict[str, Any]) -> Iterator[ActionPart]:
    """What a yes would be given without knowing: before everything else."""
    for key, name in (("not_told", PartName.NOT_TOLD), ("unclear", PartName.UNCLEAR)):
        if isinstance(told.get(key), str) and told[key]:
            yield ActionPart(name=name, text=exact(told.pop(key)))


def _links(told: dict[str, Any]) -> Iterator[ActionPart]:
    """Which files are meant in truth."""
    if _is_texts(told.get("leads_to")) and told["leads_to"]:
        lines = [f"{words.word(path)} -> {words.word(real)}" for path, real in told.pop("leads_to").items()]
        yield ActionPart(name=PartName.LINK, text="\n".join(lines))


def _first(action: Action, told: dict[str, Any], programs: dict[str, str]) -> Iterator[ActionPart]:
    """What will be done itself. Whatever is told is taken out of `told`."""
    if _is_words(told.get("argv")):
        argv = told.pop("argv")
        yield ActionPart(name=PartName.COMMAND_LINE, text=words.command_line(argv), language="bash")
        yield from _program(argv, told, programs)
    if isinstance(told.get("stdin"), str):
        yield ActionPart(name=PartName.STDIN, text=exact(told.pop("stdin")))
    if _is_texts(told.get("files")):
        for path, text in told.pop("files").items():
            yield ActionPart(name=PartName.FILE, about=exact_words(path), text=exact(text))
    if _is_texts(told.get("environment")):
        lines = [f"{words.word(name)}={words.word(value)}" for name, value in told.pop("environment").items()]
        yield from [ActionPart(name=PartName.ENVIRONMENT, text="\n".join(lines), language="bash")] if lines else []
    yield from _run_first(action, told, programs)
    yield from _sandbox(told)
    if action.kind is ActionKind.SHELL:
        yield from _taken(told, "command", PartName.SHELL, "bash")
    if action.kind is ActionKind.PLAN:
        yield from _taken(told, "plan", PartName.PLAN, "")
    if action.kind is ActionKind.EDIT:
        yield from _edit(told)
    if action.kind is ActionKind.SERVER:
        yield from _offered(told)


def _run_first(action: Action, told: dict[str, Any], programs: dict[str, str]) -> Iterator[ActionPart]:
    """The commands that are run before it, and where, if that is elsewhere."""
    if not isinstance(told.get("first"), list) or not all(map(_is_command, told["first"])):
        return
    for each in told.pop("first"):
        about = "" if each["folder"] == action.folder else f"in {exact_words(each['folder'])}"
        yield ActionPart(name=PartName.FIRST, about=about, text=words.command_line(each["argv"]), language="bash")
        yield from _program(each["argv"], dict(each), programs)


def _program(argv: Sequence[str], told: dict[str, Any], programs: dict[str, str]) -> Iterator[ActionPart]:
    """Which file the first word stands for, unless it has just been told of the same word."""
    if not argv or "program" not in told or not _is_words(told["program"] or []):
        return
    found = told.pop("program")
    text = " -> ".join(map(words.word, found or argv[:1]))
    if programs.get(argv[0]) != text:
        yield ActionPart(name=PartName.PROGRAM if found else PartName.NO_PROGRAM, text=text)
    programs[argv[0]] = text


def _sandbox(told: dict[str, Any]) -> Iterator[ActionPart]:
    """What all of it is kept to."""
    given = told.get("sandbox")
    if not isinstance(given, Mapping) or given.keys() != {"profile", "network", "write"}:
        return
    if not _is_words(given["write"]):
        return
    del told["sandbox"]
    lines = [exact(str(given["profile"])), f"network: {exact(str(given['network']))}"]
    yield ActionPart(
        name=PartName.SANDBOX, text="\n".join([*lines, *(f"writes: {exact(path)}" for path in given["write"])])
    )


def _skipped(told: dict[str, Any]) -> Iterator[ActionPart]:
    """When a step is left out."""
    if _is_texts(told.get("skipped_if")) and told["skipped_if"].keys() <= _CONDITIONS.keys():
        conditions = told.pop("skipped_if")
        yield from (ActionPart(name=_CONDITIONS[name], text=exact(file)) for name, file in conditions.items())


def _taken(told: dict[str, Any], key: str, name: PartName, language: str) -> Iterator[ActionPart]:
    """The text of one field of the input as a part of its own."""
    given = told.get("input")
    if isinstance(given, Mapping) and isinstance(text := given.get(key), str):
        told["input"] = {other: value for other, value in given.items() if other != key}
        told_as = exact if name is PartName.PLAN else exact_words
        yield ActionPart(name=name, text=told_as(text), language=language)


def _edit(told: dict[str, Any]) -> Iterator[ActionPart]:
    given, diff = told.get("input"), told.get("diff")
    for key in ("file_path", "notebook_path"):
        yield from _taken(told, key, PartName.FILE, "")
    if isinstance(diff, str) and diff:
        yield ActionPart(name=PartName.CHANGE, text=exact_diff(diff), language="diff")
        del told["diff"]
        if isinstance(given, Mapping):
            shown = {**_before_and_after(diff), "diff": diff}
            told["input"] = {key: value for key, value in told["input"].items() if not _is_seen(key, value, shown)}


def _offered(told: dict[str, Any]) -> Iterator[ActionPart]:
    """What has changed of a server's tools, then each of them: what it says of itself, and all else."""
    if isinstance(told.get("diff"), str):
        yield ActionPart(name=PartName.CHANGE, text=exact_diff(told.pop("diff")), language="diff")
    if not isinstance(told.get("tools"), Mapping):
        return
    for name, tool in told.pop("tools").items():
        fields = dict(tool) if isinstance(tool, Mapping) else {"": tool}
        if isinstance(said := fields.get("description"), str):
            yield ActionPart(name=PartName.OFFERED, about=words.word(name), text=exact(said))
            del fields["description"]
        # A line for each field: such a list is to be read whole, and nobody opens forty blocks with care.
        lines = [f"{json_line(key)}: {json_line(value)}" for key, value in fields.items()]
        yield ActionPart(name=PartName.MORE, about=words.word(name), text="\n".join(lines), language="json")


def _before_and_after(diff: str) -> dict[str, str]:
    """The two texts that a diff shows, with a gap where it leaves something out."""
    texts = {"-": "", "+": ""}
    for line in diff.split("\n")[2:]:
        for mark in texts:
            texts[mark] += line[1:] + "\n" if line[:1] in (mark, " ") else "\0" if line.startswith("@@") else ""
    return {"old_string": texts["-"], "new_string": texts["+"], "content": texts["+"], "new_source": texts["+"]}


def _is_seen(key: str, value: object, shown: Mapping[str, str]) -> bool:
    """Whether the diff shows all of it, in one piece."""
    return isinstance(value, str) and "\0" not in value and value in shown.get(key, "")


def _input(told: dict[str, Any]) -> Iterator[ActionPart]:
    """The fields of an agent's tool: texts as they are, everything else as JSON."""
    given = told.get("input")
    if not isinstance(given, Mapping):
        return
    del told["input"]
    texts = {key: value for key, value in given.items() if isinstance(value, str) and _PLAIN_NAME.fullmatch(key)}
    for key, text in texts.items():
        told_as = exact_words if key in words.SUBJECTS else exact
        yield ActionPart(name=PartName.INPUT, about=key, text=told_as(text))
    if others := {key: value for key, value in given.items() if key not in texts}:
        yield ActionPart(name=PartName.INPUT, text=json_block(others), language="json")


def _about(action: Action) -> Iterator[ActionPart]:
    yield ActionPart(name=PartName.TOOL, text=exact_words(action.tool))
    yield ActionPart(name=PartName.FOLDER, text=exact_words(action.folder))


def _rest(told: Mapping[str, Any]) -> Iterator[ActionPart]:
    """Whatever there is besides. Nothing is left out because nobody thought of it."""
    told = dict(told)
    for key, name in (("tool_file", PartName.TOOL_FILE), ("file", PartName.COMPARED)):
        if _is_texts(told.get(key)) and told[key]:
            yield ActionPart(name=name, text="\n".join(exact(text) for text in told.pop(key).values()))
    if others := {key: value for key, value in told.items() if value not in (None, "", [], {})}:
        yield ActionPart(name=PartName.MORE, text=json_block(others), language="json")


def _is_command(value: object) -> bool:
    """One of those that run first, with nothing in it that would not be told."""
    if not isinstance(value, Mapping) or not {"argv", "folder"} <= value.keys() <= {"argv", "program", "folder"}:
        return False
    return _is_words(value.get("argv")) and _is_words(value.get("program") or []) and isinstance(value["folder"], str)


def _is_words(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _is_texts(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(each, str) for each in value.values())
