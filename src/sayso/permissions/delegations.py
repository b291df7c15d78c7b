"""Who decides in whose place while that person is away. Functions of one transaction, for the permission desk.

It is never handed on: who stands in for somebody does not stand in for those for whom that one does.
"""

from __future__ import annotations

from sayso import chain
from sayso.asks.quorum import deciders
from sayso.asks.table import AskTable
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
    until_when = f"until {iso_time(until)}"
    chain.note_delegation(table.tx, person, table.now, f"{delegate} decides for {person}", until_when)


def end(table: AskTable, person: str) -> bool:
    return chain.end_delegation(table.tx, person, table.now)
