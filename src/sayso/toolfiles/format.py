"""The one table of the tool-file format: every field, what it may hold and what it means, as `model.py` declares it.

The validator, the published JSON Schema, the reference in the documentation and the building of the model all read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from sayso.records import Field, fields, record
from sayso.toolfiles import model

_JSON_TYPES: dict[object, tuple[str, ...]] = {
    str: ("string",),
    bool: ("boolean",),
    int: ("integer",),
    float: ("number",),
    object: ("string", "number", "boolean", "array", "object"),
}
_TEXT = {"min_size": 1, "max_size": 4000}


@record
class FieldSpec:
    """One field. `types` are JSON types; an object has a `shape` of its own, or `items` for the values of any key.
    `target` is the attribute of the model that holds it."""

    name: str = ""
    target: str = ""
    types: tuple[str, ...]
    meaning: str = ""
    required: bool = False
    since: int = 1
    enum: tuple[object, ...] = ()
    pattern: str | None = None
    minimum: int | None = None
    maximum: int | None = None
    min_size: int | None = None
    max_size: int | None = None
    items: FieldSpec | None = None
    keys: str | None = None
    shape: str | None = None


@record
class ObjectSpec:
    """One kind of object in a tool file, and the class of the model that it becomes."""

    name: str
    meaning: str
    model: type[Any]
    fields: tuple[FieldSpec, ...]

    @cached_property
    def by_name(self) -> dict[str, FieldSpec]:
        return {field.name: field for field in self.fields}

    @cached_property
    def required(self) -> tuple[FieldSpec, ...]:
        return tuple(field for field in self.fields if field.required)


def _shape(kind: type[Any]) -> ObjectSpec:
    """The fields that the class itself declares come before those that it shares with others."""
    hints, declared = get_type_hints(kind), fields(kind)
    names = dict.fromkeys(name for each in kind.__mro__[:-1] for name in each.__annotations__)
    told = [declared[name] for name in names if declared[name].metadata]
    specs = tuple(spec for field in told for spec in _specs(field, hints[field.name]))
    return ObjectSpec(name=_shape_name(kind), meaning=kind.MEANING, model=kind, fields=specs)


def _shape_name(kind: type[Any]) -> str:
    return kind.__name__.removesuffix("Spec").removesuffix("File")


def _specs(field: Field, hint: object) -> Iterator[FieldSpec]:
    limits = dict(field.metadata["limits"])
    older, name = limits.pop("older", ""), field.metadata["name"] or field.name
    about: dict[str, Any] = {"since": field.metadata["since"], "target": field.name, **_held(hint, limits)}
    yield FieldSpec(name=name, meaning=field.metadata["meaning"], required=field.required, **about)
    if older:
        yield FieldSpec(name=older, meaning=f"Older name of `{name}`.", **about)


def _held(hint: object, limits: Mapping[str, Any]) -> dict[str, Any]:
    """What a value may be by its annotation, within the limits that are declared besides."""
    of_items = limits.get("items", {})
    if get_origin(hint) in (Union, UnionType):
        return _held(next(kind for kind in get_args(hint) if kind is not NoneType), limits)
    if get_origin(hint) is Literal:
        return {"enum": get_args(hint), **_held(type(get_args(hint)[0]), limits)}
    if get_origin(hint) is tuple:
        return {**limits, "types": ("array",), "items": FieldSpec(**_held(get_args(hint)[0], of_items))}
    if get_origin(hint) is Mapping:
        items = None if of_items is None else FieldSpec(**_held(get_args(hint)[1], of_items))
        return {**limits, "types": ("object",), "items": items}
    if isinstance(hint, type) and hasattr(hint, "FIELDS"):
        return {**limits, "types": ("object",), "shape": _shape_name(hint)}
    return {"types": _JSON_TYPES[hint], **(_TEXT if hint is str else {}), **limits}


TOOL, OPTION, LIVELOG = _shape(model.ToolFile), _shape(model.OptionSpec), _shape(model.Livelog)
SHAPES = {
    shape.name: shape
    for shape in (
        TOOL,
        _shape(model.Subcommand),
        OPTION,
        _shape(model.ItemsSpec),
        _shape(model.Hints),
        _shape(model.AvailabilityCheck),
        _shape(model.SequenceStep),
        _shape(model.OutputSpec),
        _shape(model.Annotations),
        LIVELOG,
        _shape(model.LlmProvider),
        _shape(model.LivelogParameter),
    )
}


def build(shape: ObjectSpec, value: Mapping[str, Any], **more: Any) -> Any:
    """The part of the model that a structurally sound object stands for. null is the same as not given."""
    parts: dict[str, Any] = {}
    for field in shape.fields:
        if value.get(field.name) is not None:
            parts.setdefault(field.target, _built(field, value[field.name]))
    return shape.model(**parts, **more)


def _built(field: FieldSpec, value: Any) -> Any:
    if field.shape is not None:
        return build(SHAPES[field.shape], value)
    if field.items is not None and isinstance(value, list):
        return tuple(_built(field.items, item) for item in value)
    return int(value) if field.types == ("integer",) else value
