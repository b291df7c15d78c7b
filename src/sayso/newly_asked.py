"""Of what a person who looks at no inbox is to be told now, for all ways that tell them from `sayso web`.

Whoever looks at a page or at the terminal inbox is told nothing, whoever types in the agent's own terminal is left
alone for a while. Several servers on one store claim what they tell, so that it is told by one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from sayso.asks.crowds import Crowd, Quiet
from sayso.asks.desk import AskDesk
from sayso.asks.model import Ask, State
from sayso.asks.quorum import is_asked
from sayso.clock import now_ms
from sayso.config import Config
from sayso.errors import NotFound
from sayso.notify import terminal_here
from sayso.presence import PresenceDesk
from sayso.records import replace

MOST_ASKS = 200
"""That are looked at in one trip, and told in one look."""
_NEXT = 1.0
"""Seconds until it is the turn of the others, where there are more."""
DAY = 86_400_000
_LATER = 0.02
"""Seconds after a moment at which it is over by every clock."""


@dataclass(frozen=True, kw_only=True)
class NewsOfAsks:
    """What is new for one person."""

    asks: tuple[Ask, ...]
    wait: float
    """How many seconds from now there may be more without a ring; 0: none."""
    listed: frozenset[str]
    """The ids of all that waits for this person."""


class NewlyAsked:
    """Looks for one process and one way of telling. Plain code."""

    def __init__(
        self, way: str, config: Config, asks: AskDesk, presence: PresenceDesk, claim: Callable[[str], bool]
    ) -> None:
        """`claim` says whether a key is claimed for the first time, in all processes of the store."""
        self._way, self._config, self._asks, self._presence, self._claim = way, config, asks, presence, claim
        self._people: dict[str, _Person] = {}

    def forget_all_but(self, users: Iterable[str]) -> None:
        self._people = {name: self._people[name] for name in users if name in self._people}

    def look(self, user: str, account: str, since: int, looks: bool) -> NewsOfAsks:
        """What this person is to be told of now: what was asked since then, and what they had put off and has come back
        since. `looks`: they look at a page."""
        names, since = {user, account} - {""}, max(since, now_ms() - DAY)
        waiting, put_off, back = self._asks.open_for(user), self._put_off(names), self._back(names, since)
        asked = [key for key, at in waiting.items() if at >= since and key not in put_off]
        person = self._person(user, {*asked, *back})
        fresh = [key for key in asked if key not in person.done]
        newest = self._newest_of(fresh, user)
        news = self._news(user, names, looks, waiting, newest | back)
        if len(newest) >= MOST_ASKS:
            news = replace(news, wait=min(news.wait or _NEXT, _NEXT))
        return _or_back(news, put_off)

    def look_who_is_back(self, user: str, account: str, looks: bool) -> NewsOfAsks:
        """The same only for what they had put off."""
        names = {user, account} - {""}
        waiting, put_off, back = self._asks.open_for(user), self._put_off(names), self._back(names, now_ms() - DAY)
        self._person(user, back.keys())
        return _or_back(self._news(user, names, looks, waiting, back), put_off)

    def _person(self, user: str, known: Set[str]) -> _Person:
        """What was done for this person of all that may be new."""
        person = self._people.setdefault(user, _Person())
        person.done &= known
        return person

    def _newest_of(self, fresh: Sequence[str], user: str) -> dict[str, Ask]:
        """The newest of these that this person is asked, some at a time: of very many, the others are next."""
        found = dict[str, Ask]()
        for end in range(len(fresh), 0, -MOST_ASKS):
            some = self._asks.each(fresh[max(0, end - MOST_ASKS) : end])
            found |= {ask.id: ask for ask in some if ask.state is State.PENDING and is_asked(ask, user)}
            if len(found) >= MOST_ASKS:
                break
        return found

    def _put_off(self, names: Iterable[str]) -> dict[str, int]:
        """The ids of what they have put off, each with when the first of them sees it again."""
        found = sorted(((each.until, each.ask.id) for name in names for each in self._asks.snoozed(name)), reverse=True)
        return {ask: until for until, ask in found}

    def _back(self, names: Iterable[str], since: int) -> dict[str, Ask]:
        """By a name for each time that it comes back."""
        found = [each for name in names for each in self._asks.back(name, since)]
        return {f"{each.ask.id} {each.until}": each.ask for each in found}

    def _news(
        self, user: str, names: set[str], looks: bool, waiting: Mapping[str, int], things: Mapping[str, Ask]
    ) -> NewsOfAsks:
        person = self._people[user]
        new = {key: ask for key, ask in things.items() if key not in person.done and ask.id in waiting}
        news, waits = self._of_now(user, names, looks, new) if new else ([], [])
        told = person.quiet.worth_telling(news, self._crowded(user)) if news else []
        return NewsOfAsks(asks=tuple(told), wait=min(filter(None, waits), default=0.0), listed=frozenset(waiting))

    def _crowded(self, user: str) -> set[str]:
        """The agents that have many open."""
        entries = self._asks.folded(person=user, most=1).entries
        return {entry.name for entry in entries if isinstance(entry, Crowd)}

    def claim(self, user: str, thing: str) -> bool:
        """Whether this person is told of a thing, and by this process."""
        return self._claim(f"{self._way} {user} {thing}")

    def _of_now(self, user: str, names: set[str], looks: bool, new: Mapping[str, Ask]) -> tuple[list[Ask], list[float]]:
        """Those to tell of now, and how long somebody who types is to be left alone."""
        person = self._people[user]
        away = any(self._presence.absence(name) for name in names)
        sees = not away and (looks or any(each.person in names for each in self._asks.open_surfaces()))
        told, waits = dict[str, Ask](), list[float]()
        for key, ask in new.items():
            left = 0.0 if away or sees else self._left(ask)
            if left > 0:
                waits.append(left)
                continue
            person.done.add(key)
            if self.claim(user, key) and not sees:
                told[ask.id] = ask
        return list(told.values()), waits

    def _left(self, ask: Ask) -> float:
        still = self._presence.still_for(terminal_here(ask.asker))
        return (self._config.notify_after_typing - still) / 1000


def _or_back(news: NewsOfAsks, put_off: Mapping[str, int]) -> NewsOfAsks:
    """The same with a look when the next of what they have put off is back: nothing rings then."""
    if not put_off:
        return news
    until = max(min(put_off.values()) - now_ms(), 0) / 1000 + _LATER
    return replace(news, wait=min(news.wait or until, until))


def is_open(asks: AskDesk, ask_id: str) -> bool:
    try:
        return asks.get(ask_id).state.answerable
    except NotFound:
        return False


class _Person:
    """What was done for one person by this process."""

    def __init__(self) -> None:
        self.done: set[str] = set()
        self.quiet = Quiet(now_ms)
