"""What Codex's server asks its clients, as an action or as questions for the inbox; and the verdict in its words.

What is not understood to the last field is not asked: its own prompt in the terminal is there as well.
"""

from __future__ import annotations

import json
import os.path
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayso.asks.handed_files import with_files
from sayso.asks.model import Answer, Ask, Asker, Kind, NewAsk, Option, Question, Settler, State
from sayso.config import Config
from sayso.dialects.approve import Permission
from sayso.dialects.outcomes import refusal_words, selected_labels
from sayso.gates.client import GateVerdict, OwnPrompt, Prompt
from sayso.gates.codex_server import COMMAND, MCP_TOOL, PATCH
from sayso.gates.prompts import AskedPermission
from sayso.linked_paths import links_in
from sayso.permissions.action import Action, ActionKind
from sayso.permissions.edits import unified
from sayso.permissions.seen_file import SeenFile, seen
from sayso.rules.programs import USUAL_FOLDERS

if TYPE_CHECKING:
    from sayso.desks import Desks

Json = Mapping[str, Any]
SHELL, OWN_QUESTIONS = "Bash", "request_user_input"
_SHELLS = ("bash", "sh", "zsh", "dash")
_NOTHING_OF_IT = (
    *("threadId", "turnId", "itemId", "approvalId", "startedAtMs", "environmentId", "kind", "command", "cwd", "reason"),
    *("commandActions", "proposedExecpolicyAmendment", "proposedNetworkPolicyAmendments", "availableDecisions"),
)
"""Fields of a command's prompt that are told otherwise, name it, or are what else could be chosen in the terminal."""
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@.*")


class AskedAction(AskedPermission):
    """A permission for an action that is made anew whenever it is to be compared."""

    def __init__(
        self, wanted: Callable[[], Action], prompt: Prompt, asker: Asker, config: Config, desks: Desks
    ) -> None:
        self._wanted = wanted
        super().__init__(prompt, asker, config, desks)

    def _as_it_is(self) -> Action:
        return self._wanted()


def asked_action(
    method: str,
    params: Json,
    changes: Sequence[Json],
    folder: Path,
    own_prompt: OwnPrompt,
    asker: Asker,
    config: Config,
    desks: Desks,
) -> AskedAction:
    """The command or the changes of files that its server asks for, as a permission."""

    def wanted() -> Action:
        return command_action(params, folder) if method == COMMAND else change_action(changes, params, folder)

    action = wanted()
    prompt = Prompt(
        permission=Permission(tool=action.tool, given=action.data["input"]),
        session=asker.session,
        version=asker.version,
        process=asker.pid,
        folder=Path(action.folder),
        own_prompt=own_prompt,
    )
    return AskedAction(wanted, prompt, asker, config, desks)


def takes_accept(params: Json) -> bool:
    """Whether a plain yes to this very thing is among what its server takes."""
    offered = params.get("availableDecisions")
    return not params.get("grantRoot") and (offered is None or (isinstance(offered, list) and "accept" in offered))


# Calls of MCP servers' tools


def meant_calls(params: Json, calls: Iterable[Json]) -> list[Json]:
    """Those that this may ask for: it tells only the server and the arguments."""
    server, given = params["serverName"], _text(params["_meta"].get("tool_params"))
    return [call for call in calls if call["server"] == server and _text(call["arguments"]) == given]


def wanted_call(params: Json, calls: Iterable[Json]) -> Permission:
    """ValueError where it is not certain which tool would be called with what."""
    tools = {call["tool"] for call in meant_calls(params, calls)}
    given = params["_meta"].get("tool_params")
    if len(tools) != 1 or not isinstance(given, dict):
        raise ValueError("it is not certain which call of a tool is meant")
    return Permission(tool=MCP_TOOL.format(server=params["serverName"], tool=min(tools)), given=given)


def asked_call(
    wanted: Permission, folder: Path, own_prompt: OwnPrompt, asker: Asker, config: Config, desks: Desks
) -> AskedPermission:
    prompt = Prompt(
        permission=wanted,
        session=asker.session,
        version=asker.version,
        process=asker.pid,
        folder=folder,
        own_prompt=own_prompt,
    )
    return AskedPermission(prompt, asker, config, desks)


def _text(given: Any) -> str:
    """The same for the same data alone: 1 is not true."""
    return json.dumps(given, sort_keys=True)


# Commands


def command_action(params: Json, folder: Path) -> Action:
    """ValueError where it is no command that is asked for."""
    line = params.get("command")
    if params.get("kind", "command") != "command" or not isinstance(line, str) or not line:
        raise ValueError("it does not say which command")
    given: dict[str, Any] = {"command": in_shell(line)}
    if params.get("reason"):
        given["description"] = params["reason"]
    # Whatever else it asks for, such as the network or more folders: it is shown, and no rule allows it.
    given.update({key: value for key, value in params.items() if key not in _NOTHING_OF_IT and value is not None})
    where = os.path.realpath(params.get("cwd") or folder)
    return Action(kind=ActionKind.SHELL, tool=SHELL, folder=where, data={"input": given, "runs": line})


def in_shell(line: str) -> str:
    """What a shell is given, where the line is one that starts a shell for it and does nothing else."""
    try:
        words = shlex.split(line)
    except ValueError:
        return line
    if len(words) == 3 and words[1] in ("-c", "-lc"):
        where, name = os.path.split(words[0])
        if name in _SHELLS and where in USUAL_FOLDERS:
            return words[2]
    return line


# Changes of files


def change_action(changes: Sequence[Json], params: Json, folder: Path) -> Action:
    """The changes as a diff against the files as they are. ValueError where one of them is not understood."""
    if not changes:
        raise ValueError("it does not say which files")
    files = [seen(folder / _path(change)) for change in changes]
    diff = "\n".join(_diff(change, file) for change, file in zip(changes, files, strict=True))
    data: dict[str, Any] = {"input": _given(changes), "diff": diff}
    if params.get("reason"):
        data["input"]["description"] = params["reason"]
    if len(files) == 1:
        data["file"] = files[0].plain
    else:
        data["compared"] = [file.plain for file in files]
    if links := links_in(data["input"], folder):
        data["leads_to"] = links
    return Action(kind=ActionKind.EDIT, tool=PATCH, folder=os.path.realpath(folder), data=data)


def _path(change: Json) -> str:
    path = change.get("path")
    if not isinstance(path, str) or not path or not isinstance(change.get("diff"), str) or _kind(change) == "":
        raise ValueError("it does not say what changes in which file")
    return path


def _kind(change: Json) -> str:
    kind = change.get("kind")
    named = kind.get("type") if isinstance(kind, Mapping) else None
    return named if named in ("add", "update", "delete") else ""


def _moved_to(change: Json) -> str:
    return str(change["kind"].get("move_path") or "")


def _given(changes: Sequence[Json]) -> dict[str, Any]:
    told = [
        {"path": _path(change), "change": _kind(change)}
        | ({"move_path": _moved_to(change)} if _moved_to(change) else {})
        for change in changes
    ]
    if len(told) == 1 and "move_path" not in told[0]:
        return {"file_path": told[0]["path"], "change": told[0]["change"]}
    return {"changes": told}


def _diff(change: Json, file: SeenFile) -> str:
    path, text = _path(change), change["diff"]
    after: str | None = ""
    match _kind(change):
        case "add":
            after = text
        case "update":
            after = patched(file.text, text) if file.text is not None else None
    if after is None:
        # As Codex tells it. It says itself that it does not fit, should that be so, before it changes anything.
        return f"--- {path} (not compared with its present text)\n+++ {path}\n{text}"
    return unified(path, file.text, after)


def patched(before: str, diff: str) -> str | None:
    """The text after the hunks of a unified diff; None where one of them does not fit."""
    old, new, at = before.splitlines(keepends=True), [], 0
    lines = iter(diff.splitlines(keepends=True))
    for line in lines:
        mark, text = line[:1], line[1:]
        if found := _HUNK.match(line):
            start = int(found[1]) - (found[2] != "0")
            if start < at:
                return None
            new += old[at:start]
            at = start
        elif mark == "+":
            new.append(text)
        elif mark == "\\":
            if new:
                new[-1] = new[-1].removesuffix("\n")
        elif mark in (" ", "-"):
            if at >= len(old) or old[at].removesuffix("\n") != text.removesuffix("\n"):
                return None
            new += [old[at]] if mark == " " else []
            at += 1
        else:
            return None
    return "".join((*new, *old[at:]))


# Questions


class AskedInput:
    """The questions of its own tool, as an ordinary ask."""

    def __init__(self, params: Json, asker: Asker, config: Config, desks: Desks) -> None:
        self._desks = desks
        questions = params.get("questions")
        if not isinstance(questions, list) or not questions:
            raise ValueError("it asks nothing")
        asked = tuple(_question(question) for question in questions)
        self.new = NewAsk(tool=OWN_QUESTIONS, questions=asked, asker=asker, timeout_ms=config.approve_timeout)
        self.doing = ""

    def decided_before(self) -> GateVerdict | None:
        return None

    def verdict(self, ask: Ask) -> GateVerdict | None:
        if ask.state is State.TIMED_OUT:
            return None
        if ask.state is not State.ANSWERED:
            return GateVerdict(allowed=False, given={}, message=refusal_words(ask))
        ask = with_files(self._desks.asks, self._desks.config.attachments_dir, ask)
        told = {question.id: {"answers": _said(question, ask.answer(question.id))} for question in ask.questions}
        return GateVerdict(allowed=True, given={"answers": told})

    def withdraw(self, ask: Ask, by: Settler, how: str) -> None:
        self._desks.asks.withdraw(ask.id, by, how)


def _question(raw: Any) -> Question:
    """ValueError for one that is not to be put here: what is secret is not for an inbox."""
    match raw:
        case {"id": str(name), "question": str(text)} if name and not raw.get("isSecret"):
            options = tuple(_option(number, each) for number, each in enumerate(raw.get("options") or (), start=1))
            kind = Kind.SELECT if options else Kind.TEXT
            return Question(id=name, text=text, title=str(raw.get("header") or ""), kind=kind, options=options)
    raise ValueError("a question of its cannot be read")


def _option(number: int, raw: Any) -> Option:
    match raw:
        case {"label": str(label)} if label:
            return Option(id=str(number), label=label, description=str(raw.get("description") or ""))
    raise ValueError("an option of its cannot be read")


def _said(question: Question, answer: Answer | None) -> list[str]:
    """As its terminal tells it."""
    answer = answer or Answer(question=question.id)
    notes = [f"user_note: {text}" for text in (answer.text, answer.note) if text]
    return [*selected_labels(question, answer), *notes]
