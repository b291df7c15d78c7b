"""Presence: whether a person is here, at the terminal of an agent, or away from it. `docs/presence.md` has the table of
what follows from it.

What a person says counts first: `away` until its time is over or they say `back`, `back` for as long as they would
count as here after a key. Where they have said nothing, the terminal tells: it notes when a key was last pressed in it.
What is done in an inbox says nothing about a terminal, so it changes nothing here.
"""

from __future__ import annotations

from sayso.clock import Clock, now_ms
from sayso.records import record
from sayso.store import Store
from sayso.terminals import last_key


@record
class Whereabouts:
    """What a person has said of themselves: that they are away, or back."""

    away: bool
    since: int
    until: int | None
    """When it stops to hold; None: with the next word of theirs."""
    surface: str


class PresenceDesk:
    """Keeps what people say of themselves, and knows who is away from which terminal."""

    def __init__(self, store: Store, *, away_after: int, clock: Clock = now_ms) -> None:
        """`away_after`: milliseconds for which somebody counts as here after a key."""
        self._store, self._away_after, self._clock = store, away_after, clock

    def go_away(self, person: str, surface: str, until: int | None = None) -> Whereabouts:
        """The person is away, until this moment if there is one. Whoever waits is woken."""
        return self._say(person, Whereabouts(away=True, since=self._clock(), until=until, surface=surface))

    def come_back(self, person: str, surface: str) -> Whereabouts:
        """The person is here, and will count as away again after a while without a key. Whoever waits is woken."""
        now = self._clock()
        return self._say(person, Whereabouts(away=False, since=now, until=now + self._away_after, surface=surface))

    def said(self, person: str) -> Whereabouts | None:
        """What this person has said of themselves, as long as it holds."""
        row = self._store.one("presence", person=person)
        if row is None or (row["until"] is not None and row["until"] <= self._clock()):
            return None
        return Whereabouts(away=bool(row["away"]), since=row["since"], until=row["until"], surface=row["surface"])

    def absence(self, person: str) -> Whereabouts | None:
        """That this person has said that they are away, if that is so."""
        said = self.said(person)
        return said if said and said.away else None

    def is_away(self, person: str, terminal: str = "") -> bool:
        """Whether this person will not see what is asked in a terminal (`terminals.terminal_of` names it). Nobody sees
        what is asked where there is none."""
        said = self.said(person)
        return said.away if said else self.still_for(terminal) >= self._away_after

    def still_for(self, terminal: str) -> float:
        """Milliseconds since a key was pressed in a terminal; endless where there is none."""
        last = last_key(terminal)
        return float("inf") if last is None else max(0, self._clock() - last)

    def _say(self, person: str, said: Whereabouts) -> Whereabouts:
        values = {"away": int(said.away), "now": said.since, "until": said.until, "surface": said.surface}
        self._store.write(lambda tx: tx.run("put_presence", person=person, **values))
        return said
