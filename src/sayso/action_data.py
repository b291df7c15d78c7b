"""Actions as plain data: their one canonical text, its digest, and what differs between two of them, in words.

Stdlib only, and small, because the runner compares with it right before a command begins. What an action is, and who
may allow it, is in `permissions`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OUTER = {"kind": "the kind of action", "tool": "the tool", "folder": "the folder"}
_PARTS = {
    "argv": "the command line",
    "program": "the program that is found",
    "stdin": "its standard input",
    "sandbox": "the sandbox that it runs in",
    "first": "a command that runs before it",
    "skipped_if": "when it is skipped",
    "tool_file": "the tool file",
    "file": "the file that it edits",
    "diff": "the change to the file",
    "leads_to": "where a link leads",
}
_ENTRIES = {
    "input": "its input {name}",
    "files": "the contents of {name}",
    "environment": "the environment variable {name}",
    "leads_to": "where {name} leads",
}


def canonical(value: object) -> str:
    """One text for one value, whatever the order of its fields."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def digest_of(plain: Mapping[str, Any]) -> str:
    """Names this action and no other."""
    # Only now: servers list their tools without it.
    from sayso.hashes import sha256

    return sha256(canonical(plain).encode())


DEEPEST = 100
"""Levels of objects and lists in an input. Whoever goes through it later does so level by level."""


def numbers_beyond_json(value: object, path: str) -> Iterator[tuple[str, float]]:
    """Where there is what Python takes for a number and JSON does not know, so that no client could read it."""
    for where, each, _ in _all_in(value, path):
        if isinstance(each, float) and each - each != 0:
            yield where, each


def is_too_deep(value: object) -> bool:
    return any(depth > DEEPEST for _, _, depth in _all_in(value, ""))


def _all_in(value: object, path: str) -> Iterator[tuple[str, object, int]]:
    """All values with where they stand and how deep, in their order. No level is a call: there may be thousands."""
    rest: list[tuple[str, object, int]] = [(path, value, 0)]
    while rest:
        where, each, depth = rest.pop()
        yield where, each, depth
        if depth > DEEPEST:
            continue
        if isinstance(each, Mapping):
            rest += [(f"{where}.{key}", inner, depth + 1) for key, inner in reversed(list(each.items()))]
        elif isinstance(each, list):
            rest += [(f"{where}[{n}]", each[n], depth + 1) for n in reversed(range(len(each)))]


def differences(shown: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """What is not as it was shown; nothing only for the same action."""
    yield from (said for name, said in _OUTER.items() if shown[name] != now[name])
    for key in _differing(shown["data"], now["data"]):
        yield from _named(key, shown["data"].get(key), now["data"].get(key))


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    return [
        key
        for key in sorted(before.keys() | after.keys())
        if (key in before) != (key in after) or canonical(before.get(key)) != canonical(after.get(key))
    ]


def _named(key: str, before: object, after: object) -> Iterator[str]:
    if key in _ENTRIES and isinstance(before, Mapping) and isinstance(after, Mapping):
        yield from (_ENTRIES[key].format(name=_name(name)) for name in _differing(before, after))
    elif key == "steps" and isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield "the number of steps"
        for number, (one, other) in enumerate(zip(before, after, strict=False), start=1):
            yield from (f"step {number}: {said}" for said in differences(one, other))
    elif key == "program" and isinstance(after, list):
        yield f"{_PARTS[key]} (now {_name(' -> '.join(map(str, after))) or 'none'})"
    else:
        yield _PARTS.get(key, f"`{_name(key)}`")


def _name(name: str) -> str:
    from sayso.text import exact, one_line  # only for what differs: commands that were allowed begin sooner

    return one_line(exact(name), 200)
