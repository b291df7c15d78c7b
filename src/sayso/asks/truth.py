"""What is known of an agent that asked: whether it listens, for how long, whether it has the outcome. Nothing more.

Every surface says this in its own words and language; none of them works it out by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum

from sayso.asks.model import Ask, Asker, Away, State
from sayso.records import replace
from sayso.text import one_line

BY_COMMAND = "sayso ask"
"""The tool of what a command has asked."""
_TAIL = 6
"""Characters of a session's name. Its end: many names begin with the time, which sessions of one day share."""


class Listening(StrEnum):
    """Whether the agent listens for the answer of an ask that can still be answered."""

    WAITING = "waiting"
    IN_FORM = Away.IN_FORM.value
    """Its client shows the ask in a form of its own. Nothing from elsewhere reaches it before that is closed."""
    AT_WORK = Away.AT_WORK.value
    """It asked and went on, and will come for the answer."""
    NOT_WAITING = "not waiting"
    """No call of it holds on. It may have gone, or come back for the answer: that is not known."""
    TIMED_OUT = "timed out"


class Handover(StrEnum):
    """Where the outcome of an ask is."""

    RECEIVED = "received"
    NO_EFFECT = "no effect"
    """It came to nothing: `Outcome.void` says why."""
    ON_ITS_WAY = "on its way"
    """A call of the agent holds on; it has not said yet that it has it."""
    AT_ITS_FORM = "at its form"
    """The agent hears of it once the form of its client is closed."""
    TO_BE_FETCHED = "to be fetched"
    """The agent is at work, and will come for it."""
    KEPT = "kept"
    """Nobody is there to be told. The agent gets it when it asks the same again."""
    TOO_LATE = "too late"
    """The command that asked has ended, and takes no yes or no that was said before it is run again."""
    KEPT_FOR_SESSION = "kept for its session"
    """The same for an agent over HTTP, of which nobody hears that it was ended: another session of it gets it only once
    the one that asked is known to be gone."""


_HANDOVER = {
    Away.UNKNOWN: Handover.KEPT,
    Away.IN_FORM: Handover.AT_ITS_FORM,
    Away.AT_WORK: Handover.TO_BE_FETCHED,
}


def listening(ask: Ask) -> Listening:
    if ask.state is State.TIMED_OUT:
        return Listening.TIMED_OUT
    if ask.wait:
        return Listening.WAITING
    return Listening(ask.away) if ask.away else Listening.NOT_WAITING


def stops_waiting_at(ask: Ask) -> int | None:
    """When the agent gives up on this by a time limit of its own; None when there is none that is certain to hold."""
    return ask.wait.until if ask.wait and listening(ask) is Listening.WAITING else None


def handover(ask: Ask) -> Handover:
    if ask.outcome and ask.outcome.void:
        return Handover.NO_EFFECT
    if ask.delivered:
        return Handover.RECEIVED
    if ask.wait:
        return Handover.ON_ITS_WAY
    if ask.tool == BY_COMMAND and ask.confirms:
        return Handover.TOO_LATE
    kept = _HANDOVER[ask.away]
    return Handover.KEPT_FOR_SESSION if kept is Handover.KEPT and is_of_one_session(ask) else kept


def as_it_went_on(settled: Ask, now: Ask) -> Ask:
    """What was settled, and what has become of it since. Its texts may have been wiped by now."""
    void = now.outcome.void if now.outcome else ""
    outcome = replace(settled.outcome, void=void) if settled.outcome else None
    return replace(settled, wait=now.wait, away=now.away, delivered_at=now.delivered_at, outcome=outcome)


def is_of_one_session(ask: Ask) -> bool:
    """Whether an outcome that nobody waits for may have to wait for the very session that asked."""
    return bool(ask.asker.agent) and not ask.asker.run


def session_of(asker: Asker) -> str:
    """What tells this agent from others of the same name in the same project, in short: the end of its session's name,
    else its process. Empty where neither is known."""
    return session_name(asker)[-_TAIL:].strip() or (str(asker.pid) if asker.pid else "")


def session_name(asker: Asker) -> str:
    """All of its session's name, as it can be shown."""
    return one_line(asker.session, 300)


def short_sessions(names: Iterable[str]) -> Mapping[str, str]:
    """These names of sessions in short, each with as much of its end as tells it from the others."""
    lengths = dict.fromkeys(names, _TAIL)
    while True:
        ends = Counter(name[-length:] for name, length in lengths.items())
        alike = [name for name, length in lengths.items() if length < len(name) and ends[name[-length:]] > 1]
        if not alike:
            return {name: name[-length:].strip() for name, length in lengths.items()}
        lengths.update((name, lengths[name] + 1) for name in alike)
