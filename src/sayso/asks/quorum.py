"""Whose yes a permission needs, and how many: what the rules demanded when it was asked, and the yeses there are.

Plain data and what follows from it. The permission desk alone writes a yes down; who is asked later, once nobody has
decided, follows from the time alone, so that it needs nobody to remember it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sayso.clock import FAR_FUTURE
from sayso.records import asdict, record, replace

if TYPE_CHECKING:
    from sayso.asks.model import Ask, NewAsk


@record
class Yes:
    """One person's agreement to the action with this digest."""

    person: str
    stands_for: tuple[str, ...] = ()
    """Who had handed their yes over to this person when it was given."""
    digest: str
    surface: str
    at: int
    account: str
    """Who that is, whatever they are called: a person may have two names, on the page and to the system."""


@record
class Demand:
    """What one rule demands. Without people, anyone may agree."""

    rule: str
    place: str
    """The file and the line that say so."""
    people: tuple[str, ...] = ()
    need: int = 1
    not_asker: bool = False
    timeout_ms: int | None = None
    escalate_after_ms: int | None = None
    escalate_to: tuple[str, ...] = ()

    def deciders(self, age: int) -> tuple[str, ...]:
        """Who may agree so many milliseconds after it was asked; empty for anyone."""
        later = self.people and self.escalate_after_ms is not None and age >= self.escalate_after_ms
        return tuple(dict.fromkeys((*self.people, *(self.escalate_to if later else ()))))


@record
class Quorum:
    """All that is demanded of one permission: each demand has to be met."""

    demands: tuple[Demand, ...]
    whose: str = ""
    """The account of the person whose agent asks, as its token or its system's user says; empty where nobody knows."""
    other_names: tuple[str, ...] = ()
    """What else that person is called, on the page."""
    all_people: tuple[str, ...] = ()
    """Everyone who can decide here, where that is known: on one machine."""
    stand_ins: tuple[str, ...] = ()
    """Those to whom one of the named people had handed their yes over when it was asked: they see it too."""

    def counted(self, demand: Demand, yeses: Iterable[Yes], asked_at: int) -> dict[str, str]:
        """Each name in whose place somebody has agreed, with who that was. Nobody counts twice, and no name does."""
        each_once = {yes.account: yes for yes in yeses}.values()
        able = {yes.person: self._places(demand, yes, asked_at) for yes in each_once}
        taken: dict[str, str] = {}
        # Those who decide for themselves sit first, so that nobody else takes their place.
        for person in sorted(able, key=lambda name: name not in able[name]):
            _seat(person, able, taken, set())
        return taken

    def _places(self, demand: Demand, yes: Yes, asked_at: int) -> tuple[str, ...]:
        """The names that this yes can count for: the person's own, or else of those whom they stand for."""
        if demand.not_asker and (not self.whose or self.is_of_asker(yes)):
            return ()
        deciders = demand.deciders(yes.at - asked_at)
        if not deciders or yes.person in deciders:
            return (yes.person,)
        return tuple(name for name in yes.stands_for if name in deciders and name not in self.left_out(demand))

    def left_out(self, demand: Demand) -> set[str]:
        """The names of whoever does not count."""
        return {self.whose, *self.other_names} if demand.not_asker else set()

    def is_of_asker(self, yes: Yes) -> bool:
        """Whether it is a yes of the person whose agent asks."""
        return self.whose in (yes.person, yes.account)

    def may_count(self, yes: Yes, asked_at: int) -> bool:
        """Whether this person is among those who decide."""
        return any(self._places(demand, yes, asked_at) for demand in self.demands)

    def is_met(self, yeses: Sequence[Yes], asked_at: int) -> bool:
        return all(len(self.counted(demand, yeses, asked_at)) >= demand.need for demand in self.demands)

    def can_be_met(self, demand: Demand) -> bool:
        """Whether there are enough people at all, as far as that is known."""
        if demand.not_asker and not self.whose:
            return False
        named = {*demand.people, *demand.escalate_to} if demand.people else {*self.all_people}
        able = named & {*self.all_people} if self.all_people else named
        return not named or len(able - self.left_out(demand)) >= demand.need

    def named(self, age: int) -> tuple[str, ...]:
        """Everyone who is asked by name so many milliseconds after it was asked; empty where anyone is."""
        each = [demand.deciders(age) for demand in self.demands]
        return tuple(dict.fromkeys(name for names in each for name in names)) if all(each) else ()

    @property
    def first_asked(self) -> list[str]:
        """Those whom it is shown to by name from the beginning."""
        return list(dict.fromkeys((*self.named(0), *self.stand_ins))) if self.named(0) else []

    @property
    def timeout_ms(self) -> int | None:
        """The shortest time that is given."""
        return min((demand.timeout_ms for demand in self.demands if demand.timeout_ms), default=None)

    @property
    def escalations(self) -> list[int]:
        """After how many milliseconds more people are asked, the soonest first."""
        found = {each.escalate_after_ms for each in self.demands if each.people and each.escalate_to}
        return sorted(after for after in found if after is not None)

    def joined_with(self, other: Quorum | None) -> Quorum:
        """What both demand together."""
        more = [demand for demand in other.demands if demand not in self.demands] if other else []
        return replace(self, demands=(*self.demands, *more))

    @property
    def plain(self) -> dict[str, Any]:
        return asdict(self)


def _seat(person: str, able: Mapping[str, Sequence[str]], taken: dict[str, str], tried: set[str]) -> bool:
    """Find this person a place of their own, moving others who can sit elsewhere."""
    for name in able[person]:
        if name not in tried:
            tried.add(name)
            if name not in taken or _seat(taken[name], able, taken, tried):
                taken[name] = person
                return True
    return False


# On asks


def quorum_of(ask: Ask | NewAsk) -> Quorum | None:
    """What is demanded of a permission; None where any one yes is enough."""
    plain = (ask.wanted or {}).get("quorum")
    if not plain:
        return None
    demands = tuple(
        Demand(**{**each, "people": tuple(each["people"]), "escalate_to": tuple(each["escalate_to"])})
        for each in plain["demands"]
    )
    others = {key: tuple(plain.get(key, ())) for key in ("other_names", "all_people", "stand_ins")}
    return Quorum(demands=demands, whose=plain["whose"], **others)


def yeses_of(ask: Ask) -> tuple[Yes, ...]:
    """Who has agreed to what is asked now."""
    said = (ask.wanted or {}).get("yeses", ())
    return tuple(Yes(**{**each, "stands_for": tuple(each["stands_for"])}) for each in said)


def has_agreed(ask: Ask, person: str) -> bool:
    """Whether this person's yes to what is asked now is there, while others have to agree as well."""
    return any(yes.person == person for yes in yeses_of(ask))


def is_agreed(ask: Ask, digest: str) -> bool:
    """Whether as many as are needed have agreed to this action, by what is written down."""
    quorum = quorum_of(ask)
    yeses = [yes for yes in yeses_of(ask) if yes.digest == digest]
    return quorum is None or quorum.is_met(yeses, ask.created_at)


def deciders(ask: Ask) -> tuple[str, ...]:
    """Who is asked by name by now, and therefore sees it, whosever agent asks; empty where that is everyone."""
    return tuple((ask.wanted or {}).get("deciders", ()))


def may_see(ask: Ask, person: str) -> bool:
    return ask.asker.owner in ("", person) or person in deciders(ask)


def is_asked(ask: Ask, person: str) -> bool:
    """Whether this person can do anything about it, and is therefore to be told."""
    return not deciders(ask) or person in deciders(ask)


def is_shown_to(ask: Ask, person: str) -> bool:
    """Whether this person has it in their inbox, and something to do about it."""
    return may_see(ask, person) and is_asked(ask, person)


def next_escalation(ask: Ask) -> int | None:
    """When more people are to be asked, if nobody has decided by then."""
    quorum = quorum_of(ask)
    done, end = (ask.wanted or {}).get("escalated", 0), ask.timeout_ms or FAR_FUTURE
    due = [after for after in quorum.escalations if done < after < end] if quorum else []
    return ask.created_at + due[0] if due else None


def escalated(ask: Ask, now: int) -> tuple[Ask, tuple[str, ...]] | None:
    """The ask as it is once all are asked whose time has come, and who they are; None where that is nobody."""
    quorum, due = quorum_of(ask), next_escalation(ask)
    if quorum is None or due is None or due > now:
        return None
    age = now - ask.created_at
    asked = quorum.named(age)
    done = max(after for after in quorum.escalations if after <= age)
    new = tuple(name for name in asked if name not in deciders(ask))
    wanted = {**(ask.wanted or {}), "escalated": done, "deciders": [*deciders(ask), *new] if asked else []}
    return replace(ask, wanted=wanted), new


def who_agreed(ask: Ask) -> str:
    """Those whose yes counts, as it is recorded: each once, with whom they stood in for."""
    quorum = quorum_of(ask)
    places = [quorum.counted(each, yeses_of(ask), ask.created_at) for each in quorum.demands] if quorum else []
    told = dict.fromkeys(label(person, place) for seats in places for place, person in seats.items())
    return listed(tuple(told))


def label(person: str, place: str) -> str:
    """Who agreed, and in whose place, if that was not their own."""
    return person if place == person else f"{person} for {place}"


def listed(names: Sequence[str]) -> str:
    """`ada, bo and cy`."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)
