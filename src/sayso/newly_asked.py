"""Of what a person who looks at no inbox is to be told now, for all ways that tell them from `sayso web`.

Whoever looks at a page or at the terminal inbox is told nothing, whoever types in the agent's own terminal is left
alone for a while. Several servers on one store claim what they tell, so that it is told by one of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sayso.asks.crowds import FEW, Quiet
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
        inbox = self._asks.inbox(person=user, most=MOST_ASKS)
        put_off = self._put_off(names)
        asked = {ask.id: ask for ask in inbox if _is_new(ask, user, since) and ask.id not in put_off}
        news = self._news(user, names, looks, inbox, asked | self._back(names, since))
        return _or_back(news, put_off)

    def look_who_is_back(self, user: str, account: str, looks: bool) -> NewsOfAsks:
        """The same only for what they had put off."""
        names = {user, account} - {""}
        inbox, put_off = self._asks.inbox(person=user, most=MOST_ASKS), self._put_off(names)
        return _or_back(self._news(user, names, looks, inbox, self._back(names, now_ms() - DAY)), put_off)

    def _put_off(self, names: Iterable[str]) -> dict[str, int]:
        """The ids of what they have put off, each with when the first of them sees it again."""
        found = sorted(((each.until, each.ask.id) for name in names for each in self._asks.snoozed(name)), reverse=True)
        return {ask: until for until, ask in found}

    def _back(self, names: Iterable[str], since: int) -> dict[str, Ask]:
        """By a name for each time that it comes back."""
        found = [each for name in names for each in self._asks.back(name, since)]
        return {f"{each.ask.id} {each.until}": each.ask for each in found}

    def _news(
        self, user: str, names: set[str], looks: bool, inbox: Sequence[Ask], things: Mapping[str, Ask]
    ) -> NewsOfAsks:
        person, listed = self._people.setdefault(user, _Person()), frozenset(ask.id for ask in inbox)
        new = {key: ask for key, ask in things.items() if key not in person.done and ask.id in listed}
        person.done &= things.keys()
        news, waits = self._of_now(user, names, looks, new) if new else ([], [])
        crowded = {name for name, count in Counter(ask.asker.crowd for ask in inbox).items() if name and count > FEW}
        told = person.quiet.worth_telling(news, crowded)
        return NewsOfAsks(asks=tuple(told), wait=min(filter(None, waits), default=0.0), listed=listed)

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


def _is_new(ask: Ask, user: str, since: int) -> bool:
    return ask.state is State.PENDING and ask.created_at >= since and is_asked(ask, user)
