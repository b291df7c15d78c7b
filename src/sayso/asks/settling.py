"""Settling an ask: one compare-and-set, after which nobody else can. A function of one transaction, for the desks.

The permission desk uses it as well as the desk of asks; nobody else can import it, so that nothing else says allow.
"""

from __future__ import annotations

from collections.abc import Callable

from sayso import sent_once
from sayso.asks.model import CLIENT_FORM, ITS_CALL, Ask, Outcome, Settler, State
from sayso.asks.table import AskTable
from sayso.errors import AlreadySettled
from sayso.records import replace
from sayso.text import age


def settle(table: AskTable, ask_id: str, state: State, by: Settler, outcome: Callable[[Ask], Outcome]) -> Ask:
    """The first valid answer wins, everyone else hears who was first."""
    sent_once.take(table.tx, by.attempt, table.now)
    ask = table.get(ask_id)
    if not ask.state.answerable:
        raise AlreadySettled(who_was_first(ask, table.now))
    late = ask.state is State.TIMED_OUT
    given = replace(outcome(ask), person=by.person, surface=by.surface, late=late)
    settled = replace(ask, state=state, outcome=given, ended_at=table.now, delivered_at=None)
    if late:
        # The call that waited tells its agent of the timeout: it must not pass for the bearer of the answer.
        settled = replace(settled, wait=None)
    detail = given.reason if by.surface == ITS_CALL else given.digest
    return table.change(settled, ask, kind=given.verdict or state.value, by=by, detail=detail)


def who_was_first(ask: Ask, now: int) -> str:
    """Why it can no longer be settled."""
    since = age(now - (ask.ended_at or now))
    ago = "just now" if since == "now" else f"{since} ago"
    if ask.bound and ask.state is State.EXPIRED:
        why = "the call ended" if ask.abandoned else "its time was over"
        return f"Nobody had decided: {why}, {ago}. Your answer was not used."
    if ask.outcome is None:
        return f"This ask can no longer be answered: it is {ask.state}, {ago}."
    if ask.let_go:
        return f"Nobody had decided: {ask.withdrawn or 'the call ended'}, {ago}. Your answer was not used."
    at = "at the" if ask.outcome.surface == "command line" else "in"
    by = f"{at} {ask.outcome.surface}" + (f" by {ask.outcome.person}" if ask.outcome.person else "")
    if ask.outcome.surface == CLIENT_FORM:
        by = f"through {ask.asker.client or 'the client'}'s own form"
    how = (ask.outcome.verdict or ask.state).removesuffix("_elsewhere").replace("_", " ")
    return f"Already {how} {by}, {ago}. Your answer was not used."
