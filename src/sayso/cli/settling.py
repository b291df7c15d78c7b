"""Settling an ask from the command line: the guard, the step itself, and what the person is told of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sayso.agent_guard import refuse_agents_settling
from sayso.asks.model import Answer, Ask, State
from sayso.asks.truth import Handover, as_it_went_on, handover
from sayso.cli.asks_in_words import status
from sayso.cli.shared import settler
from sayso.cli.texts import mark, tr, translated
from sayso.desks import Desks
from sayso.errors import InvalidInput, Problem
from sayso.permissions.action import Action, AllowScope
from sayso.permissions.quorum_words import progress
from sayso.records import record

if TYPE_CHECKING:
    from sayso.permissions.like_rule import LikeRule


@record
class Rejection:
    """A person's no."""

    reason: str


HANDOVER_SECONDS = 2.0
"""How long a command stays to see the outcome arrive at an agent that waits for it."""


class Settling:
    """One ask, about to be settled from here. There is one only where the guard has let this process through, so that
    whatever settles by it was looked at, once."""

    def __init__(self, desks: Desks, ask: Ask) -> None:
        """Refuse early what cannot be settled here: somebody was first, or this is an agent, who is not to speak for a
        person."""
        self.ask = ask
        self._desks, self._by = desks, settler(desks.config)
        if not ask.state.answerable and ask.wanted is None:
            # An ended ask stays as it is; the desk has the words for who ended it.
            desks.asks.answer(ask.id, (), self._by)
        refuse_agents_settling(desks, ask, self._by)

    @classmethod
    def of_permission(cls, desks: Desks, ask: Ask) -> Settling:
        """Refuse what is no permission as well."""
        if ask.wanted is None:
            text = f"ask {ask.id[:8]} asks for no permission. Answer it: sayso answer {ask.id[:8]}"
            raise InvalidInput([Problem(path="ID", text=text)])
        return cls(desks, ask)

    @classmethod
    def of_question(cls, desks: Desks, ask: Ask) -> Settling:
        """Refuse what takes no answer as well."""
        if ask.wanted is not None:
            id = ask.id[:8]
            text = f"ask {id} is a permission, which takes no answer. Decide it: sayso allow {id}, sayso deny {id}"
            raise InvalidInput([Problem(path="ID", text=text)])
        return cls(desks, ask)

    # Each gives back the ask as it is once its agent has been told, or cannot be told for now.

    def as_wanted(self, settlement: Sequence[Answer] | Rejection) -> Ask:
        """Settle as the person wants it."""
        if isinstance(settlement, Rejection):
            return self.reject(settlement.reason)
        return self.answer(settlement)

    def answer(self, answers: Sequence[Answer]) -> Ask:
        """Settle with answers."""
        self._look_who_waits()
        return self._handed_over(self._desks.asks.answer(self.ask.id, answers, self._by))

    def reject(self, reason: str) -> Ask:
        """Settle with a no: a permission is denied, everything else rejected."""
        self._look_who_waits()
        if self.ask.wanted is not None:
            return self._handed_over(self._desks.permissions.deny(self.ask.id, self._by, reason))
        return self._handed_over(self._desks.asks.reject(self.ask.id, reason, self._by))

    def allow(self, digest: str, scope: AllowScope | None, instead: Action | None = None) -> Ask:
        """Allow the action with this digest, or what a person has made of it."""
        self._look_who_waits()
        permissions = self._desks.permissions
        if instead is None:
            allowed = permissions.allow(self.ask.id, digest, self._by, scope)
        else:
            given = instead.data["input"]
            allowed = permissions.allow(self.ask.id, digest, self._by, scope, given, instead.digest)
        return self._decided(allowed)

    def allow_like(self, digest: str, rule: LikeRule) -> Ask:
        """Allow the action with this digest, and by a rule what is like it."""
        self._look_who_waits()
        return self._decided(self._desks.permissions.allow_like(self.ask.id, digest, self._by, rule))

    def refuse_late_yes(self) -> None:
        """Refuse, before anything is shown of it, what has ended; it is logged that a yes came too late."""
        if not self.ask.state.answerable:
            self._desks.permissions.allow(self.ask.id, self.ask.digest, self._by)

    def take_back(self) -> Ask:
        """Take the yes back that this person gave."""
        return self._desks.permissions.take_back(self.ask.id, self._by)

    def _look_who_waits(self) -> None:
        """A wait of a dead process is none, and the bell must hang before there is something to hear."""
        self._desks.bell()
        self._desks.asks.release_the_dead()

    def _decided(self, allowed: Ask) -> Ask:
        self._desks.asks.keep_draft(self.ask.id, self._by.person, "")
        return self._handed_over(allowed)

    def _handed_over(self, settled: Ask) -> Ask:
        """Watch the outcome being delivered, if somebody waits for it; for a short while only."""
        ask, end = settled, time.monotonic() + HANDOVER_SECONDS
        while ask.wait and ask.state is not State.PENDING and (left := end - time.monotonic()) > 0:
            self._desks.bell().wait(left)
            ask = self._desks.asks.get(ask.id)
        return as_it_went_on(settled, ask)


def what_happens(ask: Ask) -> str:
    """What a person should know after settling."""
    if ask.state is State.PENDING:
        return tr(
            "Your yes counts. Agreed so far: {progress}. Nothing is done before all have.", progress=progress(ask)
        )
    done = translated(status(ask)).capitalize()
    match handover(ask):
        case Handover.RECEIVED if ask.state is State.ANSWERED and not ask.is_permission:
            return tr("{done}. The agent has your answer.", done=done)
        case Handover.RECEIVED if ask.outcome and ask.outcome.changed is not None:
            said = mark("{done}. The agent has been told that it may, not what you changed: tell it, if it matters.")
            return tr(said, done=done)
        case Handover.RECEIVED:
            return tr("{done}. The agent has been told.", done=done)
        case Handover.NO_EFFECT if ask.outcome:
            return tr("{done}: {why}.", done=done, why=translated(ask.outcome.void))
        case Handover.ON_ITS_WAY:
            return tr("{done}. Waiting for the agent to fetch it.", done=done)
        case Handover.AT_ITS_FORM:
            said = mark("{done}. The agent's client still shows its own form; the agent is told once that is closed.")
            return tr(said, done=done)
        case Handover.TO_BE_FETCHED:
            return tr("{done}. The agent went on without waiting; it is told when it comes back for this.", done=done)
        case Handover.TOO_LATE:
            return tr("{done}. The command that asked had ended, and does not take a late yes or no.", done=done)
        case Handover.KEPT_FOR_SESSION:
            said = mark(
                "{done}. The agent is not waiting now; it will be told when the session that asked does so again."
            )
            return tr(said, done=done)
    return tr("{done}. The agent is not waiting now; it will be told when it asks again.", done=done)
