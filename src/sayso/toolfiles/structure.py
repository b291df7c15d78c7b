"""Whether a document has the structure of a tool file: each field known, there, of its type and within its bounds.

It reads `format.py` and nothing else, and finds everything at once. What only makes sense across fields is in
`rules.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sayso.jsontext import Path
from sayso.records import record
from sayso.text import quoted
from sayso.toolfiles.format import SHAPES, TOOL, FieldSpec, ObjectSpec
from sayso.toolfiles.model import SCHEMA_VERSION, FaultKind
from sayso.toolfiles.values import compiled, described, is_of, nearest, with_article

_RENAMED = {
    "asynchronous": "Use `synchronous` with the opposite value.",
    "args": "Use `options` or `positional_args`.",
}


@record
class Flaw:
    """A fault before it is known in which file and on which line it stands."""

    where: Path
    kind: FaultKind
    expected: str
    actual: str
    suggestion: str = ""


def check_structure(document: object) -> list[Flaw]:
    """Everything that is structurally wrong with the document, in its own order."""
    if isinstance(document, dict) and (version := _newer_version(document)):
        return [version]
    return list(_check_shape(document, TOOL, ()))


def _newer_version(document: dict[str, object]) -> Flaw | None:
    """A file of a later version is told as such, and not as a heap of unknown fields."""
    version = document.get("schema_version")
    if not is_of(version, "integer") or not isinstance(version, int | float) or version <= SCHEMA_VERSION:
        return None
    return Flaw(
        where=("schema_version",),
        kind="enum",
        expected=f"a version up to {SCHEMA_VERSION}",
        actual=quoted(version),
        suggestion="The file was written for a newer Sayso: update Sayso.",
    )


def _check_shape(value: object, shape: ObjectSpec, where: Path) -> Iterator[Flaw]:
    if not isinstance(value, dict):
        yield Flaw(where=where, kind="type", expected="an object", actual=described(value))
        return
    for field in shape.required:
        if field.name not in value:
            yield Flaw(
                where=(*where, field.name),
                kind="missing",
                expected=f"`{field.name}`, {expectation(field)}",
                actual="nothing",
                suggestion=f'Add "{field.name}": {field.meaning[0].lower()}{field.meaning[1:]}',
            )
    for name, content in value.items():
        known = shape.by_name.get(name)
        if known is None:
            yield _unknown(name, shape, where)
        elif content is not None or known.required:
            yield from _check_field(content, known, (*where, name))


def _unknown(name: str, shape: ObjectSpec, where: Path) -> Flaw:
    hint = _RENAMED.get(name) or nearest(name, shape.by_name)
    return Flaw(
        where=(*where, name),
        kind="unknown",
        expected=f"a field of {shape.name}" + ("" if hint else f": {', '.join(shape.by_name)}"),
        actual=quoted(name),
        suggestion=hint or "Remove it.",
    )


def _check_field(value: object, field: FieldSpec, where: Path) -> Iterator[Flaw]:
    if not any(is_of(value, name) for name in field.types):
        suggestion = _right_type(value, field)
        expected = expectation(field)
        yield Flaw(where=where, kind="type", expected=expected, actual=described(value), suggestion=suggestion)
    elif field.enum and value not in field.enum:
        hint = nearest(value, field.enum)
        yield Flaw(where=where, kind="enum", expected=expectation(field), actual=quoted(value), suggestion=hint)
    elif isinstance(value, str):
        yield from _check_text(value, field, where)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _check_range(value, field, where)
    elif isinstance(value, list):
        yield from _check_array(value, field, where)
    elif isinstance(value, dict):
        yield from _check_object(value, field, where)


def _check_text(value: str, field: FieldSpec, where: Path) -> Iterator[Flaw]:
    yield from _check_size(len(value), "characters", field, where)
    if value and field.pattern and not compiled(field.pattern).search(value):
        expected = f"text that matches `{field.pattern}`"
        yield Flaw(where=where, kind="pattern", expected=expected, actual=quoted(value))


def _check_range(value: float, field: FieldSpec, where: Path) -> Iterator[Flaw]:
    low, high = field.minimum, field.maximum
    if (low is not None and value < low) or (high is not None and value > high):
        yield Flaw(where=where, kind="range", expected=expectation(field), actual=quoted(value))


def _check_array(value: list[object], field: FieldSpec, where: Path) -> Iterator[Flaw]:
    yield from _check_size(len(value), "elements", field, where)
    for index, item in enumerate(value):
        if field.items is not None:
            yield from _check_field(item, field.items, (*where, index))


def _check_object(value: dict[str, object], field: FieldSpec, where: Path) -> Iterator[Flaw]:
    if field.shape is not None:
        yield from _check_shape(value, SHAPES[field.shape], where)
        return
    for key, content in value.items():
        if field.keys and not compiled(field.keys).search(key):
            expected = f"a name that matches `{field.keys}`"
            yield Flaw(where=(*where, key), kind="pattern", expected=expected, actual=quoted(key))
        if field.items is not None:
            yield from _check_field(content, field.items, (*where, key))


def _check_size(size: int, unit: str, field: FieldSpec, where: Path) -> Iterator[Flaw]:
    low, high = field.min_size or 0, field.max_size
    if size < low or (high is not None and size > high):
        expected = f"at least {low} {unit}" if size < low else f"at most {high:,} {unit}"
        yield Flaw(where=where, kind="size", expected=expected, actual=f"{size:,}")


def expectation(field: FieldSpec) -> str:
    """What a field takes, in words."""
    if field.enum:
        return "one of " + ", ".join(quoted(word) for word in field.enum)
    if field.minimum is not None and field.maximum is not None:
        return f"a whole number from {field.minimum:,} to {field.maximum:,}"
    return " or ".join(with_article(name) for name in field.types)


def _right_type(value: object, field: FieldSpec) -> str:
    """How to fix a value of the wrong type, where that is obvious."""
    if isinstance(value, str) and _unquoted(value, field.types):
        return f"Write {value.strip().lower()} without quotes."
    if "array" in field.types and not isinstance(value, list | None):
        return "Put it in square brackets."
    if field.enum and isinstance(value, int | float):
        return "Write one of these, in quotes."
    if field.types == ("string",) and isinstance(value, int | float):
        return f'Put it in quotes: "{quoted(value)}".'
    if value is None:
        return "Give it a value or remove it."
    return ""


def _unquoted(value: str, types: Iterable[str]) -> bool:
    text = value.strip().lower()
    if "boolean" in types and text in ("true", "false"):
        return True
    return ("integer" in types or "number" in types) and text.lstrip("-").isdecimal()
