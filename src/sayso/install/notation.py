"""The notations that clients write their files in, and changing them with a check: nothing but ours may differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from importlib import import_module
from typing import Any, Protocol, cast

from sayso.errors import CannotEdit


class Notation(Protocol):
    """How to read a text, and how to change one place of it."""

    def read(self, text: str) -> Any: ...
    def put(self, text: str, path: Sequence[str], value: Mapping[str, Any]) -> str: ...
    def drop(self, text: str, path: Sequence[str]) -> str: ...


def notation(name: str) -> Notation:
    """`json`, `json_commented`, `jsonc`, `toml` or `yaml`. Loaded when it is needed: each costs time at the start."""
    return cast(Notation, import_module(f"sayso.install.in_{name}"))


def parsed(name: str, text: str) -> dict[str, Any]:
    """What the text says. An empty one says nothing; CannotEdit where it cannot be read."""
    if not text.strip():
        return {}
    try:
        data = notation(name).read(text)
    except (ValueError, RecursionError) as error:
        raise CannotEdit(f"is not valid {name[:4].upper()}: {error}. Fix it and run this again.") from error
    if not isinstance(data, dict):
        raise CannotEdit("has no table at its top level, so there is no place for an entry. Is this the right file?")
    return data


def with_entry(name: str, text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """The text with this entry, everything else as it was."""
    wanted = deepcopy(parsed(name, text))
    place = wanted
    for step in path[:-1]:
        inner = place.setdefault(step, {})
        place[step] = inner if inner is not None else {}
        place = place[step]
        if not isinstance(place, dict):
            raise CannotEdit(f"has something other than a table as {step!r}. Fix that and run this again.")
    place[path[-1]] = dict(value)
    return _checked(name, lambda: notation(name).put(text, path, value), wanted)


def without_entry(name: str, text: str, path: Sequence[str], made: int) -> str:
    """The text without this entry, and without the `made` tables above it that hold nothing else."""
    wanted = deepcopy(parsed(name, text))
    steps = list(path)
    if at(wanted, steps) is None:
        return text
    _take_out(wanted, steps)
    text = _checked(name, lambda: notation(name).drop(text, steps), wanted)
    while made and len(steps) > 1 and at(wanted, steps[:-1]) == {}:
        steps, made = steps[:-1], made - 1
        _take_out(wanted, steps)
        text = _checked(name, lambda: notation(name).drop(text, steps), wanted)  # noqa: B023
    return text


def at(data: Any, path: Sequence[str]) -> Any:
    """What stands at this path, None where nothing does."""
    for step in path:
        if not isinstance(data, dict) or step not in data:
            return None
        data = data[step]
    return data


def _take_out(data: dict[str, Any], path: Sequence[str]) -> None:
    del at(data, path[:-1])[path[-1]]


def _checked(name: str, change: Any, wanted: dict[str, Any]) -> str:
    try:
        text: str = change()
        if parsed(name, text) == wanted:
            return text
    except (ValueError, CannotEdit):
        pass
    raise CannotEdit("is written in a way that cannot be changed without touching the rest. Change it by hand.")
