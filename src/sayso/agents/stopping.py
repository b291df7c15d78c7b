"""Stopping a run, from wherever somebody does: the agent ends with all its processes, and so does what it asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from sayso.agents.desk import Runs
from sayso.agents.model import Run
from sayso.asks.desk import Desk
from sayso.asks.model import Ask, Settler, State
from sayso.errors import AlreadySettled

_PAGE = 500


def stop(runs: Runs, desk: Desk, run: Run, by: Settler) -> None:
    """End the agent. What it still asks is of no use then, and is cancelled in this person's name."""
    # Before, or the end of the calls that ask would come first; and after, for what was asked meanwhile.
    _cancel_asks(desk, run, by)
    runs.want_stopped(run.id, by.person)
    _cancel_asks(desk, run, by)


def _cancel_asks(desk: Desk, run: Run, by: Settler) -> None:
    for ask in list(_open_asks(desk, run)):
        with suppress(AlreadySettled):
            desk.cancel(ask.id, by)


def _open_asks(desk: Desk, run: Run) -> Iterator[Ask]:
    page = desk.inbox(person=run.user, most=_PAGE)
    while page:
        yield from (ask for ask in page if ask.asker.run == run.id and ask.state is State.PENDING)
        page = desk.inbox(person=run.user, after=page[-1], most=_PAGE)
