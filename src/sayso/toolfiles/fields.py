"""What describes a field of the tool-file format, and short ways to say it. The table itself is `format.py`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True, kw_only=True)
class FieldSpec:
    """One field. `types` are JSON types; an object has a `shape` of its own, or `items` for the values of any key."""

    name: str
    types: tuple[str, ...]
    meaning: str
    required: bool = False
    since: int = 1
    attribute: str | None = None
    enum: tuple[object, ...] = ()
    pattern: str | None = None
    minimum: int | None = None
    maximum: int | None = None
    min_size: int | None = None
    max_size: int | None = None
    items: FieldSpec | None = None
    keys: str | None = None
    shape: str | None = None

    @property
    def target(self) -> str:
        """The attribute of the model that holds it; empty for a field that is only read."""
        return self.name if self.attribute is None else self.attribute


@dataclass(frozen=True, kw_only=True)
class ObjectSpec:
    """One kind of object in a tool file, and the class of the model that it becomes."""

    name: str
    meaning: str
    model: type[Any]
    fields: tuple[FieldSpec, ...]

    @cached_property
    def by_name(self) -> dict[str, FieldSpec]:
        return {field.name: field for field in self.fields}


def text(name: str, meaning: str, **more: Any) -> FieldSpec:
    return FieldSpec(name=name, types=("string",), meaning=meaning, **{"min_size": 1, "max_size": 4000, **more})


def switch(name: str, meaning: str, **more: Any) -> FieldSpec:
    return FieldSpec(name=name, types=("boolean",), meaning=meaning, **more)


def whole(name: str, meaning: str, least: int, most: int, **more: Any) -> FieldSpec:
    return FieldSpec(name=name, types=("integer",), meaning=meaning, minimum=least, maximum=most, **more)


def record(name: str, meaning: str, shape: str, **more: Any) -> FieldSpec:
    return FieldSpec(name=name, types=("object",), meaning=meaning, shape=shape, **more)


def array(name: str, meaning: str, items: FieldSpec, **more: Any) -> FieldSpec:
    return FieldSpec(name=name, types=("array",), meaning=meaning, items=items, **more)


def records(name: str, meaning: str, shape: str, **more: Any) -> FieldSpec:
    return array(name, meaning, record("", "", shape), **more)


def mapping(name: str, meaning: str, **more: Any) -> FieldSpec:
    return FieldSpec(name=name, types=("object",), meaning=meaning, **more)
