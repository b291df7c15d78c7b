"""The reference part of `docs/tool-files.md`, written from the table of the format so that it cannot go stale."""

from __future__ import annotations

from collections.abc import Iterator

from sayso.toolfiles.arguments import expected
from sayso.toolfiles.format import SHAPES, FieldSpec, ObjectSpec
from sayso.toolfiles.leaves import CALL_OPTIONS, EXECUTION_MODE


def reference_markdown() -> str:
    """Every object of the format with its fields, and what any call may say."""
    blocks = [_shape(shape) for shape in SHAPES.values()]
    return "\n\n".join([*blocks, _call()]) + "\n"


def _shape(shape: ObjectSpec) -> str:
    head = f"### {shape.name}\n\n{shape.meaning} A field in **bold** must be there.\n"
    rows = [f"| {_name(field)} | {_takes(field)} | {field.since} | {field.meaning} |" for field in shape.fields]
    return "\n".join([head, "| Field | Takes | Since | Meaning |", "|---|---|---|---|", *rows])


def _call() -> str:
    background = f"`{EXECUTION_MODE.name}` is there only where the tool would run in the background."
    head = f"### In a call\n\nWhat a call may say besides the options of its tool. {background}\n"
    rows = [f"| `{spec.name}` | {expected(spec)} | {spec.description} |" for spec in CALL_OPTIONS]
    return "\n".join([head, "| Argument | Takes | Meaning |", "|---|---|---|", *rows])


def _name(field: FieldSpec) -> str:
    return f"**`{field.name}`**" if field.required else f"`{field.name}`"


def _takes(field: FieldSpec) -> str:
    """What a field takes, short enough for a table."""
    if field.enum:
        return ", ".join(f"`{word}`" for word in field.enum)
    if field.shape:
        return f"[{field.shape}](#{field.shape.lower()})"
    if field.items is not None:
        return f"{'list' if 'array' in field.types else 'object'} of {_takes(field.items)}"
    return " ".join(_plain(field))


def _plain(field: FieldSpec) -> Iterator[str]:
    yield " or ".join(field.types)
    if field.minimum is not None and field.maximum is not None:
        yield f"{field.minimum:,} to {field.maximum:,}"
    if field.pattern:
        yield f"matching `{field.pattern}`"
