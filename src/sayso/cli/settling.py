"""Settling an ask from the command line: the guard, the step itself, and what the person is told of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sayso.asks.guard import refuse_self_answer
from sayso.asks.model import Answer, Ask, Problems, State, check_text
from sayso.asks.truth import Handover, handover
from sayso.cli.session import CliSession
from sayso.cli.texts import mark, tr, translated


@dataclass(frozen=True, kw_only=True)
class Rejection:
    """A person's no."""

    reason: str


HANDOVER_SECONDS = 2.0
"""How long a command stays to see the outcome arrive at an agent that waits for it."""


def settle(session: CliSession, ask: Ask, settlement: Sequence[Answer] | Rejection) -> Ask:
    """Settle as the person wants it. The ask as it is once its agent has been told, or cannot be told for now."""
    if isinstance(settlement, Rejection):
        return reject(session, ask, settlement.reason)
    return answer(session, ask, settlement)


def check_open(session: CliSession, ask: Ask) -> None:
    """Refuse early what cannot be settled here: somebody was first, or this is the asking agent itself."""
    if not ask.state.answerable:
        # An ended ask stays as it is; the desk has the words for who ended it.
        session.desk.answer(ask.id, (), session.settler)
    refuse_self_answer(session.desk, ask, session.settler)


def answer(session: CliSession, ask: Ask, answers: Sequence[Answer]) -> Ask:
    """Settle with answers."""
    check_open(session, ask)
    _look_who_waits(session)
    return _handed_over(session, session.desk.answer(ask.id, answers, session.settler))


def reject(session: CliSession, ask: Ask, reason: str) -> Ask:
    """Settle with a no."""
    problems = Problems()
    check_text(problems, "--reason", reason)
    problems.check()
    check_open(session, ask)
    _look_who_waits(session)
    return _handed_over(session, session.desk.reject(ask.id, reason, session.settler))


def what_happens(ask: Ask) -> str:
    """What a person should know after settling."""
    done = translated(ask.state.value).capitalize()
    match handover(ask):
        case Handover.RECEIVED if ask.state is State.ANSWERED:
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
    return tr("{done}. The agent is not waiting now; it will be told when it asks again.", done=done)


def _look_who_waits(session: CliSession) -> None:
    """A wait of a dead process is none, and the bell must hang before there is something to hear."""
    session.store.bell()
    session.desk.release_the_dead()


def _handed_over(session: CliSession, settled: Ask) -> Ask:
    """Watch the outcome being delivered, if somebody waits for it; for a short while only."""
    ask, end = settled, time.monotonic() + HANDOVER_SECONDS
    while ask.wait and (left := end - time.monotonic()) > 0:
        session.store.bell().wait(left)
        ask = session.desk.get(ask.id)
    # Delivered asks may have been wiped; the person still wants to see what they said.
    return replace(settled, wait=ask.wait, delivered_at=ask.delivered_at)
