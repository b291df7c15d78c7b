"""Who decides in whose place while that person is away. Functions of one transaction, for the permission desk.

It is never handed on: who stands in for somebody does not stand in for those for whom that one does.
"""

from __future__ import annotations

import os

from sayso import chain
from sayso.asks.quorum import deciders
from sayso.asks.table import AskTable
from sayso.chain import LogEvent, LogKind
from sayso.errors import InvalidInput, Problem
from sayso.records import record, replace
from sayso.text import iso_time


@record
class Delegation:
    person: str
    delegate: str
    since: int
    until: int


def now(table: AskTable) -> list[Delegation]:
    """Those that hold: they end by themselves."""
    return [Delegation(**row) for row in table.tx.all("delegations", now=table.now)]


def begin(table: AskTable, person: str, delegate: str, until: int) -> None:
    """In the place of what this person had before. Who takes over also sees what is open already."""
    if delegate == person:
        raise InvalidInput([Problem(path="delegate", text=f"{person} cannot stand in for themselves.")])
    if until <= table.now:
        raise InvalidInput([Problem(path="until", text=f"{iso_time(until)} is over already.")])
    table.tx.run("delegate", person=person, delegate=delegate, now=table.now, until=until)
    for ask in table.all("open_permissions"):
        asked = deciders(ask)
        if person in asked and delegate not in asked:
            wanted = {**(ask.wanted or {}), "deciders": [*asked, delegate]}
            table.change(replace(ask, wanted=wanted), ask, kind="delegated", detail=f"{delegate} for {person}")
    _log(table, person, f"{delegate} decides for {person}", f"until {iso_time(until)}")


def end(table: AskTable, person: str) -> bool:
    ended = bool(table.tx.run("end_delegation", person=person, now=table.now))
    if ended:
        _log(table, person, f"Nobody decides for {person} any more")
    return ended


def _log(table: AskTable, person: str, title: str, why: str = "") -> None:
    event = LogEvent(
        kind=LogKind.DELEGATED, at=table.now, ask=os.urandom(16).hex(), person=person, title=title, why=why
    )
    chain.append(table.tx, [event])
