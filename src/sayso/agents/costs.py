"""What each turn of a conversation cost, and the conversation so far.

Claude counts on: resumed, it begins with what the conversation had cost before. It begins at zero in a new session, and
also in an old one whose count it has lost.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sayso.agents.model import Run


@dataclass(frozen=True, kw_only=True)
class Cost:
    """In US dollars."""

    turn: float
    conversation: float


def costs(turns: Iterable[Run]) -> dict[int, Cost]:
    """By the number of the turn, for those of which the agent said it. `turns` are all of a conversation, in order."""
    found: dict[int, Cost] = {}
    session, counted, total = "", 0.0, 0.0
    for run in turns:
        count = run.ending.cost_usd if run.ending else None
        if count is None:
            continue
        goes_on = run.session == session and count >= counted
        turn = count - counted if goes_on else count
        session, counted, total = run.session, count, total + turn
        found[run.turn] = Cost(turn=turn, conversation=total)
    return found
