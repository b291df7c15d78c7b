"""Of what a person who looks at no inbox is to be told now, for all ways that tell them from `sayso web`.

Whoever looks at a page or at the terminal inbox is told nothing, whoever types in the agent's own terminal is left
alone for a while. Several servers on one store claim what they tell, so that it is told by one of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
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

MOST_ASKS = 200
DAY = 86_400_000


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
        """What this person is to be told of now, of what was asked since then. `looks`: they look at a page."""
        person, names = self._people.setdefault(user, _Person()), {user, account} - {""}
        since = max(since, now_ms() - DAY)
        inbox = self._asks.inbox(person=user, most=MOST_ASKS)
        new = [ask for ask in inbox if _is_new(ask, user, since) and ask.id not in person.done]
        person.done &= {ask.id for ask in inbox}
        news, wait = self._of_now(user, names, looks, new) if new else ([], 0.0)
        crowded = {name for name, count in Counter(ask.asker.crowd for ask in inbox).items() if name and count > FEW}
        told = person.quiet.worth_telling(news, crowded)
        return NewsOfAsks(asks=tuple(told), wait=wait, listed=frozenset(ask.id for ask in inbox))

    def claim(self, user: str, thing: str) -> bool:
        """Whether this person is told of a thing, and by this process."""
        return self._claim(f"{self._way} {user} {thing}")

    def _of_now(self, user: str, names: set[str], looks: bool, new: Iterable[Ask]) -> tuple[list[Ask], float]:
        """Those to tell of now, and how long somebody who types is to be left alone."""
        person = self._people[user]
        away = any(self._presence.absence(name) for name in names)
        sees = not away and (looks or any(each.person in names for each in self._asks.open_surfaces()))
        told, waits = [], []
        for ask in new:
            left = 0.0 if away or sees else self._left(ask)
            if left > 0:
                waits.append(left)
                continue
            person.done.add(ask.id)
            if self.claim(user, ask.id) and not sees:
                told.append(ask)
        return told, min(waits, default=0.0)

    def _left(self, ask: Ask) -> float:
        still = self._presence.still_for(terminal_here(ask.asker))
        return (self._config.notify_after_typing - still) / 1000


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
