"""JSON that remembers where it was written: values as the stdlib gives them, each with its place in the text."""

from __future__ import annotations

import json
import re
import sys
from bisect import bisect_right
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

from sayso.records import record

Path = tuple[str | int, ...]
MAX_DEPTH = 64


class Node(NamedTuple):
    """A value and where it stands. Children are the members of an object or the items of an array."""

    start: int
    end: int
    value: Any
    children: tuple[Child, ...] = ()


class Child(NamedTuple):
    """A member with its key, or an item with its place; `start` is that of the key."""

    step: str | int
    start: int
    node: Node

    @property
    def end(self) -> int:
        return self.node.end


class Strict:
    """Reads plain JSON. A json.JSONDecodeError says where it is broken and, where it can, how to fix it."""

    blank = re.compile(r"[ \t\n\r]*")
    deepest = MAX_DEPTH

    def __init__(self, text: str) -> None:
        self.text = text
        self.scalars = self.decoder()
        self.at = 0

    def root(self) -> Node:
        node = self.node(self.skip(0), 0)
        end = self.skip(node.end)
        if end != len(self.text):
            self.fail("There is something after the end of the JSON. Remove it", end)
        return node

    def decoder(self) -> json.JSONDecoder:
        return json.JSONDecoder(parse_constant=self.constant, parse_float=self.number)

    def constant(self, name: str) -> Any:
        self.fail(f"{name} is not JSON. Use a number", self.at)

    def number(self, digits: str) -> float:
        try:
            return _finite(digits)
        except ValueError:
            self.fail(f"The number {digits} is too large", self.at)

    def last_comma(self, at: int) -> None:
        self.fail("Remove the comma after the last element", at)

    def skip(self, at: int) -> int:
        match = self.blank.match(self.text, at)
        return match.end() if match else at

    def fail(self, message: str, at: int) -> NoReturn:
        raise json.JSONDecodeError(message, self.text, at)

    def node(self, at: int, depth: int) -> Node:
        opening = self.text[at : at + 1]
        if opening not in ("{", "["):
            value, end = self.scalar(at)
            return Node(at, end, value)
        if depth >= self.deepest:
            self.fail(f"Nested deeper than {MAX_DEPTH} levels", at)
        if opening == "{":
            children, end = self.children(at + 1, "}", depth)
            return Node(at, end, {child.step: child.node.value for child in children}, children)
        children, end = self.children(at + 1, "]", depth)
        return Node(at, end, [child.node.value for child in children], children)

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

    def children(self, at: int, closing: str, depth: int) -> tuple[tuple[Child, ...], int]:
        found: list[Child] = []
        at = self.skip(at)
        while self.text[at : at + 1] != closing:
            start = at
            step, at = self.key(at) if closing == "}" else (len(found), at)
            found.append(Child(step, start, self.node(at, depth + 1)))
            at = self.after(found[-1].end, closing)
        return tuple(found), at + 1

    def key(self, at: int) -> tuple[str, int]:
        """A member's name, and where its value begins."""
        if self.text[at : at + 1] != '"':
            self.no_comment(at)
            self.fail("A field's name in double quotes is expected here", at)
        key, at = self.scalar(at)
        at = self.skip(at)
        if self.text[at : at + 1] != ":":
            self.fail("A colon is missing after the field's name", at)
        return key, self.skip(at + 1)

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
            self.last_comma(comma)
        return at

    def no_comment(self, at: int) -> None:
        if self.text.startswith(("//", "/*", "#"), at):
            self.fail("JSON has no comments. Remove it", at)


class Plain(Strict):
    """Takes all that other programs take for plain JSON: however deeply nested, numbers however large."""

    deepest = sys.maxsize

    def decoder(self) -> json.JSONDecoder:
        return json.JSONDecoder(parse_constant=self.constant)


class Commented(Plain):
    """Comments as well."""

    blank = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.S)


class Relaxed(Commented):
    """Takes what programs take in their settings as well: comments, a comma after the last element, tabs in texts."""

    def decoder(self) -> json.JSONDecoder:
        return json.JSONDecoder(strict=False)

    def last_comma(self, at: int) -> None:
        pass


@record
class Lines:
    """The line of each part of a text: of the key for a member, of its beginning for anything else."""

    of: dict[Path, int]
    duplicates: tuple[tuple[Path, int], ...]
    """The members whose name another one of the same object has."""


@record
class Document:
    """A value and where its parts were written, which is found out when it is first asked for."""

    value: object
    text: str
    is_plain: bool
    """Whether no member is there twice."""

    @cached_property
    def _lines(self) -> Lines:
        return _lines(self.text)

    @property
    def duplicates(self) -> tuple[tuple[Path, int], ...]:
        return () if self.is_plain else self._lines.duplicates

    def line(self, path: Path) -> int:
        """The line of that part, or of the nearest part around it that is there."""
        while path and path not in self._lines.of:
            path = path[:-1]
        return self._lines.of.get(path, 1)


def read_json(text: str) -> Document:
    """Read one text of plain JSON."""
    # Nearly all texts are sound, and this takes a tenth of the time. What it refuses is read by who can say why.
    with suppress(ValueError, RecursionError):
        return Document(value=_read_plain(text), text=text, is_plain=True)
    return Document(value=Strict(text).root().value, text=text, is_plain=False)


def _read_plain(text: str) -> object:
    value = json.loads(text, object_pairs_hook=_members, parse_constant=_refuse, parse_float=_finite)
    if _depth(value) > MAX_DEPTH:
        raise ValueError
    return value


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError
    return members


def _refuse(name: str) -> NoReturn:
    raise ValueError


def _finite(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError
    return value


def _depth(value: object) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0


def _lines(text: str) -> Lines:
    breaks = [match.start() for match in re.finditer("\n", text)]
    lines: dict[Path, int] = {}
    duplicates: list[tuple[Path, int]] = []

    def line(at: int) -> int:
        return bisect_right(breaks, at - 1) + 1

    def note(path: Path, start: int, node: Node) -> None:
        lines[path] = line(start)
        known = set[str | int]()
        for step, begin, inner in node.children:
            if step in known:
                duplicates.append(((*path, step), line(begin)))
            known.add(step)
            note((*path, step), begin, inner)

    root = Strict(text).root()
    note((), root.start, root)
    return Lines(of=lines, duplicates=tuple(duplicates))


def path_text(path: Path) -> str:
    """A path as people write it: `subcommand[0].options[2].type`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
