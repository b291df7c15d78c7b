"""What the log of permissions has to say, by the asks that are in the store: for whoever checks that it does."""

from __future__ import annotations

from collections.abc import Iterator

from sayso.asks import happening, rows
from sayso.chain import LogKind
from sayso.store import Transaction

_PAGE = 500


def expected(tx: Transaction, since: int) -> Iterator[tuple[str, LogKind]]:
    """Each permission's id, with something that happened to it at that time or later."""
    after = ""
    while page := tx.all("permissions_after", since=since, after=after, most=_PAGE):
        for ask in map(rows.read, page):
            # One from before there was a log carries no action.
            if ask.wanted is not None:
                yield from ((ask.id, kind) for kind, at in happening.must_be_logged(ask) if at >= since)
        after = page[-1]["id"]
