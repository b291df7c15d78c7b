"""Stopping a run, from wherever somebody does: first the agent with all its processes, and only then what it asks.

An agent takes the end of its question for a no and goes on: while it could, nobody must tell it anything.
"""

from __future__ import annotations

import logging
from contextlib import suppress

from sayso.agents.desk import RunDesk
from sayso.agents.model import Run
from sayso.asks.desk import AskDesk
from sayso.asks.model import Ask, Settler, State
from sayso.errors import AlreadySettled

logger = logging.getLogger(__name__)


def stop(runs: RunDesk, desk: AskDesk, run: Run, by: Settler) -> None:
    """End the agent. What it still asks is of no use then, and is cancelled in this person's name. A run of another
    machine is stopped by the server there, which comes here too."""
    if not runs.halt(run.id, by.person):
        logger.info("The agent of run %s cannot be halted from here; what it asks stays open", run.id)
        return
    # Before the processes are gone, or the end of the calls that ask would come first; and after, for what was opened
    # meanwhile.
    _cancel_asks(desk, run, by)
    runs.want_stopped(run.id, by.person)
    _cancel_asks(desk, run, by)


def cancel_awaited(desk: AskDesk, run: Run, by: Settler) -> None:
    """A turn was interrupted: nobody waits for its questions any more. What its agent went on without stays."""
    for ask in _open_asks(desk, run):
        if ask.wait:
            with suppress(AlreadySettled):
                desk.cancel(ask.id, by)


def _cancel_asks(desk: AskDesk, run: Run, by: Settler) -> None:
    for ask in _open_asks(desk, run):
        with suppress(AlreadySettled):
            desk.cancel(ask.id, by)


def _open_asks(desk: AskDesk, run: Run) -> list[Ask]:
    return [ask for ask in desk.all_open(person=run.user) if ask.asker.run == run.id and ask.state is State.PENDING]
