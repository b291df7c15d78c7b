"""Saying no from the command line: what `sayso deny` and `sayso reject` have in common."""

from __future__ import annotations

from collections.abc import Callable

from sayso.asks.model import Ask
from sayso.cli.program import settings
from sayso.cli.settling import Settling, what_happens
from sayso.cli.terminal import put_json, say
from sayso.cli.values import STDIN, stdin_text
from sayso.desks import Desks, open_desks
from sayso.dialects.asks_as_data import ask_data
from sayso.errors import Problems, check_text


def refused(ask_id: str, option: str, why: str, settling: Callable[[Desks, Ask], Settling]) -> Ask:
    """Say no to this ask, unless `settling` refuses that. `option` is what the reason is called."""
    reason = stdin_text() if why == STDIN else why
    problems = Problems()
    check_text(problems, option, reason)
    problems.check()
    with open_desks(settings()) as desks:
        return settling(desks, desks.asks.find(ask_id)).reject(reason)


def tell(ask: Ask, as_json: bool) -> None:
    say(what_happens(ask))
    if as_json:
        put_json(ask_data(ask))
