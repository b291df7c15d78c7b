"""What a call of a command tool would do, as an action for a person to allow: everything that is executed, with every
step of a sequence, and the tool files that say so."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sayso.config import Config
from sayso.errors import SaysoError
from sayso.operations.operation import step_id
from sayso.operations.order import Order
from sayso.permissions.action import Action, ActionKind, action_from
from sayso.toolfiles.argv import Invocation
from sayso.toolfiles.catalog import CommandTool
from sayso.toolfiles.model import ToolFile

Tools = Mapping[str, CommandTool]


def wanted_action(order: Order, command: Invocation, config: Config, tools: Tools, folder: Path) -> Action:
    """`folder` is where the operation's own files will lie."""
    data: dict[str, Any] = {"tool_file": _tool_file(order.tool.file)}
    if order.tool.leaf.sequence:
        data["steps"] = [_step(order, number, config, tools, folder).plain for number in _numbers(order)]
    else:
        data |= _executed(command)
    kind = ActionKind.SEQUENCE if order.tool.leaf.sequence else ActionKind.COMMAND
    return Action(kind=kind, tool=order.tool.name, folder=os.path.realpath(command.cwd), data=data)


def tool_files(action: Action) -> tuple[tuple[str, str], ...]:
    """All tool files that an action comes from, with the hashes of their contents."""
    file = action.data["tool_file"]
    own = ((file["path"], file["sha256"]),) if file else ()
    steps = (action_from(step) for step in action.data.get("steps", ()))
    return (*own, *(found for step in steps for found in tool_files(step)))


def _numbers(order: Order) -> range:
    return range(1, len(order.tool.leaf.sequence) + 1)


def _step(whole: Order, number: int, config: Config, tools: Tools, folder: Path) -> Action:
    order = whole.step(number, tools)
    place = folder.with_name(step_id(folder.name, number))
    try:
        command = order.command(config, place)
    except SaysoError as error:
        raise SaysoError(f"Step {number} of {whole.tool.name} could not begin: {error}") from error
    return wanted_action(order, command, config, tools, place)


def _executed(command: Invocation) -> dict[str, Any]:
    return {
        "argv": list(command.argv),
        "stdin": None if command.stdin is None else command.stdin.decode(),
        "files": {str(file.path): file.content.decode() for file in command.files},
        "environment": dict(command.env),
        "before": list(command.before),
    }


def _tool_file(file: ToolFile) -> dict[str, str]:
    """The file as it was when it was read: what it says now is compared right before the command begins."""
    if file.file is None:
        return {}
    return {"path": str(file.file), "sha256": hashlib.sha256(file.content).hexdigest()}
