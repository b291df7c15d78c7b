"""The open asks for status bars and scripts: a line for each, and all again whenever something changes."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Sequence
from typing import NoReturn

from sayso.asks.lookalikes import Lookalikes
from sayso.asks.model import Ask
from sayso.cli.asks_in_words import headline, short_place, status
from sayso.cli.snoozed import seconds_to_next
from sayso.cli.terminal import put_anew
from sayso.cli.texts import translated
from sayso.clock import now_ms
from sayso.desks import Desks
from sayso.errors import InvalidInput, Problem
from sayso.text import age, json_line, one_line, quoted

HOLES = ("id", "age", "status", "client", "session", "project", "branch", "question")
_HOLE = re.compile(r"\{(\w*)\}")
_DRESSED_HOLE = re.compile(r"\{(\w+)[!:.\[][^{}]*\}")
"""A hole as Python's own templates have it, with more than a name."""
_LOOK_AGAIN = 30.0
"""Seconds without a ring after which ages are told anew, and it is looked who still waits."""


def watch(desks: Desks, look: Callable[[], str]) -> NoReturn:
    """Print what `look` gives, and again each time it has become another. Endless: Ctrl-C ends it."""
    gc.enable()  # it was left out for what only starts, reads and ends
    bell, shown = desks.bell(), None
    while True:
        if (now := look()) != shown:
            put_anew(now)
            shown = now
        bell.wait(min(_LOOK_AGAIN, seconds_to_next(desks)))


def filled(template: str) -> Callable[[Sequence[Ask]], str]:
    """A line for each ask, made of a text with holes. What agents said stays on its line and drives no terminal."""
    if unknown := [name for name in _HOLE.findall(template) if name not in HOLES]:
        known = ", ".join(HOLES)
        raise InvalidInput(
            [Problem(path="--format", text=f"{quoted(unknown[0])} is no field. The fields are {known}.")]
        )
    dressed = [found for found in _DRESSED_HOLE.finditer(template) if found[1] in HOLES]
    if dressed:
        given, field = quoted(dressed[0][0]), f"{{{dressed[0][1]}}}"
        raise InvalidInput([Problem(path="--format", text=f"{given} is more than a field. Write {field}.")])
    if (opened := _unclosed(template)) is not None:
        given = quoted(one_line(template[opened:], 20))
        raise InvalidInput([Problem(path="--format", text=f"{given} has a brace that is not closed. Close it.")])

    def lines(asks: Sequence[Ask]) -> str:
        others = Lookalikes(ask.asker for ask in asks)
        return "\n".join(_line(template, ask, others) for ask in asks)

    return lines


def _unclosed(template: str) -> int | None:
    """Where a brace opens that nothing closes."""
    opened: list[int] = []
    for place, sign in enumerate(template):
        if sign == "{":
            opened.append(place)
        elif sign == "}" and opened:
            opened.pop()
    return opened[-1] if opened else None


def as_json_line(asks: Sequence[Ask]) -> str:
    """All of them in one line, so that whoever reads lines has a whole list in each."""
    from sayso.dialects.asks_as_data import ask_data

    return json_line([ask_data(ask) for ask in asks])


def _line(template: str, ask: Ask, others: Lookalikes) -> str:
    asker = ask.asker
    values = {
        "id": ask.id[:8],
        "age": translated(age(now_ms() - ask.created_at)),
        "status": translated(status(ask)),
        "client": one_line(asker.client, 20),
        "session": others.session(asker),
        "project": short_place(asker.project),
        "branch": one_line(asker.branch, 30),
        "question": headline(ask),
    }
    return _HOLE.sub(lambda found: values[found[1]], template)
