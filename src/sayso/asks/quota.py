"""How much one agent may have open at once, so that a noisy one does not crowd out the questions of the others."""

from __future__ import annotations

from sayso.asks.model import Asker
from sayso.errors import TooManyOpen
from sayso.store import Transaction

UNLIMITED = 0


def check_asks(tx: Transaction, asker: Asker, most: int) -> None:
    """Refuse one ask more than there may be. Two at the same moment may both be the last on PostgreSQL, which does no
    harm."""
    size = _open(tx, "open_asks_of", asker, most)
    if size:
        raise TooManyOpen(
            f"You have {size} questions open, and {most} is the most that one agent may have. This one was not asked. "
            "Wait until some are answered (`get_answers` tells), and put what belongs together into one call. People "
            "can answer or reject them, or raise max_open_asks with `sayso config`."
        )


def check_commands(tx: Transaction, asker: Asker, most: int) -> None:
    """The same for commands that are queued or run."""
    size = _open(tx, "open_commands_of", asker, most)
    if size:
        raise TooManyOpen(
            f"You have {size} commands under way, and {most} is the most that one agent may have. This one was not "
            "started. Wait until some have ended (`await`), or cancel what you do not need (`cancel`). People can "
            "raise max_open_commands with `sayso config`."
        )


def _open(tx: Transaction, query: str, asker: Asker, most: int) -> int:
    """How many there are, where that is too many for one more; else 0."""
    if most == UNLIMITED or not asker.source:
        return 0
    row = tx.one(query, put_by=asker.source)
    size = int(row["size"]) if row else 0
    return size if size >= most else 0
