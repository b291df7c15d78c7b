"""Delivering an outcome: it counts as delivered once it has been written to the agent, and is owed until then.

Functions of one transaction, for the desk, which tells what each is for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

from sayso.asks.holding import Held, is_held, let_go
from sayso.asks.model import Ask, Asker, State
from sayso.asks.retention import wiped
from sayso.asks.sessions import AgentSessions, is_nameless
from sayso.asks.table import AskTable


@dataclass(frozen=True, kw_only=True)
class Owed:
    """What an asker has yet to receive: outcomes that no call of its waits for, oldest first, and which of them another
    session asked for, which is gone; those that may be its own or a neighbour's, which nothing tells apart; and whether
    there is anything at all."""

    late: tuple[Ask, ...]
    of_others: frozenset[str]
    perhaps: tuple[Ask, ...]
    anything: bool


def owed(table: AskTable, asker: Asker, sessions: AgentSessions, most: int) -> Owed:
    late = [ask for ask in table.all("late_answers", most=sys.maxsize, **asker.identity) if not ask.bound]
    anything = bool(late) or table.tx.one("anything_owed", **asker.identity) is not None
    belonging = sessions.belonging(late, asker)
    perhaps = [ask for ask in late if ask not in belonging and is_nameless(asker) and is_nameless(ask.asker)]
    others = sessions.of_others(belonging, asker)
    return Owed(late=tuple(belonging[:most]), of_others=others, perhaps=tuple(perhaps[:most]), anything=anything)


def undelivered(table: AskTable, asker: Asker, sessions: AgentSessions, most: int) -> list[Ask]:
    asks = [ask for ask in table.all("undelivered", most=sys.maxsize, **asker.identity) if not ask.bound]
    return sessions.belonging(asks, asker)[:most]


def deliver(table: AskTable, held: Held, keeps_history: Callable[[Ask], bool]) -> Ask:
    ask = table.get(held.ask.id)
    if ask.state is State.PENDING or not is_held(ask, held):
        return ask
    sent = replace(ask, wait=None, delivered_at=ask.delivered_at or table.now)
    if not ask.state.answerable and not keeps_history(ask):
        sent = wiped(table, sent)
    return table.change(sent, ask, kind="delivered")


def take_back(table: AskTable, held: Held) -> Ask:
    ask = table.get(held.ask.id)
    if is_held(ask, held):
        # That it was handed over could not be noted.
        return let_go(table, ask, "it was not read")
    if not ask.delivered or ask.wait or not ask.questions:
        return ask
    return table.change(replace(ask, delivered_at=None), ask, kind="unattended", detail="it was not read")
