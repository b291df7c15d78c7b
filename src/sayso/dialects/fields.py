"""Reads the arguments of a call field by field, and collects every wrong one with its path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sayso.errors import Problems, check_text
from sayso.text import quoted


def given(value: object) -> str:
    """A value as an error names it."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case str():
            return f"the text {quoted(value)}"
        case int() | float():
            return f"the number {value}"
        case list():
            return f"an array of {len(value)}"
        case dict():
            return "an object"
    return f"a {type(value).__name__}"


def at(path: str, name: str) -> str:
    """The path of a field within what is at `path`."""
    return f"{path}.{name}" if path else name


def text(problems: Problems, raw: Mapping[str, Any], names: Sequence[str], path: str, *, required: bool) -> str:
    """The text of the first of `names` that is there; they are other words for one field."""
    name = next((name for name in names if raw.get(name) is not None), names[0])
    value = raw.get(name)
    if value is None and not required:
        return ""
    where = at(path, name)
    if not isinstance(value, str):
        problems.add(where, f"expected a text, got {given(value)}.")
        return ""
    if required and not value.strip():
        problems.add(where, "is empty. Write what you want to know.")
    check_text(problems, where, value)
    return value


def boolean(problems: Problems, raw: Mapping[str, Any], name: str, path: str, *, default: bool) -> bool:
    value = raw.get(name)
    if value is None:
        return default
    if not isinstance(value, bool):
        problems.add(at(path, name), f"expected true or false, got {given(value)}.")
        return default
    return value
