"""Ahma's operations for a client: the tools that watch, await, cancel and read them, and one tool for each command."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sayso.clients import OTHER_NAMES
from sayso.config import Config
from sayso.dialects import fields
from sayso.dialects.dialect import ASK_TOOLS, Arguments, Tool, description
from sayso.errors import Problems
from sayso.records import record
from sayso.toolfiles import guidance
from sayso.toolfiles.catalog import Catalog, CommandTool
from sayso.toolfiles.schema import input_schema
from sayso.toolfiles.values import nearest

STATUS, AWAIT, CANCEL, OUTPUT = "status", "await", "cancel", "output"
NAMES = (STATUS, AWAIT, CANCEL, OUTPUT)
STREAMS = ("stdout", "stderr")
DEFAULT_WAIT = 300
LONGEST_WAIT = 86_400
MOST_LINES = 2000
MOST_BYTES = 256 * 1024

_ID = {"type": "string", "description": "The operation's id, from the reply that started it."}
_HINTS = {
    "title": "title",
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
}


def own_names(shown: Iterable[Tool]) -> frozenset[str]:
    """The names of Sayso's own tools, beside those that are shown: no tool file may take one."""
    return frozenset((*(tool.name for tool in shown), *NAMES, *ASK_TOOLS, *OTHER_NAMES))


def own_names_by(config: Config) -> frozenset[str]:
    """The same for what a server shows by these settings."""
    from sayso.dialects.profiles import profile

    return own_names(profile(config).tools)


def catalog_here(config: Config) -> Catalog:
    """The tools of the tool files that a server would serve by these settings."""
    return Catalog(config, reserved=own_names_by(config))


@record
class Range:
    """Which part of an operation's output a call wants. Only one of `offset`, `tail` and `grep` is given."""

    id: str
    stream: str = "stdout"
    offset: int | None = None
    limit: int | None = None
    tail: int | None = None
    grep: str = ""


@record
class Awaited:
    """Which operations a call waits for (none: all), and how long."""

    ids: tuple[str, ...]
    seconds: int


def tools() -> tuple[Tool, ...]:
    """The tools for operations, whatever commands there are."""
    return (
        _tool(STATUS, "Show operations", {"id": _ID}, read_only=True),
        _tool(
            AWAIT,
            "Wait for operations",
            {
                "id": _ID,
                "ids": {"type": "array", "items": {"type": "string"}, "description": "The ids of several operations."},
                "timeout_seconds": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": LONGEST_WAIT,
                    "default": DEFAULT_WAIT,
                    "description": "How long to wait at most.",
                },
            },
            read_only=True,
        ),
        _tool(
            CANCEL,
            "Cancel an operation",
            {"id": _ID, "reason": {"type": "string", "description": "Why, in a few words."}},
            required=("id",),
        ),
        _tool(OUTPUT, "Read an operation's output", _OUTPUT, required=("id",), read_only=True),
    )


_OUTPUT = {
    "id": _ID,
    "stream": {"type": "string", "enum": list(STREAMS), "default": "stdout", "description": "Which of the two."},
    "offset": {"type": "integer", "minimum": 0, "description": "Where to begin, in bytes."},
    "limit": {
        "type": "integer",
        "minimum": 1,
        "maximum": MOST_BYTES,
        "description": "How many bytes at most, or matches with `grep`.",
    },
    "tail": {"type": "integer", "minimum": 1, "maximum": MOST_LINES, "description": "How many of the last lines."},
    "grep": {"type": "string", "description": "A regular expression in Python's style."},
}


def command_tool(tool: CommandTool) -> Tool:
    """A command as it is listed."""
    said = vars(tool.leaf.settings.annotations) if tool.leaf.settings.annotations else {}
    hints = {_HINTS[name]: value for name, value in said.items() if value is not None and name != "title"}
    return Tool(
        name=tool.name,
        title=said.get("title") or "",
        description=guidance.description(tool.leaf),
        schema=input_schema(tool.leaf),
        annotations=hints,
        always_loaded=False,
    )


def read_status(arguments: Arguments) -> str:
    """The id that is asked for; empty for all."""
    problems = _known(arguments, ("id",))
    operation_id = fields.text(problems, arguments, ["id"], "", required=False)
    problems.check()
    return operation_id


def read_await(arguments: Arguments) -> Awaited:
    problems = _known(arguments, ("id", "ids", "timeout_seconds"))
    one = fields.text(problems, arguments, ["id"], "", required=False)
    several = arguments.get("ids") or []
    if not isinstance(several, list) or not all(isinstance(each, str) and each for each in several):
        problems.add("ids", f"expected an array of ids, got {fields.given(arguments['ids'])}.")
        several = []
    seconds = _number(problems, arguments, "timeout_seconds", 1, LONGEST_WAIT)
    problems.check()
    ids = tuple(dict.fromkeys([*([one] if one else []), *several]))
    return Awaited(ids=ids, seconds=DEFAULT_WAIT if seconds is None else seconds)


def read_cancel(arguments: Arguments) -> tuple[str, str]:
    """The id, and why."""
    problems = _known(arguments, ("id", "reason"))
    operation_id = fields.text(problems, arguments, ["id"], "", required=True)
    reason = fields.text(problems, arguments, ["reason"], "", required=False)
    problems.check()
    return operation_id, reason


def read_output(arguments: Arguments) -> Range:
    problems = _known(arguments, tuple(_OUTPUT))
    operation_id = fields.text(problems, arguments, ["id"], "", required=True)
    stream = fields.text(problems, arguments, ["stream"], "", required=False) or STREAMS[0]
    if stream not in STREAMS:
        problems.add("stream", f'expected "stdout" or "stderr", got {fields.given(stream)}.')
    wanted = Range(
        id=operation_id,
        stream=stream,
        offset=_number(problems, arguments, "offset", 0, 2**53),
        limit=_number(problems, arguments, "limit", 1, MOST_BYTES),
        tail=_number(problems, arguments, "tail", 1, MOST_LINES),
        grep=fields.text(problems, arguments, ["grep"], "", required=False),
    )
    chosen = [name for name in ("offset", "tail", "grep") if arguments.get(name) not in (None, "")]
    if len(chosen) > 1:
        problems.add(chosen[1], f"cannot be given together with {chosen[0]}. Give one of offset, tail and grep.")
    problems.check()
    return wanted


def _tool(
    name: str, title: str, properties: dict[str, Any], *, required: tuple[str, ...] = (), read_only: bool = False
) -> Tool:
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    return Tool(
        name=name,
        title=title,
        description=description(name),
        schema={**schema, "required": list(required)} if required else schema,
        annotations={"readOnlyHint": read_only, "destructiveHint": not read_only, "openWorldHint": False},
    )


def _known(arguments: Arguments, names: tuple[str, ...]) -> Problems:
    """Where further problems go; arguments that there are none of are in it already."""
    problems = Problems()
    for name in arguments:
        if name not in names:
            hint = nearest(name, names) or "Leave it out."
            problems.add(name, f"is not an argument of this tool. {hint} It takes {', '.join(names)}.")
    return problems


def _number(problems: Problems, arguments: Arguments, name: str, least: int, most: int) -> int | None:
    value = arguments.get(name)
    if value is None:
        return None
    whole = isinstance(value, float) and value.is_integer()
    if isinstance(value, bool) or not (isinstance(value, int) or whole) or not least <= value <= most:
        problems.add(name, f"expected a whole number from {least:,} to {most:,}, got {fields.given(value)}.")
        return None
    return int(value)
