"""Changing one place of a JSON text that may have comments and trailing commas; every other character stays.

Not a formatter: what is added follows the indentation and line ends that are there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from sayso.jsontext import Node, Relaxed

Step = str | int
_REST_OF_LINE = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/[ \t]*)?")
_CLOSING = {"{": "}", "[": "]"}


def read(text: str) -> Any:
    """The value of the text; ValueError says where it is wrong."""
    return Relaxed(text).root().value


def put(text: str, path: Sequence[Step], value: Any) -> str:
    """The text with the value at this path. The number of items as a step is the place after the last one."""
    if not text.strip():
        text = "{}" + _newline(text)
    node, done = _walk(Relaxed(text).root(), path)
    if done == len(path):
        return text[: node.start] + _rendered(text, value, _indent_at(text, node.start)) + text[node.end :]
    if isinstance(node.value, dict) != isinstance(path[done], str) or not isinstance(node.value, dict | list):
        raise ValueError(f"{_spelt(path[:done])} is not what holds {_spelt(path[done:])}")
    for step in reversed(path[done + 1 :]):
        value = {step: value} if isinstance(step, str) else [value]
    return _insert(text, node, path[done], value)


def drop(text: str, path: Sequence[Step]) -> str:
    """The text without what is at this path, and without the comma that belonged to it."""
    parent, done = _walk(Relaxed(text).root(), path[:-1])
    places = [place for place, child in enumerate(parent.children) if child.step == path[-1]]
    if done < len(path) - 1 or not places:
        return text
    return _without(text, parent, places[-1])


# Writing


def _insert(text: str, parent: Node, step: Step, value: Any) -> str:
    if not parent.children:
        return _insert_first(text, parent, step, value)
    last = parent.children[-1]
    comma = _comma_after(text, last.end)
    if "\n" not in text[parent.start : parent.children[0].start]:
        added = _member(step, json.dumps(value, ensure_ascii=False))
        at = last.end if comma is None else comma
        return text[:at] + (f", {added}" if comma is None else f" {added},") + text[at:]
    indent = _indent_at(text, parent.children[0].start)
    added = _newline(text) + indent + _member(step, _rendered(text, value, indent))
    if comma is None:
        at = _end_of_line(text, last.end)
        return text[: last.end] + "," + text[last.end : at] + added + text[at:]
    at = _end_of_line(text, comma)
    return text[:at] + added + "," + text[at:]


def _insert_first(text: str, parent: Node, step: Step, value: Any) -> str:
    if _is_one_line(text):
        return text[: parent.end - 1] + _member(step, _rendered(text, value, "")) + text[parent.end - 1 :]
    outer = _indent_at(text, parent.start)
    indent = outer + _unit(text)
    kept = text[parent.start + 1 : parent.end - 1].rstrip()
    newline = _newline(text)
    added = f"{newline}{indent}{_member(step, _rendered(text, value, indent))}{newline}{outer}"
    return text[: parent.start + 1] + kept + added + text[parent.end - 1 :]


def _without(text: str, parent: Node, place: int) -> str:
    child = parent.children[place]
    comma, start = _comma_after(text, child.end), _start_with_blank(text, child.start)
    if comma is not None:
        is_last, on_own_line = place + 1 == len(parent.children), "\n" in text[start : child.start]
        if on_own_line or is_last:
            return text[:start] + text[comma:]
        return text[: child.start] + text[_skip_spaces(text, comma) :]
    if place:
        comma = _comma_after(text, parent.children[place - 1].end)
        assert comma is not None
        return text[: comma - 1] + text[comma:start] + text[child.end :]
    inside = text[parent.start + 1 : start] + text[child.end : parent.end - 1]
    return text[: parent.start + 1] + (inside if inside.strip() else "") + text[parent.end - 1 :]


def _rendered(text: str, value: Any, indent: str) -> str:
    """Over several lines, unless the whole text is on one; a list of plain values always takes one."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    is_flat = not isinstance(value, dict) and not any(isinstance(item, dict | list) for item in inner)
    if is_flat or not value or _is_one_line(text):
        return json.dumps(value, ensure_ascii=False)
    newline, deeper = _newline(text), indent + _unit(text)
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    lines = [deeper + _member(step, _rendered(text, item, deeper)) for step, item in pairs]
    return _open(value) + newline + f",{newline}".join(lines) + newline + indent + _CLOSING[_open(value)]


def _is_one_line(text: str) -> bool:
    return "\n" not in text.strip() and text.strip() != "{}"


def _open(value: object) -> str:
    return "{" if isinstance(value, dict) else "["


def _member(step: Step, rendered: str) -> str:
    return f"{json.dumps(step, ensure_ascii=False)}: {rendered}" if isinstance(step, str) else rendered


def _unit(text: str) -> str:
    """One step of indentation, as the text has it."""
    found = re.search(r"^[ \t]*[{\[][^\n]*\n([ \t]+)", text, re.M)
    return found[1] if found else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent_at(text: str, place: int) -> str:
    """The blank that the line of this place begins with."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _end_of_line(text: str, place: int) -> int:
    """Behind the comment that stands on the same line; else right here."""
    found = _REST_OF_LINE.match(text, place)
    end = found.end() if found else place
    return end if text[place:end].strip() else place


def _start_with_blank(text: str, place: int) -> int:
    """Where the blank before this place begins: the end of the line before, or of what stands on the same line."""
    start = place
    while start and text[start - 1] in " \t":
        start -= 1
    if start and text[start - 1] == "\n":
        start -= 2 if text[start - 2 : start] == "\r\n" else 1
    return start


def _skip_spaces(text: str, place: int) -> int:
    while place < len(text) and text[place] in " \t":
        place += 1
    return place


def _comma_after(text: str, place: int) -> int | None:
    """The place behind the comma that follows, if one does."""
    place = Relaxed(text).skip(place)
    return place + 1 if text[place : place + 1] == "," else None


# Reading


def _walk(node: Node, path: Sequence[Step]) -> tuple[Node, int]:
    """As far as the path leads, and how many of its steps that are."""
    for done, step in enumerate(path):
        inner = [child.node for child in node.children if child.step == step]
        if not inner:
            return node, done
        node = inner[-1]
    return node, len(path)


def _spelt(path: Sequence[Step]) -> str:
    return ".".join(map(str, path)) or "the whole text"
