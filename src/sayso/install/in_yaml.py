"""Changing one entry of a mapping at the top of a YAML text; every other line stays. Block style only.

No library for it: an entry is a run of lines, and whoever calls compares what is read before and after.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml


def read(text: str) -> Any:
    try:
        return yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error


def put(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """The text with this entry: where it stood before, else as the first below its mapping."""
    top, name = path
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += newline
    head = _head(lines, top)
    if head is None:
        lines, head = [*lines, f"{top}:{newline}"], len(lines)
    elif re.match(rf"{re.escape(top)}\s*:\s*(\{{\s*\}}|null|~)\s*$", lines[head]):
        lines[head] = f"{top}:{newline}"
    indent = _indent(lines, head)
    entry = [line + newline for line in _entry(name, value, indent)]
    found = _entry_lines(lines, head, indent, name)
    return "".join([*lines[: found.start], *entry, *lines[found.stop :]])


def drop(text: str, path: Sequence[str]) -> str:
    """The text without the lines of this entry, or of a whole mapping that is empty."""
    lines = text.splitlines(keepends=True)
    head = _head(lines, path[0])
    if head is None:
        return text
    if len(path) == 1:
        return "".join([*lines[:head], *lines[head + 1 :]])
    found = _entry_lines(lines, head, _indent(lines, head), path[1])
    kept = [*lines[: found.start], *lines[found.stop :]]
    if found and (read("".join(kept)) or {}).get(path[0]) is None:
        kept[head] = lines[head].rstrip() + " {}" + lines[head][len(lines[head].rstrip()) :]
    return "".join(kept)


def _entry(name: str, value: Mapping[str, Any], indent: str) -> Iterator[str]:
    yield f"{indent}{_plain(name)}:"
    for key, item in value.items():
        yield f"{indent * 2}{_plain(key)}: {json.dumps(item, ensure_ascii=False)}"


def _plain(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", key) else json.dumps(key, ensure_ascii=False)


def _head(lines: Sequence[str], top: str) -> int | None:
    """The line that begins the mapping."""
    pattern = re.compile(rf"(?:{re.escape(top)}|\"{re.escape(top)}\"|'{re.escape(top)}')\s*:")
    return next((place for place, line in enumerate(lines) if pattern.match(line)), None)


def _indent(lines: Sequence[str], head: int) -> str:
    """How far the entries of the mapping are indented."""
    for line in lines[head + 1 :]:
        if line.strip() and not line.lstrip().startswith("#"):
            return line[: len(line) - len(line.lstrip(" "))] or "  "
    return "  "


def _entry_lines(lines: Sequence[str], head: int, indent: str, name: str) -> range:
    """The lines of the entry; where there is none, the empty place below the head."""
    start = end = None
    for place, line in enumerate(lines[head + 1 :], start=head + 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        depth = len(line) - len(line.lstrip(" "))
        if depth < len(indent) or (start is not None and depth == len(indent)):
            break
        if depth == len(indent) and re.match(rf"[\"']?{re.escape(name)}[\"']?\s*:", line.strip()):
            start = place
        end = place + 1
    return range(start, end) if start is not None and end is not None else range(head + 1, head + 1)
