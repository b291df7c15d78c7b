"""Snoozing: a person puts an ask off, for themselves alone. It is not in their inbox until its time, on any surface;
nothing else about it changes: its agent waits on, a limit still holds, others see it, and it can be settled as ever.

It comes back earlier when there is news of it, and before its agent stops waiting.
"""

from __future__ import annotations

from sayso.asks.model import Ask
from sayso.errors import AlreadySettled, InvalidInput, Problem
from sayso.records import record
from sayso.text import age

LAST_CALL = 5 * 60_000
"""It comes back this many milliseconds before its agent stops waiting."""
LONGEST = 90 * 86_400_000

NO_TIME_LEFT = "its agent waits only another {left}, too short to put it off. Answer it, or let it pass."
IN_THE_PAST = "that moment is over. Give one to come."
HAS_ENDED = "This ask is no longer open, so there is nothing to put off: it is {state}."
TOO_FAR = "that is more than 90 days from now. Give an earlier moment, or reject it."


@record
class Snoozed:
    """An ask that a person has put off, and when it comes back."""

    ask: Ask
    until: int


def moment_back(ask: Ask, until: int, now: int) -> int:
    """When it comes back, if a person wants it not before `until`."""
    if not ask.state.answerable:
        raise AlreadySettled(HAS_ENDED.format(state=ask.state.replace("_", " ")))
    if until <= now:
        raise _refused(IN_THE_PAST)
    if until - now > LONGEST:
        raise _refused(TOO_FAR)
    end = ask.wait.until if ask.attended and ask.wait else None
    if end is None:
        return until
    if end - LAST_CALL <= now:
        raise _refused(NO_TIME_LEFT.format(left=age(max(end - now, 1000))))
    return min(until, end - LAST_CALL)


def _refused(text: str) -> InvalidInput:
    return InvalidInput([Problem(path="until", text=text)])
