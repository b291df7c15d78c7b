"""What is known of an agent that asked: whether it listens, for how long, whether it has the outcome. Nothing more.

Every surface says this in its own words and language; none of them works it out by itself.
"""

from __future__ import annotations

from enum import StrEnum

from sayso.asks.model import Ask, Asker, State
from sayso.text import one_line

_TAIL = 6
"""Characters of a session's name. Its end: many names begin with the time, which sessions of one day share."""


class Listening(StrEnum):
    """Whether the agent listens for the answer of an ask that can still be answered."""

    WAITING = "waiting"
    NOT_WAITING = "not waiting"
    """No call of it holds on. It may have gone, or be at work and come back for the answer: that is not known."""
    TIMED_OUT = "timed out"


class Handover(StrEnum):
    """Where the outcome of an ask is."""

    RECEIVED = "received"
    ON_ITS_WAY = "on its way"
    """A call of the agent holds on; it has not said yet that it has it."""
    KEPT = "kept"
    """Nobody is there to be told. The agent gets it when it asks the same again."""


def listening(ask: Ask) -> Listening:
    if ask.state is State.TIMED_OUT:
        return Listening.TIMED_OUT
    return Listening.WAITING if ask.wait else Listening.NOT_WAITING


def stops_waiting_at(ask: Ask) -> int | None:
    """When the agent gives up on this by a time limit of its own; None when there is none that is certain to hold."""
    return ask.wait.until if ask.wait and listening(ask) is Listening.WAITING else None


def handover(ask: Ask) -> Handover:
    if ask.delivered:
        return Handover.RECEIVED
    return Handover.ON_ITS_WAY if ask.wait else Handover.KEPT


def session_of(asker: Asker) -> str:
    """What tells this agent from others of the same name in the same project, in short: the end of its session's name,
    else its process. Empty where neither is known."""
    return one_line(asker.session, 300)[-_TAIL:].strip() or (str(asker.pid) if asker.pid else "")
