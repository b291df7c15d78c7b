"""Who must agree to a permission, told on its card: who has, who is awaited, until when, and which rule says so.

Every text goes through the `say` of the surface, which may have it in another language.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from sayso.asks.model import Ask
from sayso.asks.quorum import Demand, Quorum, label, listed, quorum_of, yeses_of

Say = Callable[[str], str]

MUST_AGREE = "Must agree: {who}. {place} says so, for {rule}."
ANYONE = "anyone"
PEOPLE = "{need} people"
ONE_OF = "one of {people}"
SOME_OF = "{need} of {people}"
NOT_THEIRS = "The yes of {whose} does not count: it is their agent."
AGREED = "Agreed: {people}."
NOBODY_YET = "Agreed: nobody yet."
ENOUGH = "That is enough."
AWAITED = "Awaited: {count} more."
AWAITED_OF = "Awaited: {count} more of {people}."
LATER = "From {time} on also: {people}."
UNDECIDED = "Undecided at {time}, it is a no."
CHANGED = "{person} has changed what the agent wanted. Who had agreed before that has to look again."
NOBODY_KNOWS = "Nobody's yes counts: nobody knows whose agent this is, because its token has no user."
ONE_PERSON = "There is one person here ({people}), so this can never be allowed. Deny it, or change the rule."
FEW_PEOPLE = "There are {count} people here ({people}), so this can never be allowed. Deny it, or change the rule."
FEW_NAMES = "Too few people are named, so this can never be allowed. Deny it, or change the rule."

TEXTS = (
    *(MUST_AGREE, ANYONE, PEOPLE, ONE_OF, SOME_OF, NOT_THEIRS, AGREED, NOBODY_YET, ENOUGH, AWAITED, AWAITED_OF, LATER),
    *(UNDECIDED, CHANGED, NOBODY_KNOWS, ONE_PERSON, FEW_PEOPLE, FEW_NAMES),
)


def in_words(ask: Ask, say: Say = str) -> Iterator[str]:
    """A line each; none where any one yes is enough."""
    quorum = quorum_of(ask)
    if quorum is None:
        return
    for demand in quorum.demands:
        yield from _demanded(quorum, demand, ask, say)
    if ask.timeout_ms:
        yield say(UNDECIDED).format(time=_clock(ask.created_at + ask.timeout_ms))
    if changed_by := (ask.wanted or {}).get("changed_by"):
        yield say(CHANGED).format(person=changed_by)


def progress(ask: Ask) -> str:
    """How far it has come, in a few words: `1 of 2`, for each rule that demands something."""
    quorum = quorum_of(ask)
    if quorum is None:
        return ""
    yeses = yeses_of(ask)
    return ", ".join(f"{len(quorum.counted(each, yeses, ask.created_at))} of {each.need}" for each in quorum.demands)


def still_awaited(ask: Ask, say: Say = str) -> str:
    """Whose yes it waits for, for each rule that demands more than there are."""
    quorum = quorum_of(ask)
    if quorum is None:
        return ""
    counted = [(each, quorum.counted(each, yeses_of(ask), ask.created_at)) for each in quorum.demands]
    told = [_awaited(quorum, each, seats, say) for each, seats in counted if len(seats) < each.need]
    return " ".join(dict.fromkeys(told))


def never(quorum: Quorum, demand: Demand, say: Say = str) -> str:
    """Why what is demanded can never be met; empty where it can, as far as that is known."""
    if quorum.can_be_met(demand):
        return ""
    if demand.not_asker and not quorum.whose:
        return say(NOBODY_KNOWS)
    count = len(quorum.all_people)
    said = FEW_NAMES if not count else ONE_PERSON if count == 1 else FEW_PEOPLE
    return say(said).format(count=count, people=", ".join(quorum.all_people))


def _demanded(quorum: Quorum, demand: Demand, ask: Ask, say: Say) -> Iterator[str]:
    yield say(MUST_AGREE).format(who=who(demand, say), place=demand.place, rule=demand.rule)
    if demand.not_asker and quorum.whose:
        yield say(NOT_THEIRS).format(whose=quorum.whose)
    counted = quorum.counted(demand, yeses_of(ask), ask.created_at)
    agreed = listed([label(person, place) for place, person in counted.items()])
    told = say(AGREED).format(people=agreed) if agreed else say(NOBODY_YET)
    yield f"{told} {_awaited(quorum, demand, counted, say)}"
    if demand.people and demand.escalate_to and demand.escalate_after_ms is not None:
        later = _clock(ask.created_at + demand.escalate_after_ms)
        yield say(LATER).format(time=later, people=", ".join(demand.escalate_to))
    if text := never(quorum, demand, say):
        yield text


def who(demand: Demand, say: Say = str) -> str:
    """How many of whom have to agree."""
    if not demand.people:
        return say(ANYONE if demand.need == 1 else PEOPLE).format(need=demand.need)
    return say(SOME_OF if demand.need > 1 else ONE_OF).format(need=demand.need, people=", ".join(demand.people))


def _awaited(quorum: Quorum, demand: Demand, counted: dict[str, str], say: Say) -> str:
    rest = demand.need - len(counted)
    if rest <= 0:
        return say(ENOUGH)
    out = {*counted, *quorum.left_out(demand)}
    left = [name for name in demand.people if name not in out]
    return say(AWAITED_OF if left else AWAITED).format(count=rest, people=", ".join(left))


def _clock(milliseconds: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(milliseconds / 1000))
