"""A client's prompt that stands in the inbox: looked at, handed over, or taken out of it. It waits for nothing."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from sayso.asks.happening import NOT_WRITTEN
from sayso.asks.model import Ask, Settler, State
from sayso.asks.quorum import next_escalation
from sayso.config import Config
from sayso.errors import AlreadySettled, NotFound, StoreError
from sayso.gates.client import Aftermath, DecidedThere, GateVerdict
from sayso.gates.prompts import AskedPrompt
from sayso.permissions.verdict import Decision

if TYPE_CHECKING:
    from sayso.asks.desk import Held
    from sayso.desks import Desks

STORE_PATIENCE = 60.0
"""Seconds for which a store may be away before the gate gives up."""
TRY_AGAIN, LOOK_SELDOM = 1.0, 15.0
"""Seconds between two looks for a store that is away; and at one that is there, where the bell tells the rest."""
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
        self._away_since, self._more_at = 0.0, next_escalation(held.ask)
        self.told: GateVerdict | None = None

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
            if ask.state is State.PENDING and self._seconds_to(self._held.wait.until) == 0:
                ask = asks.time_out(self._held)
            if ask.state is State.PENDING and self._seconds_to(self._more_at) == 0:
                ask = self._ask_more()
        except StoreError:
            self._away_since = self._away_since or time.monotonic()
            return None
        if ask.state is State.PENDING:
            self._away_since = 0.0
        return ask

    def _ask_more(self) -> Ask:
        """Those are asked as well whose turn it is, because nobody has decided."""
        ask, more = self._desks.asks.escalate(self._held)
        self._more_at = next_escalation(ask)
        if more:
            notify(self._desks.config, ask)
        return ask

    def rest(self) -> float | None:
        """Seconds until it has to be looked at whatever happens: its time is over, or more people are to be asked."""
        times = [self._seconds_to(moment) for moment in (self._held.wait.until, self._more_at)]
        times.append(TRY_AGAIN if self.store_is_away else None)
        return min((each for each in times if each is not None), default=None)

    def _seconds_to(self, moment: int | None) -> float | None:
        return None if moment is None else max(0.0, moment / 1000 - time.time())

    def hand_over(self, ask: Ask, tell: Callable[[GateVerdict], bool]) -> bool:
        """Have the verdict told. It counts as handed over once somebody has taken it, which `tell` says; `told` is it
        then. Whether that is over: where the store goes away before anything was told, it is to be tried again."""
        try:
            verdict = self._question.verdict(ask)
        except StoreError:
            self._away_since = self._away_since or time.monotonic()
            return False
        with suppress(StoreError):  # what was told was told: that it is about to be is in the store by now
            if verdict is None:
                self._desks.asks.release(self._held, LEFT_TO_CLIENT)
            elif tell(verdict):
                self.told = verdict
                self._desks.asks.delivered(self._held)
            else:
                self._desks.asks.release(self._held, NOT_WRITTEN)
        return True

    def withdraw(self, there: DecidedThere) -> None:
        """Take it out of the inbox; it was decided in the client's own prompt."""
        how = self._how(there)
        by = Settler(person="", surface=f"the terminal of {self._title}")
        with suppress(StoreError, NotFound):
            try:
                self._question.withdraw(self._held.ask, by, how)
                self._desks.asks.delivered(self._held)
            except AlreadySettled:
                self.let_go(there)

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

    def let_go(self, there: DecidedThere) -> None:
        """It was decided in the client's own prompt while a verdict of ours was on its way. That an allow came to
        nothing is said with the end of the wait for it."""
        from sayso.gates.overtaken import note  # seldom

        outcome = self._desks.asks.get(self._held.ask.id).outcome
        is_allowed = outcome is not None and outcome.verdict == Decision.ALLOWED
        if is_allowed and there is DecidedThere.ALLOWED and outcome and outcome.changed is None:
            self._desks.asks.delivered(self._held)  # it has the same from there, and does it
            return
        ask = self._desks.asks.release(self._held, self._how(there))
        if not is_allowed:
            note(self._desks, ask.id, Aftermath(there), self._title)

    def note_done_there(self) -> None:
        """A no of ours was told, and the client did it all the same: its own prompt had allowed it by then."""
        from sayso.gates.overtaken import note  # seldom

        with suppress(StoreError, NotFound):
            if noted := note(self._desks, self._held.ask.id, Aftermath.ALLOWED, self._title):
                notify_overtaken(self._desks.config, noted)

    def _how(self, there: DecidedThere) -> str:
        return _HOW[there].format(client=self._title)


def next_look(prompts: Iterable[OpenPrompt]) -> float | None:
    """Seconds until one that a process holds has to be looked at whatever happens; None while there is none."""
    times = [min(LOOK_SELDOM, LOOK_SELDOM if (rest := each.rest()) is None else rest) for each in prompts]
    return min(times, default=None)


def notify(config: Config, ask: Ask) -> None:
    """Have the person told that it waits for them."""
    _tell_beside(config, ask.id)


def notify_overtaken(config: Config, ask: Ask) -> None:
    """Have the person told that what they decided came too late, by their client's own record."""
    _tell_beside(config, ask.id, "overtaken")


def _tell_beside(config: Config, *about: str) -> None:
    """In their own way, by another process: what that takes is too large to be kept here."""
    from sayso import desktop  # only now: gates that a rule decides do without

    chosen = config.notify_command or config.notify_url or config.notify_apprise
    if chosen or (config.notify_desktop and desktop.is_there()):
        words = [sys.executable, "-P", "-m", "sayso.gates.notifying", *about]
        nothing = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1)]
        with suppress(OSError):
            os.posix_spawn(sys.executable, words, os.environ, file_actions=nothing, setsid=True)
