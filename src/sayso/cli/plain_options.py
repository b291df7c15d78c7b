"""Reads command lines that need no more than a glance, for commands that people and status bars call often. Everything
else, help and errors included, is left to what reads all commands and takes longer to import than they take to run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Known = Mapping[str, tuple[str, Any]]
"""Each option with the parameter that it sets, and to what: a value as it is, or what makes one of the next word. The
empty name is a word without an option, which has to be there."""


def plain_options(arguments: Sequence[str], known: Known) -> dict[str, Any] | None:
    """The parameters that they set; None for whatever is not plain."""
    given: dict[str, Any] = {}
    rest = iter(arguments)
    for argument in rest:
        name, is_set, value = argument.partition("=") if argument.startswith("-") else ("", "=", argument)
        if name not in known:
            return None
        parameter, sets = known[name]
        if callable(sets):
            sets = _made(sets, value if is_set else next(rest, ""))
        elif is_set:
            return None
        if sets is None or parameter in given:
            return None
        given[parameter] = sets
    return given if "" not in known or known[""][0] in given else None


def _made(make: Callable[[str], Any], value: str) -> Any:
    """None for a value that is worth a closer look."""
    try:
        return make(value) if value and value.isprintable() and not value.startswith("-") else None
    except ValueError:
        return None


def positive(value: str) -> int:
    number = int(value) if value.isascii() and value.isdecimal() else 0
    if not 0 < number < 10**9:
        raise ValueError(value)
    return number
