"""Settling an ask from the command line: the guard, the step itself, and what the person is told of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sayso.agent_guard import refuse_agents_settling
from sayso.asks.model import Answer, Ask, State
from sayso.asks.truth import Handover, handover
from sayso.cli.asks_in_words import status
from sayso.cli.shared import settler
from sayso.cli.texts import mark, tr, translated
from sayso.desks import Desks
from sayso.errors import InvalidInput, Problem
from sayso.permissions.action import Action, AllowScope
from sayso.permissions.quorum_words import progress
from sayso.records import record, replace

if TYPE_CHECKING:
    from sayso.permissions.like_rule import LikeRule


@record
class Rejection:
    """A person's no."""

    reason: str


HANDOVER_SECONDS = 2.0
"""How long a command stays to see the outcome arrive at an agent that waits for it."""


def settle(desks: Desks, ask: Ask, settlement: Sequence[Answer] | Rejection) -> Ask:
    """Settle as the person wants it. The ask as it is once its agent has been told, or cannot be told for now."""
    if isinstance(settlement, Rejection):
        return reject(desks, ask, settlement.reason)
    return answer(desks, ask, settlement)


def check_open(desks: Desks, ask: Ask) -> None:
    """Refuse early what cannot be settled here: somebody was first, or this is an agent, who is not to speak for a
    person."""
    by = settler(desks.config)
    if not ask.state.answerable and ask.wanted is None:
        # An ended ask stays as it is; the desk has the words for who ended it.
        desks.asks.answer(ask.id, (), by)
    refuse_agents_settling(desks, ask, by)
    if not ask.state.answerable:
        desks.permissions.deny(ask.id, by)  # which logs that somebody came too late


def check_permission(desks: Desks, ask: Ask) -> None:
    """Refuse early what is no permission, or cannot be decided here."""
    if ask.wanted is None:
        text = f"ask {ask.id[:8]} asks for no permission. Answer it: sayso answer {ask.id[:8]}"
        raise InvalidInput([Problem(path="ID", text=text)])
    check_open(desks, ask)


def check_question(desks: Desks, ask: Ask) -> None:
    """Refuse early what takes no answer, or cannot be answered here."""
    if ask.wanted is not None:
        short = ask.id[:8]
        text = f"ask {short} is a permission, which takes no answer. Decide it: sayso allow {short}, sayso deny {short}"
        raise InvalidInput([Problem(path="ID", text=text)])
    check_open(desks, ask)


def allow(desks: Desks, ask: Ask, digest: str, scope: AllowScope | None, instead: Action | None = None) -> Ask:
    """Allow the action with this digest, or what a person has made of it."""
    _look_who_waits(desks)
    by = settler(desks.config)
    if instead is None:
        allowed = desks.permissions.allow(ask.id, digest, by, scope)
    else:
        given = instead.data["input"]
        allowed = desks.permissions.allow(ask.id, digest, by, scope, given, instead.digest)
    desks.asks.keep_draft(ask.id, by.person, "")
    return _handed_over(desks, allowed)


def allow_like(desks: Desks, ask: Ask, digest: str, rule: LikeRule) -> Ask:
    """Allow the action with this digest, and by a rule what is like it."""
    _look_who_waits(desks)
    by = settler(desks.config)
    allowed = desks.permissions.allow_like(ask.id, digest, by, rule)
    desks.asks.keep_draft(ask.id, by.person, "")
    return _handed_over(desks, allowed)


def take_back(desks: Desks, ask: Ask) -> Ask:
    """Take the yes back that this person gave."""
    return desks.permissions.take_back(ask.id, settler(desks.config))


def answer(desks: Desks, ask: Ask, answers: Sequence[Answer]) -> Ask:
    """Settle with answers."""
    check_question(desks, ask)
    _look_who_waits(desks)
    return _handed_over(desks, desks.asks.answer(ask.id, answers, settler(desks.config)))


def reject(desks: Desks, ask: Ask, reason: str) -> Ask:
    """Settle with a no: a permission is denied, everything else rejected."""
    check_open(desks, ask)
    _look_who_waits(desks)
    by = settler(desks.config)
    if ask.wanted is not None:
        return _handed_over(desks, desks.permissions.deny(ask.id, by, reason))
    return _handed_over(desks, desks.asks.reject(ask.id, reason, by))


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
        case Handover.RECEIVED:
            return tr("{done}. The agent has been told.", done=done)
        case Handover.ON_ITS_WAY:
            return tr("{done}. Waiting for the agent to fetch it.", done=done)
        case Handover.AT_ITS_FORM:
            said = mark("{done}. The agent's client still shows its own form; the agent is told once that is closed.")
            return tr(said, done=done)
        case Handover.TO_BE_FETCHED:
            return tr("{done}. The agent went on without waiting; it is told when it comes back for this.", done=done)
        case Handover.KEPT_FOR_SESSION:
            said = mark(
                "{done}. The agent is not waiting now; it will be told when the session that asked does so again."
            )
            return tr(said, done=done)
    return tr("{done}. The agent is not waiting now; it will be told when it asks again.", done=done)


def _look_who_waits(desks: Desks) -> None:
    """A wait of a dead process is none, and the bell must hang before there is something to hear."""
    desks.bell()
    desks.asks.release_the_dead()


def _handed_over(desks: Desks, settled: Ask) -> Ask:
    """Watch the outcome being delivered, if somebody waits for it; for a short while only."""
    ask, end = settled, time.monotonic() + HANDOVER_SECONDS
    while ask.wait and ask.state is not State.PENDING and (left := end - time.monotonic()) > 0:
        desks.bell().wait(left)
        ask = desks.asks.get(ask.id)
    # Delivered asks may have been wiped; the person still wants to see what they said.
    return replace(settled, wait=ask.wait, delivered_at=ask.delivered_at)
