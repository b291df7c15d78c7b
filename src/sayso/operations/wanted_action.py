"""What a call of a command tool would do, as an action for a person to allow: everything that is executed, with every
step of a sequence, and the tool files that say so."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from sayso.config import Config
from sayso.errors import SaysoError
from sayso.operations.operation import step_id
from sayso.operations.order import Order
from sayso.permissions.action import Action, ActionKind, action_from
from sayso.records import replace
from sayso.running import program
from sayso.running.sandbox import Sandbox
from sayso.toolfiles.argv import Invocation
from sayso.toolfiles.catalog import CommandTool
from sayso.toolfiles.leaves import Probe
from sayso.toolfiles.model import SequenceStep, ToolFile

Tools = Mapping[str, CommandTool]
Environment = Mapping[str, str]


class Preparations(Protocol):
    """What is done before a command begins."""

    def environment(self, project: Path) -> Environment:
        """What commands get in this project."""

    def checks(self, order: Order) -> Sequence[Probe]:
        """What will be run to see whether the program is there."""

    def sandbox(self, order: Order) -> Sandbox | None:
        """What its commands are kept to."""


class WantedActions:
    """Makes actions of calls, as things stand now."""

    def __init__(self, config: Config, tools: Tools, preparations: Preparations) -> None:
        self._config, self._tools, self._preparations = config, tools, preparations

    def of(self, order: Order, command: Invocation, folder: Path) -> Action:
        """`folder` is where the operation's own files will lie."""
        data: dict[str, Any] = {"tool_file": _tool_file(order.tool.file)}
        if order.tool.leaf.sequence:
            data["steps"] = [step.plain for step in self._steps(order, command, folder)]
        else:
            data |= self._executed(order, command)
        data["first"] = list(self._first(order, command))
        if sandbox := self._preparations.sandbox(order):
            data["sandbox"] = sandbox.plain
        kind = ActionKind.SEQUENCE if order.tool.leaf.sequence else ActionKind.COMMAND
        return Action(kind=kind, tool=order.tool.name, folder=os.path.realpath(command.cwd), data=data)

    def _executed(self, order: Order, command: Invocation) -> dict[str, Any]:
        environment = {**self._preparations.environment(order.project), **command.env}
        return {
            "argv": list(command.argv),
            "program": _program(command.argv[0], environment, os.path.realpath(command.cwd)),
            "stdin": None if command.stdin is None else command.stdin.decode(),
            "files": {str(file.path): file.content.decode() for file in command.files},
            "environment": dict(command.env),
        }

    def _first(self, order: Order, command: Invocation) -> Iterator[dict[str, Any]]:
        """In the order in which they are run."""
        environment = self._preparations.environment(order.project)
        for check in self._preparations.checks(order):
            yield _described(check.argv, order.project / (check.cwd or ""), environment)
        if command.before:
            yield _described(command.before, command.cwd, {**environment, **command.env})

    def _steps(self, whole: Order, command: Invocation, folder: Path) -> Iterator[Action]:
        for number, step in enumerate(whole.tool.leaf.sequence, start=1):
            action = self._step(whole, number, folder)
            data = dict(action.data) if number == 1 else _with_programs_to_come(action.data)
            if skipped_if := _skipped_if(step, command.cwd):
                data["skipped_if"] = skipped_if
            yield replace(action, data=data)

    def _step(self, whole: Order, number: int, folder: Path) -> Action:
        order = whole.step(number, self._tools)
        place = folder.with_name(step_id(folder.name, number))
        try:
            command = order.command(self._config, place)
        except SaysoError as error:
            raise SaysoError(f"Step {number} of {whole.tool.name} could not begin: {error}") from error
        return self.of(order, command, place)


def tool_files(action: Action) -> tuple[tuple[str, str], ...]:
    """All tool files that an action comes from, with the hashes of their contents."""
    file = action.data["tool_file"]
    own = ((file["path"], file["sha256"]),) if file else ()
    steps = (action_from(step) for step in action.data.get("steps", ()))
    return (*own, *(found for step in steps for found in tool_files(step)))


def programs(action: Action, *, later: bool = False) -> Iterator[tuple[object, ...]]:
    """Each program that would be run: its word, the file that it is, and since when that lies there as it is. Not since
    when for `later` steps of a sequence: an earlier one may make it anew."""
    for each in (action.data, *action.data.get("first", ())):
        if argv := each.get("argv"):
            found = each.get("program") or ()
            yield argv[0], *found, *(() if later or not found else touched(found[-1]))
    for number, step in enumerate(action.data.get("steps", ())):
        yield from programs(action_from(step), later=later or number > 0)


def touched(path: str) -> tuple[int, ...]:
    """Which file lies there and since when as it is: whatever is done to it sets its last time anew, which nobody can
    turn back. Nothing where it cannot be looked at."""
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return status.st_ino, status.st_ctime_ns


def place_among_first(action: Action, argv: Sequence[str], cwd: Path) -> int | None:
    """Which of those that run first this is; None if it is none of them."""
    same = [place for place, each in enumerate(action.data["first"]) if each["argv"] == list(argv)]
    here = [place for place in same if action.data["first"][place]["folder"] == os.path.realpath(cwd)]
    return next(iter(here or same), None)


def _described(argv: Sequence[str], cwd: Path, environment: Environment) -> dict[str, Any]:
    folder = os.path.realpath(cwd)
    return {"argv": list(argv), "program": _program(argv[0], environment, folder), "folder": folder}


def _program(name: str, environment: Environment, folder: str) -> list[str]:
    """What tells the program from any other; nothing where there is none, which is told when it is to begin."""
    try:
        return program.identity(program.find(name, environment, folder), folder)
    except OSError:
        return []


def _with_programs_to_come(data: Mapping[str, Any]) -> dict[str, Any]:
    """An earlier step may bring what is not there yet."""
    changed = dict(data)
    if "program" in data:
        changed["program"] = data["program"] or None
    if "first" in data:
        changed["first"] = [_with_programs_to_come(each) for each in data["first"]]
    if "steps" in data:
        changed["steps"] = [{**step, "data": _with_programs_to_come(step["data"])} for step in data["steps"]]
    return changed


def _skipped_if(step: SequenceStep, cwd: Path) -> dict[str, str]:
    conditions = {"exists": step.skip_if_file_exists, "missing": step.skip_if_file_missing}
    return {name: str(cwd / file) for name, file in conditions.items() if file}


def _tool_file(file: ToolFile) -> dict[str, str]:
    """The file as it was when it was read: what it says now is compared right before the command begins."""
    if file.file is None:
        return {}
    return {"path": str(file.file), "sha256": hashlib.sha256(file.content).hexdigest()}
