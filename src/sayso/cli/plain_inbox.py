"""The inbox line by line, for screen readers and terminals that cannot draw: a list, a number, and the prompts of
`sayso answer` and `sayso allow`. Nothing is drawn over, so all of it can be read again.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence

from sayso.asks.model import Ask
from sayso.cli.conversation import none_of_these, put_numbered
from sayso.cli.listing import open_asks, show_inbox
from sayso.cli.terminal import flowing, forget_typed_ahead, is_interactive, put, read_line, say
from sayso.cli.texts import explained, plural, tr
from sayso.clients import IN_A_SHELL
from sayso.config import Config
from sayso.desks import open_desks
from sayso.errors import SaysoError

_WISH = re.compile(r"(?P<wish>[nz]?)\s*(?P<number>[0-9]{1,4})")
_MORE = ("m", "/m")
_MOST = 50
"""How many are listed at a time: nobody listens to more."""


def answer_line_by_line(config: Config) -> None:
    """Ask which one, and lead through it, until the person leaves. Where nobody can be asked, or would not see all that
    is said to them, only the list."""
    sees_all = is_interactive() and bool(sys.stderr) and sys.stderr.isatty()
    if not sees_all or any(os.environ.get(name) for name in IN_A_SHELL):
        show_inbox(config)
        return
    first = 0
    while found := open_asks(config, None):
        first = first if first < len(found) else 0
        asks = found[first : first + _MOST]
        put(_how_many(len(found), first))
        put_numbered(asks)
        line = _typed(len(asks), more=len(found) > _MOST)
        if line is None or line in ("q", "/q"):
            return
        if line in _MORE:
            first += _MOST
        else:
            _settle(config, asks, line)
    show_inbox(config)


def _how_many(count: int, first: int) -> str:
    if count > _MOST:
        return tr("{n} are open. {first} to {last} of them:", n=count, first=first + 1, last=min(first + _MOST, count))
    return plural(count, "One is open:", "{n} are open:")


def _typed(count: int, *, more: bool) -> str | None:
    """What the person wants done, or nothing, or to leave. What is neither is said where it was typed: a list before it
    would move it off a small screen."""
    how = tr("A number opens it. With n before it you say no to it, with z it is snoozed for an hour: n 1, z 1.")
    put(flowing(how))
    forget_typed_ahead()
    which = tr("Which one, 1 to {n}? Enter looks again, q leaves: ", n=count)
    if more:
        which = tr("Which one, 1 to {n}? m shows more, Enter looks again, q leaves: ", n=count)
    while (line := read_line(which)) is not None:
        typed = line.strip()
        if typed in ("", "q", "/q") or (more and typed in _MORE) or _wish(typed, count):
            return typed
        put(flowing(none_of_these(typed, count)))
        forget_typed_ahead()
    return None


def _wish(typed: str, count: int) -> re.Match[str] | None:
    """What is wanted, and with which of so many."""
    found = _WISH.fullmatch(typed)
    return found if found and 0 < int(found["number"]) <= count else None


def _settle(config: Config, asks: Sequence[Ask], typed: str) -> None:
    """Do what is wanted with the one that was named. What goes wrong with it is said, and the list comes again."""
    from sayso.cli import allow, answer, snooze  # only for those who settle something

    if not (found := _wish(typed, len(asks))):
        return
    ask = asks[int(found["number"]) - 1]
    commands = {"z": snooze.command, "": answer.command if ask.wanted is None else allow.command}
    try:
        if found["wish"] == "n":
            _refuse(config, ask)
        else:
            commands[found["wish"]].main([ask.id], standalone_mode=False)
    except SaysoError as error:
        say(explained(error))


def _refuse(config: Config, ask: Ask) -> None:
    from sayso.cli.settling import Settling, what_happens

    with open_desks(config) as desks:
        now = desks.asks.get(ask.id)
        settling, reason = Settling(desks, now), None
        if not now.state.answerable:
            settling.reject("")  # raises what became of it, before the person thinks of a reason
        else:
            reason = read_line(tr("Why? The agent is told; empty for no reason: "))
        if reason is not None:
            say(what_happens(settling.reject(reason.strip())))
