"""Agents that have many questions open. Each is one entry of the inbox, so that it does not hide what others ask.
Permissions always stand by themselves: nobody may miss what an agent wants to do.

Which agents these are is counted over all open asks, whatever part of them a surface shows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from typing import TypeAlias

from sayso.asks.model import Ask
from sayso.records import record
from sayso.store import Row

FEW = 5
"""With more asks open than this, an agent's are told together."""
QUIET = 60_000
"""Milliseconds between two notifications about an agent that has many open."""


@record
class OpenBySession:
    """How much one session of an agent has open, by what names it in `Asker`."""

    agent: str
    client: str
    session: str
    source: str
    project: str
    size: int
    attended: int
    """How many of them it waits for right now."""


@record
class Crowd:
    """All questions that one agent has open in one project, told as one."""

    newest: Ask
    size: int
    attended: int
    """How many of them an agent waits for right now."""
    since: int
    """The moment by which it has its place in the inbox: the first of those that are waited for, else the first."""

    @property
    def name(self) -> str:
        return self.newest.asker.crowd

    @property
    def id(self) -> str:
        return short_name(self.name)

    @property
    def version(self) -> str:
        """Another one whenever the entry reads differently."""
        newest = self.newest
        return f"{self.size}.{self.attended}.{newest.id[:8]}.{newest.version}"


def short_name(crowd: str) -> str:
    """A name of a crowd for addresses, which says nothing of it."""
    from sayso.hashes import sha256  # only here: whoever lists asks has no other use for it

    return sha256(crowd.encode())[:16]


Entry: TypeAlias = Ask | Crowd


@record
class Folded:
    """A page of the inbox in which each crowd is one entry."""

    entries: Sequence[Entry]
    last: Ask | None
    """The ask after which the next page goes on; None where this is the last one."""


def read(row: Row, newest: Ask) -> Crowd:
    """A crowd as the store counts it."""
    attended = int(row["attended"])
    return Crowd(
        newest=newest,
        size=int(row["size"]),
        attended=attended,
        since=int(row["attended_at"] if attended else row["first_at"]),
    )


def merge(asks: Sequence[Ask], crowds: Sequence[Crowd]) -> list[Entry]:
    """Asks in the order of the inbox, with crowds among them: what is waited for first, in each part the oldest."""
    return sorted([*asks, *crowds], key=_place)


def _place(entry: Entry) -> tuple[bool, int]:
    return not entry.attended, entry.since if isinstance(entry, Crowd) else entry.created_at


def fold(asks: Sequence[Ask], groups: Mapping[str, Sequence[Ask]] | None = None) -> list[Entry]:
    """Asks in whatever order they are given in, with each crowd in the place of its first. `groups` are these asks as
    `by_crowd` has them, where that is known."""
    groups = by_crowd(asks) if groups is None else groups
    crowded = {ask.id: name for name, group in groups.items() if len(group) > FEW for ask in group}
    entries, told = list[Entry](), set[str]()
    for ask in asks:
        name = crowded.get(ask.id)
        if name is None:
            entries.append(ask)
        elif name not in told:
            told.add(name)
            entries.append(gather(groups[name]))
    return entries


def by_crowd(asks: Sequence[Ask]) -> dict[str, list[Ask]]:
    """The questions of each agent that is known. An unknown one has nothing in common with the others."""
    groups = defaultdict[str, list[Ask]](list)
    for ask in asks:
        if (name := ask.asker.crowd) and not ask.is_permission:
            groups[name].append(ask)
    return groups


def gather(asks: Sequence[Ask]) -> Crowd:
    """The questions of one agent as a crowd."""
    waited_for = [ask for ask in asks if ask.attended]
    return Crowd(
        newest=max(asks, key=lambda ask: (ask.created_at, ask.id)),
        size=len(asks),
        attended=len(waited_for),
        since=min(ask.created_at for ask in waited_for or asks),
    )


def without_crowds(asks: Sequence[Ask]) -> tuple[list[Ask], list[Crowd]]:
    """The asks without those that an agent has beyond a few, and what each agent has beyond these."""
    beyond = [group[FEW:] for group in by_crowd(asks).values() if len(group) > FEW]
    left_out = {ask.id for group in beyond for ask in group}
    return [ask for ask in asks if ask.id not in left_out], [gather(group) for group in beyond]


class Quiet:
    """Which new asks to notify a person of: those of an agent that has many open once in a while, all others always."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock
        self._told: dict[str, int] = {}

    def worth_telling(self, new: Sequence[Ask], crowded: Set[str]) -> list[Ask]:
        """Those to tell of now, permissions among them always. `crowded` are the crowds there are."""
        now = self._clock()
        self._told = {name: at for name, at in self._told.items() if now - at < QUIET}
        silent = self._told.keys() & crowded
        kept = [ask for ask in new if ask.is_permission or ask.asker.crowd not in silent]
        self._told |= {ask.asker.crowd: now for ask in kept if ask.asker.crowd in crowded and not ask.is_permission}
        return kept
