"""Opening an ask: a new one, unless the same was asked before and its answer never arrived.

Functions of one transaction, for the desk, which tells what each is for.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from sayso.asks.holding import Held, new_wait, take
from sayso.asks.model import Ask, Away, NewAsk, State
from sayso.asks.sessions import AgentSessions
from sayso.asks.table import AskTable
from sayso.records import replace
from sayso.store import Bell

MOST_AGE_OF_ANOTHERS = 24 * 3_600_000
"""Milliseconds for which what was said to a session that is gone may answer another one that asks in the same words.
Things change, and the person meant what was then."""


def hold(table: AskTable, new: NewAsk, bell: Bell, sessions: AgentSessions, wait_id: str) -> Held:
    earlier = None if new.bound else _left_behind(table, new, bell, sessions)
    held = _held(table, new, earlier, bell, wait_id)
    return replace(held, of_another=True) if earlier and sessions.of_others([earlier], new.asker) else held


def leave(table: AskTable, new: NewAsk, bell: Bell, sessions: AgentSessions) -> Ask:
    earlier = _left_behind(table, new, bell, sessions)
    if earlier is None:
        return table.open(new, None, bell.process)
    left = replace(earlier, wait=None, away=Away.AT_WORK, asker=new.asker, server=bell.process)
    if left == earlier or not earlier.state.answerable:
        return earlier
    return table.change(left, earlier, kind="unattended", detail="the agent did not wait")


def succeed(table: AskTable, new: NewAsk, bell: Bell, sessions: AgentSessions, told: Set[str]) -> Held:
    alike = [ask for ask in table.all("alike", fingerprint=new.fingerprint) if ask.id not in told]
    # One that its own run has put before is that one, whoever waits for it: its poster may have heard nothing of it.
    own = [ask for ask in alike if ask.asker.run == new.asker.run]
    earlier = _first_choice(own) or _first_choice(_free(alike, new, bell, sessions, table.now))
    for older in table.all("asks_of_run", run_id=new.asker.run, tool=new.tool):
        if older.state.answerable and (earlier is None or older.id != earlier.id):
            table.change(replace(older, state=State.SUPERSEDED, ended_at=table.now), older, kind="superseded")
    return _held(table, new, earlier, bell)


def _held(table: AskTable, new: NewAsk, earlier: Ask | None, bell: Bell, wait_id: str = "") -> Held:
    wait = new_wait(table, bell, new.wait_ms, wait_id)
    if earlier:
        return Held(ask=take(table, earlier, wait, new.asker), wait=wait, reattached=True)
    return Held(ask=table.open(new, wait, bell.process), wait=wait)


def _left_behind(table: AskTable, new: NewAsk, bell: Bell, sessions: AgentSessions) -> Ask | None:
    """The ask of an identical call whose wait has ended and whose answer its session never received."""
    return _first_choice(_free(table.all("alike", fingerprint=new.fingerprint), new, bell, sessions, table.now))


def _free(alike: Sequence[Ask], new: NewAsk, bell: Bell, sessions: AgentSessions, now: int) -> list[Ask]:
    """Those that this session may take up: its own, and of those that are gone, for which nobody waits. What was said
    to them long ago is left out."""
    found = sessions.belonging(alike, new.asker)
    holders = {ask.wait.process for ask in found if ask.wait}
    living = bell.alive(holders) if holders else set()
    others = sessions.of_others(found, new.asker)
    return [ask for ask in found if _wait_is_over(ask, living) and not (ask.id in others and _is_old(ask, now))]


def _is_old(ask: Ask, now: int) -> bool:
    return not ask.state.answerable and now - (ask.ended_at or now) > MOST_AGE_OF_ANOTHERS


def _first_choice(alike: Sequence[Ask]) -> Ask | None:
    """One that is settled before one that is not, then the newest."""
    return max(alike, key=lambda ask: (not ask.state.answerable, ask.created_at), default=None)


def _wait_is_over(ask: Ask, living: Set[str]) -> bool:
    return ask.wait is None or ask.state is State.TIMED_OUT or ask.wait.process not in living
