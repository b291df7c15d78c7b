"""JSON that remembers where it was written: values as the stdlib gives them, and the line of every field.

Strict: no duplicate keys pass unseen, no NaN, no depth that could exhaust the stack. Not for data of any size.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any, NoReturn

Path = tuple[str | int, ...]
MAX_DEPTH = 64
_SPACE = re.compile(r"[ \t\n\r]*")


@dataclass(frozen=True, kw_only=True)
class Document:
    """A value and the line of each part of it: of the key for a member, of its beginning for anything else."""

    value: object
    lines: dict[Path, int]
    duplicates: tuple[tuple[Path, int], ...]

    def line(self, path: Path) -> int:
        """The line of that part, or of the nearest part around it that is there."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def read_json(text: str) -> Document:
    """Read one JSON text. A json.JSONDecodeError says where it is broken and, where it can, how to fix it."""
    reader = _Reader(text)
    value, end = reader.value(reader.skip(0), ())
    end = reader.skip(end)
    if end != len(text):
        reader.fail("There is something after the end of the JSON. Remove it", end)
    return Document(value=value, lines=reader.lines, duplicates=tuple(reader.duplicates))


def path_text(path: Path) -> str:
    """A path as people write it: `subcommand[0].options[2].type`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


@dataclass
class _Reader:
    text: str
    lines: dict[Path, int] = field(default_factory=dict)
    duplicates: list[tuple[Path, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.breaks = [match.start() for match in re.finditer("\n", self.text)]
        self.scalars = json.JSONDecoder(parse_constant=self.constant, parse_float=self.number)
        self.at = 0

    def line(self, at: int) -> int:
        return bisect_right(self.breaks, at - 1) + 1

    def skip(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
        return match.end() if match else at

    def fail(self, message: str, at: int) -> NoReturn:
        raise json.JSONDecodeError(message, self.text, at)

    def constant(self, name: str) -> Any:
        self.fail(f"{name} is not JSON. Use a number", self.at)

    def number(self, digits: str) -> float:
        value = float(digits)
        if value in (float("inf"), float("-inf")):
            self.fail(f"The number {digits} is too large", self.at)
        return value

    def value(self, at: int, path: Path) -> tuple[Any, int]:
        self.lines.setdefault(path, self.line(at))
        opening = self.text[at : at + 1]
        if opening in ("{", "["):
            if len(path) >= MAX_DEPTH:
                self.fail(f"Nested deeper than {MAX_DEPTH} levels", at)
            return self.members(at + 1, path) if opening == "{" else self.elements(at + 1, path)
        return self.scalar(at)

    def scalar(self, at: int) -> tuple[Any, int]:
        self.at = at
        if self.text[at : at + 1] == "'":
            self.fail("JSON strings take double quotes", at)
        self.no_comment(at)
        try:
            return self.scalars.raw_decode(self.text, at)
        except json.JSONDecodeError:
            raise
        except ValueError:
            self.fail("The number has too many digits", at)

    def members(self, at: int, path: Path) -> tuple[dict[str, object], int]:
        found: dict[str, object] = {}
        at = self.skip(at)
        while self.text[at : at + 1] != "}":
            line = self.line(at)
            key, at = self.key(at)
            if key in found:
                self.duplicates.append(((*path, key), line))
            self.lines[*path, key] = line
            at = self.skip(at)
            if self.text[at : at + 1] != ":":
                self.fail("A colon is missing after the field's name", at)
            found[key], at = self.value(self.skip(at + 1), (*path, key))
            at = self.after(at, "}")
        return found, at + 1

    def key(self, at: int) -> tuple[str, int]:
        if self.text[at : at + 1] != '"':
            self.no_comment(at)
            self.fail("A field's name in double quotes is expected here", at)
        return self.scalar(at)

    def elements(self, at: int, path: Path) -> tuple[list[object], int]:
        found: list[object] = []
        at = self.skip(at)
        while self.text[at : at + 1] != "]":
            value, at = self.value(at, (*path, len(found)))
            found.append(value)
            at = self.after(at, "]")
        return found, at + 1

    def after(self, at: int, closing: str) -> int:
        """From the end of an element to the next one, or to the closing bracket."""
        at = self.skip(at)
        if self.text[at : at + 1] == closing:
            return at
        if self.text[at : at + 1] != ",":
            self.no_comment(at)
            self.fail(f"A comma or `{closing}` is missing", at)
        comma, at = at, self.skip(at + 1)
        if self.text[at : at + 1] == closing:
            self.fail("Remove the comma after the last element", comma)
        return at

    def no_comment(self, at: int) -> None:
        if self.text.startswith(("//", "/*", "#"), at):
            self.fail("JSON has no comments. Remove it", at)
