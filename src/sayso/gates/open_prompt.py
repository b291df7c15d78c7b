"""A client's prompt that stands in the inbox: looked at, handed over, or taken out of it. It waits for nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from sayso.asks.happening import NOT_WRITTEN
from sayso.asks.model import Ask, Settler, State
from sayso.errors import AlreadySettled, NotFound, StoreError
from sayso.gates.client import DecidedThere, GateVerdict
from sayso.gates.prompts import AskedPrompt

if TYPE_CHECKING:
    from sayso.asks.desk import Held
    from sayso.desks import Desks

STORE_PATIENCE = 60.0
"""Seconds for which a store may be away before the gate gives up."""
LEFT_TO_CLIENT = "its client's own prompt decides"
_HOW = {
    DecidedThere.ALLOWED: "allowed in the terminal of {client}",
    DecidedThere.DENIED: "denied in the terminal of {client}",
    DecidedThere.ANSWERED: "answered in the terminal of {client}",
    DecidedThere.UNKNOWN: "decided in the terminal of {client}",
}


class OpenPrompt:
    """`title` and `name` are the client's, for people and for MCP."""

    def __init__(self, title: str, name: str, question: AskedPrompt, held: Held, desks: Desks) -> None:
        self._title, self._name, self._question, self._held, self._desks = title, name, question, held, desks
        self._away_since = 0.0

    @property
    def ask(self) -> Ask:
        """As it was when it was put."""
        return self._held.ask

    @property
    def store_is_away(self) -> bool:
        return bool(self._away_since)

    @property
    def is_given_up(self) -> bool:
        """Whether the store has been away for too long."""
        return self.store_is_away and time.monotonic() > self._away_since + STORE_PATIENCE

    def look(self) -> Ask | None:
        """The ask as it is now; None while the store is away."""
        asks = self._desks.asks
        try:
            ask = asks.get(self._held.ask.id)
            if ask.state is State.PENDING and ask.wait is None:
                ask = asks.hold_again(self._held)
            if ask.state is State.PENDING and self.rest() == 0:
                ask = asks.time_out(self._held)
        except StoreError:
            self._away_since = self._away_since or time.monotonic()
            return None
        self._away_since = 0.0
        return ask

    def rest(self) -> float | None:
        """Seconds that are left of its time, where it has a limit."""
        until = self._held.wait.until
        return None if until is None else max(0.0, until / 1000 - time.time())

    def hand_over(self, ask: Ask, tell: Callable[[GateVerdict], bool]) -> None:
        """Have the verdict told. It counts as handed over once somebody has taken it, which `tell` says."""
        verdict = self._question.verdict(ask)
        if verdict is None:
            self._desks.asks.release(self._held, LEFT_TO_CLIENT)
        elif tell(verdict):
            self._desks.asks.delivered(self._held)
        else:
            self._desks.asks.release(self._held, NOT_WRITTEN)

    def withdraw(self, there: DecidedThere) -> None:
        """Take it out of the inbox; it was decided in the client's own prompt."""
        how = self.how(there)
        by = Settler(person="", surface=f"the terminal of {self._title}")
        with suppress(StoreError, NotFound):
            try:
                self._question.withdraw(self._held.ask, by, how)
                self._desks.asks.delivered(self._held)
            except AlreadySettled:
                self._desks.asks.release(self._held, how)

    def leave(self, why: str) -> None:
        """Nobody is left who could be told: what was asked is of no use."""
        by = Settler(person="", surface=self._name)
        with suppress(StoreError, NotFound):
            try:
                if not self._held.ask.bound:
                    self._desks.asks.withdraw(self._held.ask.id, by, why)
                    self._desks.asks.delivered(self._held)
            except AlreadySettled:
                pass
            self._desks.asks.release(self._held, why)

    def let_go(self, why: str) -> None:
        """It was decided otherwise while a verdict of ours was on its way."""
        self._desks.asks.release(self._held, why)

    def how(self, there: DecidedThere) -> str:
        return _HOW[there].format(client=self._title)
