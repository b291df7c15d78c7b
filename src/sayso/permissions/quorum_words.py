"""Who must agree to a permission, told on its card: who has, who is awaited, until when, and which rule says so."""

from __future__ import annotations

import time
from collections.abc import Iterator

from sayso.asks.model import Ask
from sayso.asks.quorum import Demand, Quorum, label, listed, quorum_of, yeses_of

NOBODY_KNOWS = "Nobody's yes counts: nobody knows whose agent this is, because its token has no user."
ONE_PERSON = "There is one person here ({people}), so this can never be allowed. Deny it, or change the rule."
FEW_PEOPLE = "There are {count} people here ({people}), so this can never be allowed. Deny it, or change the rule."
FEW_NAMES = "Too few people are named, so this can never be allowed. Deny it, or change the rule."


def in_words(ask: Ask) -> Iterator[str]:
    """A line each; none where any one yes is enough."""
    quorum = quorum_of(ask)
    if quorum is None:
        return
    for demand in quorum.demands:
        yield from _demanded(quorum, demand, ask)
    if ask.timeout_ms:
        yield f"Undecided at {_clock(ask.created_at + ask.timeout_ms)}, it is a no."
    if changed_by := (ask.wanted or {}).get("changed_by"):
        yield f"{changed_by} has changed what the agent wanted. Who had agreed before that has to look again."


def progress(ask: Ask) -> str:
    """How far it has come, in a few words: `1 of 2`, for each rule that demands something."""
    quorum = quorum_of(ask)
    if quorum is None:
        return ""
    yeses = yeses_of(ask)
    return ", ".join(f"{len(quorum.counted(each, yeses, ask.created_at))} of {each.need}" for each in quorum.demands)


def never(quorum: Quorum, demand: Demand) -> str:
    """Why what is demanded can never be met; empty where it can, as far as that is known."""
    if quorum.can_be_met(demand):
        return ""
    if demand.not_asker and not quorum.whose:
        return NOBODY_KNOWS
    count = len(quorum.all_people)
    said = FEW_NAMES if not count else ONE_PERSON if count == 1 else FEW_PEOPLE
    return said.format(count=count, people=", ".join(quorum.all_people))


def _demanded(quorum: Quorum, demand: Demand, ask: Ask) -> Iterator[str]:
    yield f"Must agree: {who(demand)}. {demand.place} says so, for {demand.rule}."
    if demand.not_asker and quorum.whose:
        yield f"The yes of {quorum.whose} does not count: it is their agent."
    counted = quorum.counted(demand, yeses_of(ask), ask.created_at)
    agreed = listed([label(person, place) for place, person in counted.items()])
    yield f"Agreed: {agreed or 'nobody yet'}. {_awaited(quorum, demand, counted)}"
    if demand.people and demand.escalate_to and demand.escalate_after_ms is not None:
        yield f"From {_clock(ask.created_at + demand.escalate_after_ms)} on also: {', '.join(demand.escalate_to)}."
    if text := never(quorum, demand):
        yield text


def who(demand: Demand) -> str:
    """How many of whom have to agree."""
    if not demand.people:
        return "anyone" if demand.need == 1 else f"{demand.need} people"
    return f"{demand.need if demand.need > 1 else 'one'} of {', '.join(demand.people)}"


def _awaited(quorum: Quorum, demand: Demand, counted: dict[str, str]) -> str:
    rest = demand.need - len(counted)
    if rest <= 0:
        return "That is enough."
    out = {*counted, *([quorum.whose] if demand.not_asker else [])}
    left = [name for name in demand.people if name not in out]
    return f"Awaited: {rest} more{' of ' + ', '.join(left) if left else ''}."


def _clock(milliseconds: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(milliseconds / 1000))
