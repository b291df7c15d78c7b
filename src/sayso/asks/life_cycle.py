"""The life of an ask, and of a permission, which is one: every step there is, from which state to which it leads, and
who takes it.

`AskTable` keeps no other step than these, whoever wants it. The tests that try each step in each state, and the table
and the diagram in `docs/life-cycle.md`, are made of them too.
"""

from __future__ import annotations

from typing import NamedTuple

from sayso.asks.model import Ask, Settler, State
from sayso.errors import ImpossibleStep

AGENT, PERSON, SAYSO, CLIENT = "the agent", "a person", "Sayso", "the agent's client"
QUESTION, PERMISSION = "question", "permission"

_PENDING = (State.PENDING,)
_OPEN = (State.PENDING, State.TIMED_OUT)
_OVER = tuple(state for state in State if state not in _OPEN)


class Move(NamedTuple):
    """One thing that can happen to an ask."""

    name: str
    """What its event is called."""
    by: str
    before: tuple[State, ...]
    """In which states it can happen."""
    after: State | None
    """The state it leads to; None if the ask stays what it is."""
    says: str
    kind: str = ""
    """The one kind of ask that takes it, a question or a permission; empty for both."""
    settles: bool = False
    """Whether it brings the outcome, which none of the others may bring."""
    marks: bool = False
    """Whether it may leave a mark on an outcome that is there, or take its texts away for those who keep no history."""


STEPS = (
    Move("attended", AGENT, _PENDING, None, "A call waits for it: the first one, or one that asks the same."),
    Move("attended", AGENT, (State.TIMED_OUT,), State.PENDING, "The agent asks it again, and waits anew.", QUESTION),
    Move("attended", AGENT, _OVER, None, "A call comes to fetch what was decided in the meantime."),
    Move("unattended", AGENT, tuple(State), None, "The call has gone, by itself or with its process. It stays open."),
    Move("resumed", AGENT, tuple(State), None, "Its session goes on in another process and expects the answer there."),
    Move("answered", PERSON, _OPEN, State.ANSWERED, "Somebody has answered.", QUESTION, settles=True),
    Move("allowed", PERSON, _PENDING, State.ANSWERED, "What was shown may be done.", PERMISSION, settles=True),
    Move("denied", PERSON, _PENDING, State.ANSWERED, "It may not.", PERMISSION, settles=True),
    Move("rejected", PERSON, _OPEN, State.REJECTED, "Somebody refuses it, and may say why.", settles=True),
    Move("declined", PERSON, _OPEN, State.DECLINED, "Somebody does not answer.", settles=True),
    Move("cancelled", PERSON, _OPEN, State.CANCELLED, "Called off, or taken back by whoever asked.", settles=True),
    Move("decided_elsewhere", CLIENT, _PENDING, State.CANCELLED, "Its own prompt was first.", PERMISSION, settles=True),
    Move("agreed", PERSON, _PENDING, None, "One yes of several that it takes.", PERMISSION),
    Move("taken_back", PERSON, _PENDING, None, "Such a yes counts no more.", PERMISSION),
    Move("delegated", PERSON, _PENDING, None, "Another may decide in the place of somebody who is asked.", PERMISSION),
    Move("escalated", SAYSO, _PENDING, None, "Nobody has decided: more people are asked.", PERMISSION),
    Move("refused", SAYSO, tuple(State), None, "Somebody's verdict was not taken; it is noted that there was one."),
    Move("timed_out", SAYSO, _PENDING, State.TIMED_OUT, "Its time is over. A late answer still counts.", QUESTION),
    Move("timed_out", SAYSO, _PENDING, State.EXPIRED, "Its time is over, and only its call could take an answer."),
    Move("superseded", AGENT, _OPEN, State.SUPERSEDED, "A newer one of its run takes its place."),
    Move("expired", SAYSO, _OPEN, State.EXPIRED, "Nobody is left who would take an answer."),
    Move("expired", SAYSO, _OVER, None, "An outcome that nobody fetched is not handed out any more.", marks=True),
    Move("delivered", AGENT, (State.TIMED_OUT, *_OVER), None, "The agent has its result.", marks=True),
    Move("voided", SAYSO, (State.ANSWERED,), None, "It is not what it was: not done.", PERMISSION, marks=True),
    Move("noted", CLIENT, _OVER, None, "What its own record says became of it.", marks=True),
)  # fmt: skip

_BY_NAME = {name: tuple(step for step in STEPS if step.name == name) for name in {step.name for step in STEPS}}


def check(after: Ask, before: Ask, kind: str, by: Settler | None) -> None:
    """Raise ImpossibleStep unless an ask can become this by a step of this name."""
    step = _found(after, before, kind)
    if step is None:
        raise ImpossibleStep(f"An ask that is {before.state} cannot become {after.state} by being {kind!r}.")
    if step.settles and (by is None or before.outcome is not None or after.outcome is None):
        raise ImpossibleStep(f"Being {kind!r} takes somebody who does it, and brings the first outcome of an ask.")
    if after.outcome != before.outcome and not (step.settles or (step.marks and before.outcome and after.outcome)):
        raise ImpossibleStep(f"What was said of an ask cannot change by its being {kind!r}.")


def _found(after: Ask, before: Ask, kind: str) -> Move | None:
    asked = QUESTION if before.wanted is None else PERMISSION
    for step in _BY_NAME.get(kind, ()):
        if before.state in step.before and after.state is (step.after or before.state) and step.kind in ("", asked):
            return step
    return None
