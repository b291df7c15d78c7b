"""What must hold between the fields of one option: which styles, bounds and formats make sense for its type."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sayso.jsontext import Path
from sayso.text import quoted
from sayso.toolfiles.arguments import check_value
from sayso.toolfiles.leaves import CALL_OPTIONS
from sayso.toolfiles.model import OptionSpec, OptionType
from sayso.toolfiles.structure import Flaw
from sayso.toolfiles.values import compiled, is_of

_STYLES: dict[OptionType, tuple[str, ...]] = {
    "boolean": ("flag", "separate", "equals"),
    "string": ("separate", "equals", "stdin"),
    "integer": ("separate", "equals", "stdin"),
    "number": ("separate", "equals", "stdin"),
    "object": ("separate", "equals", "stdin"),
    "array": ("repeat", "csv", "separate", "equals", "stdin"),
}
_POSITIONAL_STYLES = ("csv", "stdin")
_FLAG_FIELDS = ("alias", "file_flag")


def check_option(spec: OptionSpec, where: Path) -> Iterator[Flaw]:
    """The faults of an entry of `options`."""
    yield from _style(spec, where, _STYLES[spec.type])
    if spec.end_of_options:
        yield _misplaced(where, "end_of_options", "on a positional argument", spec.end_of_options)
    for call_option in CALL_OPTIONS:
        if spec.name == call_option.name and spec.type != call_option.type:
            yield Flaw(
                where=(*where, "type"),
                kind="type",
                expected=f"`{call_option.type}`: every tool has a `{spec.name}` of its own",
                actual=quoted(spec.type),
            )
    yield from _either(spec, where)


def check_positional(spec: OptionSpec, where: Path) -> Iterator[Flaw]:
    """The faults of an entry of `positional_args`, which has no flag."""
    yield from _style(spec, where, tuple(style for style in _STYLES[spec.type] if style in _POSITIONAL_STYLES))
    for name in _FLAG_FIELDS:
        if getattr(spec, name):
            yield _misplaced(where, name, "on an option", getattr(spec, name))
    yield from _either(spec, where)


def _either(spec: OptionSpec, where: Path) -> Iterator[Flaw]:
    yield from _only_for_types(spec, where)
    yield from _bounds(spec, where)
    yield from _files(spec, where)
    broken = list(_pattern(spec, where))
    yield from broken
    for index, value in enumerate(spec.enum):
        if not is_of(value, _element(spec)):
            expected = f"values of the type `{_element(spec)}`"
            yield Flaw(where=(*where, "enum", index), kind="type", expected=expected, actual=quoted(value))
    if spec.default is not None and not broken:
        for problem in check_value(spec, spec.default):
            expected = "a value that a call could give"
            yield Flaw(where=(*where, "default"), kind="type", expected=expected, actual=str(problem))


def _element(spec: OptionSpec) -> OptionType:
    return spec.item_type if spec.type == "array" else spec.type


def _style(spec: OptionSpec, where: Path, allowed: tuple[str, ...]) -> Iterator[Flaw]:
    if spec.style is not None and spec.style not in allowed:
        words = ", ".join(f"`{style}`" for style in allowed) or "no style at all"
        yield Flaw(
            where=(*where, "style"),
            kind="enum",
            expected=f"{words} here, for the type `{spec.type}`",
            actual=quoted(spec.style),
            suggestion="" if allowed else "Remove it.",
        )


def _only_for_types(spec: OptionSpec, where: Path) -> Iterator[Flaw]:
    """Fields that say nothing about a value of this type."""
    element = _element(spec)
    numbers, texts = element in ("integer", "number"), element == "string"
    fits = {
        "items": (spec.items, spec.type == "array", "for the type `array`"),
        "minItems": (spec.min_items, spec.type == "array", "for the type `array`"),
        "maxItems": (spec.max_items, spec.type == "array", "for the type `array`"),
        "minimum": (spec.minimum, numbers, "for numbers"),
        "maximum": (spec.maximum, numbers, "for numbers"),
        "pattern": (spec.pattern, texts, "for strings"),
        "format": (spec.format, texts, "for strings"),
        "enum": (spec.enum or None, element not in ("boolean", "object"), "for strings and numbers"),
    }
    for name, (value, fitting, where_allowed) in fits.items():
        if value is not None and not fitting:
            yield _misplaced(where, name, where_allowed, f"the type {spec.type}")


def _bounds(spec: OptionSpec, where: Path) -> Iterator[Flaw]:
    pairs = (("maximum", spec.minimum, spec.maximum), ("maxItems", spec.min_items, spec.max_items))
    for name, low, high in pairs:
        if low is not None and high is not None and low > high:
            yield Flaw(where=(*where, name), kind="range", expected=f"at least {quoted(low)}", actual=quoted(high))


def _files(spec: OptionSpec, where: Path) -> Iterator[Flaw]:
    if spec.file_flag and not spec.file_arg:
        yield Flaw(
            where=(*where, "file_arg"),
            kind="missing",
            expected="`file_arg`: true beside `file_flag`",
            actual="nothing",
            suggestion='Add "file_arg": true.',
        )
    if spec.file_arg and spec.type not in ("string", "object"):
        yield _misplaced(where, "file_arg", "for the types `string` and `object`", f"the type {spec.type}")
    if spec.file_arg and spec.style == "stdin":
        yield _misplaced(where, "style", "without `file_arg`", spec.style)


def _pattern(spec: OptionSpec, where: Path) -> Iterator[Flaw]:
    try:
        compiled(spec.pattern or "")
    except re.error as error:
        yield Flaw(
            where=(*where, "pattern"),
            kind="pattern",
            expected="a regular expression",
            actual=quoted(spec.pattern),
            suggestion=f"It breaks: {error}.",
        )


def _misplaced(where: Path, name: str, allowed: str, actual: object) -> Flaw:
    return Flaw(
        where=(*where, name),
        kind="unknown",
        expected=f"`{name}` only {allowed}",
        actual=actual if isinstance(actual, str) else quoted(actual),
        suggestion="Remove it.",
    )
