"""How much one agent may have open at once, so that a noisy one does not crowd out the questions of the others."""

from __future__ import annotations

import time

from sayso.asks.model import Asker
from sayso.errors import TooManyOpen
from sayso.store import Transaction

UNLIMITED = 0
_BELIEVED_SECONDS = 1.0
_SHARE = 1000
_MOST_KNOWN = 256


class OpenAsks:
    """How many asks one agent may have open; and who was found to be far from that. Counting takes the longer the more
    there are, so a count is believed for a moment, and for a thousandth of the room that it left: were a thousand
    processes to ask for one agent as fast as they can, they would still not get beyond the most."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._believed: dict[str, tuple[int, float]] = {}
        """For how many more asks of whom, until when."""

    def check(self, tx: Transaction, asker: Asker) -> None:
        """Refuse one ask more than there may be. Two at the same moment may both be the last on PostgreSQL, which does
        no harm."""
        if self._most == UNLIMITED or not asker.source or self._is_believed(asker.source):
            return
        size = _count(tx, "open_asks_of", asker)
        if size >= self._most:
            raise TooManyOpen(
                f"You have {size} questions open, and {self._most} is the most that one agent may have. This one was "
                "not asked. Wait until some are answered (`get_answers` tells), and put what belongs together into one "
                "call. People can answer or reject them, or raise max_open_asks with `sayso config`."
            )
        self._believe(asker.source, self._most - size)

    def _is_believed(self, source: str) -> bool:
        more, until = self._believed.get(source, (0, 0.0))
        if not more or time.monotonic() >= until:
            return False
        self._believed[source] = more - 1, until
        return True

    def _believe(self, source: str, room: int) -> None:
        if len(self._believed) >= _MOST_KNOWN:
            self._believed.clear()
        if more := room // _SHARE:
            self._believed[source] = more, time.monotonic() + _BELIEVED_SECONDS


def check_commands(tx: Transaction, asker: Asker, most: int) -> None:
    """The same for commands that are queued or run."""
    if most == UNLIMITED or not asker.source:
        return
    size = _count(tx, "open_commands_of", asker)
    if size >= most:
        raise TooManyOpen(
            f"You have {size} commands under way, and {most} is the most that one agent may have. This one was not "
            "started. Wait until some have ended (`await`), or cancel what you do not need (`cancel`). People can "
            "raise max_open_commands with `sayso config`."
        )


def _count(tx: Transaction, query: str, asker: Asker) -> int:
    row = tx.one(query, put_by=asker.source)
    return int(row["size"]) if row else 0
