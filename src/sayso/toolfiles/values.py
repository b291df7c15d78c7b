"""JSON values as faults and problems speak of them: their types, their patterns, and the word that was meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from sayso.text import closest, quoted

_PART = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\$|.", re.DOTALL)
_SYNONYMS = {
    "bool": "boolean",
    "float": "number",
    "double": "number",
    "int": "integer",
    "list": "array",
    "str": "string",
    "text": "string",
    "dict": "object",
    "map": "object",
}


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern as a JSON Schema reader takes it: found anywhere, `$` only at the very end, ASCII classes.
    Python alone lets `$` match before a last newline, and so lets a newline through. Raises re.error."""
    exact = "".join(r"\Z" if part == "$" else part for part in _PART.findall(pattern))
    return re.compile(exact, re.ASCII)


def nearest(given: object, allowed: Iterable[object]) -> str:
    """`Did you mean ...?` with the closest of the allowed words, or nothing when none is close."""
    words = [word for word in allowed if isinstance(word, str)]
    meant = _SYNONYMS.get(str(given).lower())
    found = meant if meant in words else closest(str(given), words)
    return f"Did you mean `{found}`?" if found else ""


_KINDS: dict[str, type] = {"string": str, "array": list, "object": dict}


def is_of(value: object, json_type: str) -> bool:
    """Whether a value is of a JSON type. As in JSON Schema, 3.0 is an integer and true is no number."""
    if isinstance(value, bool) or value is None:
        return json_type == "boolean" and value is not None
    if isinstance(value, int):
        return json_type in ("integer", "number")
    if isinstance(value, float):
        return json_type == "number" or (json_type == "integer" and value.is_integer())
    return isinstance(value, _KINDS.get(json_type, ()))


def described(value: object) -> str:
    """A value as a fault names it: its type and what it is."""
    if value is None:
        return "null"
    names = ("boolean", "integer", "number", "string", "array", "object")
    return f"{with_article(next(name for name in names if is_of(value, name)))} {quoted(value)}"


def with_article(name: str) -> str:
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"
