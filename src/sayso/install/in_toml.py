"""Changing one table of a TOML text; every other character stays. The table must be written with headers.

No library for it: a table is put at the end or cut out by its headers, and whoever calls compares what is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sayso.setting_values import toml

_HEADER = re.compile(r"^[ \t]*\[")
_KEY = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|[A-Za-z0-9_-]+')


def read(text: str) -> Any:
    return toml(text.replace("\r\n", "\n"))


def put(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    """The text with this table: where it stood before, else at the end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    table = newline.join(_table(path, value)) + newline
    spans = list(_spans(text, path))
    if spans:
        start = spans[0][0]
        return text[:start] + table + _cut(text, spans)[start:]
    if text and not text.endswith("\n"):
        text += newline
    return text + (newline if text.strip() else "") + table


def drop(text: str, path: Sequence[str]) -> str:
    """The text without this table, the tables inside it, and the empty line before it."""
    spans = list(_spans(text, path))
    if not spans:
        return text
    start, cut = spans[0][0], _cut(text, spans)
    before, after = cut[:start], cut[start:]
    if before.endswith(("\n\n", "\n\r\n")):
        before = before[: -2 if before.endswith("\r\n") else -1]
    return before + after


def own_lines(text: str, path: Sequence[str]) -> tuple[int, int] | None:
    """Where the lines of this table itself stand, between its header and the next one."""
    start: int | None = None
    place = 0
    for line in text.splitlines(keepends=True):
        if _HEADER.match(line):
            if start is not None:
                return start, place
            if _names(line) == list(path):
                start = place + len(line)
        place += len(line)
    return None if start is None else (start, place)


def _table(path: Sequence[str], value: Mapping[str, Any]) -> Iterator[str]:
    yield f"[{'.'.join(map(_bare, path))}]"
    for key, item in value.items():
        if not isinstance(item, Mapping):
            yield f"{_bare(key)} = {json.dumps(item, ensure_ascii=False)}"
    for key, item in value.items():
        if isinstance(item, Mapping):
            yield ""
            yield from _table([*path, key], item)


def _bare(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)


def _cut(text: str, spans: Sequence[tuple[int, int]]) -> str:
    for start, end in reversed(spans):
        text = text[:start] + text[end:]
    return text


def _spans(text: str, path: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where the table and those inside it stand: from a header to the last line that says something."""
    start: int | None = None
    end = place = 0
    for line in text.splitlines(keepends=True):
        if _HEADER.match(line):
            is_ours = _names(line)[: len(path)] == list(path)
            if start is not None and not is_ours:
                yield start, end
                start = None
            elif start is None and is_ours:
                start = place
        place += len(line)
        if line.strip() and not line.lstrip().startswith("#"):
            end = place
    if start is not None:
        yield start, end


def _names(header: str) -> list[str]:
    inside = header.partition("[")[2].partition("]")[0] if "[[" not in header else ""
    return [name.strip("\"'") for name in _KEY.findall(inside)]
