"""One setting in the text of a settings file: set, or taken out, with everything else left as it is, comments included.

What the text says is compared as data before and after; a change that would touch anything else is not made.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from sayso.errors import ConfigError
from sayso.setting_values import toml

_TABLE = re.compile(r"\s*\[")


class _Place(NamedTuple):
    """The lines of an entry, and the comment at their end."""

    first: int
    beyond: int
    comment: str


def with_setting(text: str, key: str, written: str) -> str:
    """The text with `key = written`, where it is set already or as the last before any table."""
    lines = text.splitlines(keepends=True)
    if place := _place(lines, key):
        lines[place.first : place.beyond] = [f"{key} = {written}{place.comment}\n"]
    else:
        end = next((number for number, line in enumerate(lines) if _TABLE.match(line)), len(lines))
        while 0 < end < len(lines) and lines[end - 1].startswith("#"):
            end -= 1
        if end and not lines[end - 1].endswith("\n"):
            lines[end - 1] += "\n"
        lines.insert(end, f"{key} = {written}\n")
    return _checked(text, "".join(lines), toml(text) | toml(f"{key} = {written}"), key)


def without_setting(text: str, key: str) -> str:
    """The text without it."""
    lines = text.splitlines(keepends=True)
    if place := _place(lines, key):
        del lines[place.first : place.beyond]
    return _checked(text, "".join(lines), {name: said for name, said in toml(text).items() if name != key}, key)


def as_toml(value: str) -> str:
    """What was typed as a settings file writes it."""
    if value in ("true", "false") or re.fullmatch(r"0|[1-9][0-9]{0,14}", value):
        return value
    if value.startswith(("[", "{")):
        try:
            toml(f"value = {value}")
            return value
        except ValueError:
            pass
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


def _place(lines: list[str], key: str) -> _Place | None:
    """Where the entry is: from its name to the first line with which it is whole."""
    named = re.compile(rf"\s*(?:{re.escape(key)}|\"{re.escape(key)}\"|'{re.escape(key)}')\s*=")
    for first, line in enumerate(lines):
        if _TABLE.match(line):
            return None
        for beyond in range(first + 1, len(lines) + 1) if named.match(line) else ():
            entry = "".join(lines[first:beyond])
            if (said := _said(entry)) is not None and key in said:
                return _Place(first, beyond, _comment(entry, said))
    return None


def _comment(entry: str, said: dict[str, Any]) -> str:
    """From the first sign of one whose absence changes nothing."""
    for found in re.finditer(r"[ \t]*#", entry):
        if _said(entry[: found.start()]) == said:
            return entry[found.start() :].rstrip("\r\n")
    return ""


def _said(text: str) -> dict[str, Any] | None:
    try:
        return toml(text)
    except ValueError:
        return None


def _checked(before: str, after: str, wanted: dict[str, Any], key: str) -> str:
    if _said(after) != wanted:
        raise ConfigError(f"{key} cannot be changed without touching something else in the file. Edit the file.")
    return after
