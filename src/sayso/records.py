"""Frozen data whose fields are given by name, as `dataclass(frozen=True, kw_only=True)` makes it, for what a server
imports before it lists its tools, and for asks and permissions, which every command and gate needs.

A dataclass has its methods written and compiled for it, a millisecond each time a process starts; records share theirs,
and who is in a hurry need not import `inspect` either. Everything else is a dataclass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from operator import attrgetter
from typing import Any, NoReturn, TypeVar, dataclass_transform

T = TypeVar("T")
REQUIRED: Any = object()
_PLAIN_KINDS = frozenset({str, int, float, bool, type(None)})


class Field:
    """What is known of one field of a record."""

    __slots__ = ("compare", "default", "default_factory", "metadata", "name")

    def __init__(
        self,
        *,
        default: Any = REQUIRED,
        default_factory: Callable[[], Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        compare: bool = True,
    ) -> None:
        self.name = ""
        self.default, self.default_factory, self.compare = default, default_factory, compare
        self.metadata: Mapping[str, Any] = metadata or {}

    @property
    def required(self) -> bool:
        return self.default is REQUIRED and self.default_factory is None


def field(
    *,
    default: Any = REQUIRED,
    default_factory: Callable[[], Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
    compare: bool = True,
) -> Any:
    """A field with more to it than a default. One that is not compared is not printed either."""
    return Field(default=default, default_factory=default_factory, metadata=metadata, compare=compare)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
def record(kind: type[T]) -> type[T]:
    """Make a class one of frozen data: its annotations are its fields, after those of the records it is made of."""
    found: dict[str, Field] = {}
    for base in reversed(kind.__mro__[1:]):
        found |= base.__dict__.get("FIELDS", {})
    for name in kind.__annotations__:
        said = kind.__dict__.get(name, REQUIRED)
        found[name] = said if isinstance(said, Field) else Field(default=said)
        found[name].name = name
    for name, method in _METHODS.items():
        if name not in kind.__dict__:
            setattr(kind, name, method)
    kind.FIELDS = found  # type: ignore[attr-defined]
    compared = [name for name, each in found.items() if each.compare]
    kind.VALUES = staticmethod(attrgetter("__class__", *compared))  # type: ignore[attr-defined]
    kind.DEFAULTS = {name: each.default for name, each in found.items() if each.default is not REQUIRED}  # type: ignore[attr-defined]
    kind.FACTORIES = {name: each.default_factory for name, each in found.items() if each.default_factory}  # type: ignore[attr-defined]
    return kind


def fields(kind: type[Any]) -> Mapping[str, Field]:
    """The fields of a record, by name."""
    known: Mapping[str, Field] = kind.FIELDS
    return known


def replace(one: T, **changes: Any) -> T:
    """The same with other values: of a record, or of a dataclass where both kinds are changed alike."""
    if not hasattr(type(one), "FIELDS"):
        import dataclasses

        return dataclasses.replace(one, **changes)  # type: ignore[type-var]  # noqa: TID251
    return type(one)(**values(one) | changes)


def values(one: object) -> dict[str, Any]:
    """The values of a record by their names, with the records in them as they are."""
    # One by one: who asks for its `__dict__` gives the instance a table of its own.
    return {name: getattr(one, name) for name in fields(type(one))}


def asdict(one: object) -> dict[str, Any]:
    """The values of a record by their names, with all records in them made plain in the same way."""
    # Nearly all values are plain already, and an ask has hundreds of them.
    return {
        name: value if type(value := getattr(one, name)) in _PLAIN_KINDS else _plain(value)
        for name in fields(type(one))
    }


def _plain(value: Any) -> Any:
    if hasattr(type(value), "FIELDS"):
        return asdict(value)
    if isinstance(value, tuple | list):
        return type(value)(map(_plain, value))
    return {key: _plain(inner) for key, inner in value.items()} if isinstance(value, dict) else value


def _init(self: Any, **given: Any) -> None:
    values = self.DEFAULTS | given
    for name, make in self.FACTORIES.items():
        if name not in given:
            values[name] = make()
    if values.keys() != self.FIELDS.keys():
        raise _misfit(type(self).__name__, values.keys(), self.FIELDS.keys())
    # Put one by one, they lie in the instance itself; put in at once, they bring a table of all names along.
    for name, value in values.items():
        _put(self, name, value)


_put = object.__setattr__


def _misfit(kind: str, given: Set[str], known: Set[str]) -> TypeError:
    missing = [name for name in known if name not in given]
    return TypeError(f"{kind} needs {missing[0]}" if missing else f"{kind} has no {', '.join(given - known)}")


def _equals(self: Any, other: Any) -> bool:
    return bool(self.VALUES(self) == self.VALUES(other)) if type(self) is type(other) else NotImplemented


def _hash(self: Any) -> int:
    return hash(self.VALUES(self))


def _repr(self: Any) -> str:
    shown = (f"{name}={getattr(self, name)!r}" for name, each in self.FIELDS.items() if each.compare)
    return f"{type(self).__name__}({', '.join(shown)})"


def _refuse(self: Any, name: str, value: object = None) -> NoReturn:
    raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be changed")


_METHODS = {
    "__init__": _init,
    "__eq__": _equals,
    "__hash__": _hash,
    "__repr__": _repr,
    "__setattr__": _refuse,
    "__delattr__": _refuse,
}
