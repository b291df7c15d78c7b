"""The run that this server's agent works in, when the web page started it: who is asked, and in which conversation.

Found in the store by the stream token that `ASK_USER_CONFIG` brings. A token of another program's finds nothing.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from sayso.asks.model import Ask, Asker
from sayso.asks.waiting import Waiting
from sayso.desks import Desks
from sayso.errors import SaysoError
from sayso.records import replace

if TYPE_CHECKING:
    from sayso.agents.desk import RunDesk
    from sayso.agents.model import Run

logger = logging.getLogger(__name__)


class RunLink:
    """Looks for the run at each ask: an agent serves several turns of its conversation."""

    def __init__(self, token: str) -> None:
        self._token = token
        self._runs: RunDesk | None = None
        self.run: Run | None = None

    async def find(self, desks: Desks, waiting: Waiting) -> None:
        # What asks between two turns still belongs to the last one, and to nobody else.
        self.run = await waiting.do(desks.runs.active, self._token) or self.run
        self._runs = desks.runs

    def asker_in_run(self, asker: Asker) -> Asker:
        """The agent as one that works for the run's user; the same as given while no run is known."""
        return replace(asker, owner=self.run.user, run=self.run.id) if self.run else asker

    async def note(self, ask: Ask, waiting: Waiting) -> None:
        """Put a card for the ask into the conversation. It is in the inbox whatever becomes of that."""
        if self._runs is None or self.run is None:
            return
        try:
            await waiting.do(self._runs.note_ask, self.run.id, ask.id)
        except SaysoError as error:
            logger.warning("Could not note ask %s in its run: %s", ask.id, error)
