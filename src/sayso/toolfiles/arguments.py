"""Whether the arguments of a call fit their specifications: known, there, of the right type, within bounds.

Nothing here knows command lines; `argv.py` puts the values there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping

from sayso.errors import Problem
from sayso.text import quoted
from sayso.toolfiles.leaves import ASYNCHRONOUS, EXECUTION_MODE, SYNCHRONOUS, Leaf
from sayso.toolfiles.matching import matches
from sayso.toolfiles.model import OptionSpec
from sayso.toolfiles.values import compiled, described, is_of, nearest, with_article

_MODES = {"Synchronous": SYNCHRONOUS, "AsyncResultPush": ASYNCHRONOUS}
"""Ahma's own words for the two modes."""


def completed(leaf: Leaf, arguments: Mapping[str, object]) -> dict[str, object]:
    """The arguments of a call with the defaults of those it leaves out."""
    given = {name: spec.default for name, spec in leaf.arguments.items() if spec.default is not None}
    given.update(arguments)
    mode = given.get(EXECUTION_MODE.name)
    if isinstance(mode, str):
        given[EXECUTION_MODE.name] = _MODES.get(mode, mode)
    return given


def check_values(leaf: Leaf, given: Mapping[str, object]) -> Iterator[Problem]:
    """Every argument that is unknown, missing or of the wrong kind."""
    known = leaf.arguments
    for name in given:
        if name not in known:
            yield Problem(path=name, text=_unknown(name, leaf, known))
    for name, spec in known.items():
        if name in given:
            yield from check_value(spec, given[name])
        elif spec.required:
            yield Problem(path=name, text=f"is missing. Give {expected(spec)}.")
    yield from _gaps(leaf, given)


def check_value(spec: OptionSpec, value: object) -> Iterator[Problem]:
    """What is wrong with one value, and with each of its elements."""
    if value is None:
        yield Problem(path=spec.name, text=f"is null. Give {expected(spec)}, or leave it out.")
    elif not is_of(value, spec.type):
        yield Problem(path=spec.name, text=f"is {described(value)}. Give {expected(spec)}.")
    elif isinstance(value, list):
        yield from _check_size(spec, value)
        for index, item in enumerate(value):
            yield from _check_item(spec, item, f"{spec.name}[{index}]")
        yield from _check_pattern(spec, {f"{spec.name}[{index}]": item for index, item in enumerate(value)})
    else:
        yield from _check_one(spec, value, spec.name)
        yield from _check_pattern(spec, {spec.name: value})


def expected(spec: OptionSpec) -> str:
    """What an argument takes, in words."""
    if spec.type == "array":
        return f"an array of {_one(spec, spec.item_type, plural='s')}"
    return _one(spec, spec.type)


def as_text(value: object) -> str:
    """A checked value as the command line writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _one(spec: OptionSpec, json_type: str, plural: str = "") -> str:
    if spec.enum:
        return ("" if plural else "one of ") + ", ".join(quoted(word) for word in spec.enum)
    noun = json_type + plural if plural else with_article(json_type)
    if spec.pattern:
        return f"{noun} that matches `{spec.pattern}`"
    bounds = [f"at least {as_text(spec.minimum)}"] if spec.minimum is not None else []
    bounds += [f"at most {as_text(spec.maximum)}"] if spec.maximum is not None else []
    return f"{noun}, {' and '.join(bounds)}" if bounds else noun


def _unknown(name: str, leaf: Leaf, known: Mapping[str, OptionSpec]) -> str:
    if name == EXECUTION_MODE.name:
        return f"is not an argument of {leaf.name}, which always returns its result itself. Leave it out."
    hint = nearest(name, known) or "Leave it out."
    return f"is not an argument of {leaf.name}. {hint} It takes {', '.join(known)}."


def _check_size(spec: OptionSpec, value: list[object]) -> Iterator[Problem]:
    low, high = spec.min_items or int(spec.required), spec.max_items
    if len(value) < low or (high is not None and len(value) > high):
        allowed = f"at least {low}" if len(value) < low else f"at most {high}"
        yield Problem(path=spec.name, text=f"has {len(value)} elements. Give {allowed}.")


def _check_item(spec: OptionSpec, item: object, path: str) -> Iterator[Problem]:
    if is_of(item, spec.item_type):
        yield from _check_one(spec, item, path)
    else:
        yield Problem(path=path, text=f"is {described(item)}. Give {_one(spec, spec.item_type)}.")


def _check_one(spec: OptionSpec, value: object, path: str) -> Iterator[Problem]:
    if spec.enum and not any(_same(value, allowed) for allowed in spec.enum):
        hint = nearest(value, spec.enum)
        text = f"is {quoted(value)}. Give {_one(spec, 'string')}."
        yield Problem(path=path, text=f"{text} {hint}".rstrip())
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield from _check_number(spec, value, path)
    yield from _check_text(value, path)


def _check_pattern(spec: OptionSpec, values: Mapping[str, object]) -> Iterator[Problem]:
    texts = {path: value for path, value in values.items() if isinstance(value, str)}
    if not spec.pattern or not texts:
        return
    try:
        found = matches(compiled(spec.pattern), list(texts.values()))
    except TimeoutError:
        text = f"cannot be held against `{spec.pattern}` in time. Give something shorter, or a simpler pattern."
        yield Problem(path=spec.name, text=text)
        return
    for (path, value), fits in zip(texts.items(), found, strict=True):
        if not fits:
            yield Problem(path=path, text=f"is {quoted(value)}. Give {_one(spec, 'string')}.")


def _check_number(spec: OptionSpec, value: float, path: str) -> Iterator[Problem]:
    low = -math.inf if spec.minimum is None else spec.minimum
    high = math.inf if spec.maximum is None else spec.maximum
    if not math.isfinite(value) or not low <= value <= high:
        yield Problem(path=path, text=f"is {quoted(value)}. Give {_one(spec, spec.type)}.")


def _check_text(value: object, path: str) -> Iterator[Problem]:
    text = as_text(value)
    if "\0" in text:
        yield Problem(path=path, text="holds a NUL character, which no argument can carry. Remove it.")
    try:
        text.encode()
    except UnicodeEncodeError:
        yield Problem(path=path, text="holds half of a surrogate pair, which is no character. Remove or replace it.")


def _same(value: object, allowed: object) -> bool:
    return value == allowed and isinstance(value, bool) == isinstance(allowed, bool)


def _gaps(leaf: Leaf, given: Mapping[str, object]) -> Iterator[Problem]:
    """A positional argument whose place depends on one before it that is not given would land in its place."""
    absent: OptionSpec | None = None
    for spec in leaf.positional_args:
        if spec.end_of_options:
            absent = None
        if spec.name in given and absent is not None and spec.style != "stdin":
            yield Problem(
                path=spec.name,
                text=f"comes after `{absent.name}` on the command line and would be taken for it. Give both.",
            )
        if spec.name not in given and spec.type != "array" and not spec.required and spec.style != "stdin":
            absent = absent or spec
