"""JSON that remembers where it was written: values as the stdlib gives them, each with its place in the text."""

from __future__ import annotations

import json
import re
import sys
from bisect import bisect_right
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
        value = float(digits)
        if value in (float("inf"), float("-inf")):
            self.fail(f"The number {digits} is too large", self.at)
        return value

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


class Relaxed(Strict):
    """Takes what programs take in their settings as well: comments, a comma after the last element, tabs in texts."""

    blank = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.S)
    deepest = sys.maxsize

    def decoder(self) -> json.JSONDecoder:
        return json.JSONDecoder(strict=False)

    def last_comma(self, at: int) -> None:
        pass


@record
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
    """Read one text of plain JSON."""
    root = Strict(text).root()
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

    note((), root.start, root)
    return Document(value=root.value, lines=lines, duplicates=tuple(duplicates))


def path_text(path: Path) -> str:
    """A path as people write it: `subcommand[0].options[2].type`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
