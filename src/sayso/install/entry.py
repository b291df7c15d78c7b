"""Sayso's entry in a client's file: the program to start, in the words and units of that client, and read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MARGIN_SECONDS = 10
"""How much sooner than the client's limit a call comes back by itself."""


@dataclass(frozen=True, kw_only=True)
class ServerProgram:
    """The program that a client starts to have Sayso."""

    name: str
    command: str
    args: tuple[str, ...] = ("server",)
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def argv(self) -> list[str]:
        return [self.command, *self.args]


@dataclass(frozen=True, kw_only=True)
class Limit:
    """How long a client lets a call last: under which key, how many seconds we ask for, how many units a second has."""

    key: str
    seconds: int
    units: int = 1

    def value(self) -> int:
        return self.seconds * self.units


@dataclass(frozen=True, kw_only=True)
class EntryShape:
    """The keys that a client's entry is made of. Without a key for arguments, the command is a list of all words."""

    command: str = "command"
    args: str = "args"
    env: str = "env"
    extras: Mapping[str, Any] = field(default_factory=dict)
    """What must stand there besides, whatever the server is."""
    limit: Limit | None = None
    disabled: tuple[str, bool] = ("disabled", True)
    """The key, and its value, by which a person has switched the entry off."""


_TOOLS_LEFT_OUT = ("disabled_tools", "excludeTools")
_TOOLS_TAKEN = ("enabled_tools", "includeTools", "tools")
"""How Codex, Gemini, Qwen and Copilot name the tools that their agents do not see, or that alone they see."""


@dataclass(frozen=True, kw_only=True)
class Registered:
    """What a client's file says of a server."""

    server: ServerProgram
    limit_seconds: float | None
    is_disabled: bool
    tool_lists: Mapping[str, Sequence[str]]
    """The lists of tools that the agent is to see, or not to see, by their keys."""

    def against(self, tools: Sequence[str]) -> list[str]:
        """What these lists say against these tools."""
        found = []
        for key, named in self.tool_lists.items():
            if key in _TOOLS_LEFT_OUT:
                found += [f"{key}: {tool}" for tool in tools if tool in named]
            elif not {"*", *tools} & set(named):
                found.append(f"{key}: {', '.join(map(str, named)) or 'none'}")
        return found


def written(shape: EntryShape, server: ServerProgram, known_as: str) -> dict[str, Any]:
    """The entry that starts this server. Where the client's limit is raised, the server is told of it."""
    entry: dict[str, Any] = dict(shape.extras)
    entry |= (
        {shape.command: server.command, shape.args: list(server.args)} if shape.args else {shape.command: server.argv}
    )
    if env := environment(shape, server, known_as):
        entry[shape.env] = env
    if shape.limit:
        entry[shape.limit.key] = shape.limit.value()
    return entry


def environment(shape: EntryShape, server: ServerProgram, known_as: str) -> dict[str, str]:
    limit = shape.limit
    told = {"SAYSO_CALL_LIMITS": f"{known_as}={limit.seconds - MARGIN_SECONDS}s"} if limit else {}
    return {**server.env, **told}


def is_there(found: Any, wanted: Mapping[str, Any]) -> bool:
    """Whether an entry already does all of this. What a person added to it does no harm."""
    if not isinstance(found, dict):
        return False
    return all(found.get(key) == value or (not value and not found.get(key)) for key, value in wanted.items())


def merged(found: Any, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Ours over what is there, so that a person's own additions stay."""
    return {**(found if isinstance(found, dict) else {}), **wanted}


def read_back(shape: EntryShape, name: str, entry: Any) -> Registered | None:
    """The server that an entry starts; None where it names no program."""
    if not isinstance(entry, dict) or not entry.get(shape.command):
        return None
    command = entry[shape.command]
    words = [str(word) for word in (command if isinstance(command, list) else [command])]
    words += [str(word) for word in entry.get(shape.args) or []] if shape.args else []
    env = {str(key): str(value) for key, value in (entry.get(shape.env) or {}).items()}
    limit = entry.get(shape.limit.key) if shape.limit else None
    key, value = shape.disabled
    return Registered(
        server=ServerProgram(name=name, command=words[0], args=tuple(words[1:]), env=env),
        limit_seconds=limit / shape.limit.units if shape.limit and isinstance(limit, int | float) else None,
        is_disabled=entry.get(key) is value,
        tool_lists={key: entry[key] for key in (*_TOOLS_LEFT_OUT, *_TOOLS_TAKEN) if isinstance(entry.get(key), list)},
    )
