"""The asks of a run as cards in its conversation: which of its states a card shows, in which words.

The words of the four states are the relay's own. Everything here is plain text and data; the template makes it HTML.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from sayso.agents.model import Run, RunState
from sayso.asks import words
from sayso.asks.model import CLIENT_FORM, Ask, Away, Question, State
from sayso.dialects import relay
from sayso.permissions.action import AllowScope
from sayso.permissions.verdict import Decision, Verdict, verdict_of
from sayso.text import isolated, one_line
from sayso.web import wording
from sayso.web.permission_card import how_long

_SAID_CHARACTERS = 400
_HOW_FAR = {
    AllowScope.ONCE: "",
    AllowScope.SESSION: " {}",
    AllowScope.TOOL: ", and every call of this tool for the rest of the session",
}
_HERE = ("", "browser", "relay")
"""The surfaces that this page is."""


@dataclass(frozen=True, kw_only=True)
class Card:
    """How an ask stands in its conversation: `open`, `sent`, `answered`, `timed_out` or `closed`."""

    state: str
    text: str = ""
    note: str = ""


class Since(IntEnum):
    """What the agent has done since its ask ended."""

    NOTHING = 0
    WENT_ON = 1
    ENDED = 2
    INTERRUPTED = 3


_LET_GO = {
    Since.NOTHING: "stopped waiting",
    Since.WENT_ON: "stopped waiting",
    Since.ENDED: "ended",
    Since.INTERRUPTED: "was interrupted",
}


def since(ask: Ask, run: Run, heard_at: int) -> Since:
    """`heard_at` is when the agent of the run was last heard of."""
    if run.state.ended or ask.asker.run != run.id:
        # In this turn of the conversation, or in one before.
        return Since.INTERRUPTED if run.state is RunState.STOPPED else Since.ENDED
    return Since.WENT_ON if ask.received and ask.ended_at and heard_at >= ask.ended_at else Since.NOTHING


def card(ask: Ask, agent: str, since: Since) -> Card:
    """What the card of an ask says. `agent` is what the agent is called."""
    match ask.state:
        case State.PENDING if ask.wait:
            return Card(state="open")
        case State.PENDING:
            return Card(state="open", note=_away(ask, agent))
        case State.ANSWERED if ask.wait and not ask.delivered:
            return sent(agent)
        case State.ANSWERED if verdict := verdict_of(ask):
            # Its client may say that it was done all the same.
            noted = f". {ask.outcome.noted}" if ask.outcome and ask.outcome.noted else ""
            return Card(state="answered", text=f"{_decided(ask, verdict)}{noted}", note=_elsewhere(ask))
        case State.ANSWERED if ask.received and since is Since.NOTHING:
            return sent(agent)
        case State.ANSWERED:
            return answered(said(ask), note=_elsewhere(ask))
        case State.TIMED_OUT:
            return timed_out()
        case State.SUPERSEDED if ask.ran_out:
            return timed_out()
        case State.SUPERSEDED:
            return Card(state="closed", text="A newer question took the place of this one")
        case State.EXPIRED if ask.abandoned:
            return Card(state="closed", text=f"{agent} {_LET_GO[since]} before anybody decided")
        case State.EXPIRED:
            return Card(state="closed", text="Nobody decided in time" if ask.is_permission else "Question expired")
        case State.CANCELLED if ask.let_go:
            return Card(state="closed", text=f"Nobody decided: {ask.withdrawn or 'the call ended'}")
    reason = isolated(one_line(ask.outcome.reason, _SAID_CHARACTERS)) if ask.outcome else ""
    return Card(state="closed", text=f"You {ask.state} this" + (f": {reason}" if reason else ""))


def _away(ask: Ask, agent: str) -> str:
    """What a person should know of an agent that does not wait for this."""
    match ask.away:
        case Away.IN_FORM:
            return f"{agent} shows this in a form of its own, and gets your answer when that form is closed."
        case Away.AT_WORK:
            return f"{agent} went on without waiting. It gets your answer when it comes back for it."
    return f"{agent} is not waiting for this any more. If it asks the same again, it gets your answer."


def is_relayed(ask: Ask) -> bool:
    """Whether it came by the relay, and its answer goes that way."""
    return ask.tool == relay.TOOL


def said(ask: Ask) -> str:
    """The answers of an ask in one line."""
    told = [_said(question, ask) for question in ask.questions]
    return one_line("; ".join(text for text in told if text), _SAID_CHARACTERS)


def question_data(ask: Ask, run: Run) -> dict[str, Any]:
    """A relayed question as the relay's own event has it."""
    return {**relay.question_data(ask.questions[0]), "streamToken": run.token}


def sent(agent: str) -> Card:
    """Until the agent is heard of again: it may have the answer and think."""
    return Card(state="sent", text=f"Answer sent, waiting for {agent}...")


def timed_out() -> Card:
    return Card(state="timed_out", text="Question timed out")


def answered(words: str, note: str = "") -> Card:
    """A card that is done with."""
    return Card(state="answered", text=f"You answered: {isolated(words)}" if words else "You answered", note=note)


def _decided(ask: Ask, verdict: Verdict) -> str:
    """What a person decided about a permission. Everything but a plain allow was a no."""
    if verdict.allowed and verdict.edited:
        return "You allowed this as you edited it"
    if verdict.allowed:
        return f"You allowed this{_HOW_FAR[verdict.scope].format(how_long(ask))}"
    because = isolated(one_line(verdict.because, _SAID_CHARACTERS))
    if verdict.decision is Decision.NOT_DONE:
        return f"You allowed this, but it was not done: it {because}"
    return f"You denied this: {because}" if because else "You denied this"


def _said(question: Question, ask: Ask) -> str:
    answer = ask.answer(question.id)
    if answer is None:
        return ""
    parts = [*wording.chosen_labels(question, answer), *([answer.text] if answer.text else [])]
    parts += [each.name for each in answer.attachments]
    return ", ".join(parts) + (f" ({answer.note})" if answer.note else "")


def _elsewhere(ask: Ask) -> str:
    """Where it was answered, when that was not in a browser."""
    surface = ask.outcome.surface if ask.outcome else ""
    if surface == CLIENT_FORM:
        return f"through {wording.client(ask)}'s own form"
    return words.place(surface, 40) if surface not in _HERE else ""
