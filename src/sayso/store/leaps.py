"""How far the clock has leapt ahead of when it was last looked at. Set wrong for a moment, or on one of many machines,
it would make everything old at once, and answers that nobody has fetched yet would be deleted for good: so what a leap
adds to the age of things counts only once the clock has said so for a day."""

from __future__ import annotations

from sayso.store.store import Row, Store, Transaction

HOUR = 3_600_000
DAY = 24 * HOUR
LEAP = 3 * DAY
"""Longer than this nobody has looked at the clock, or it was set."""
_KEY = "clock_believed"


def leapt(store: Store, now: int) -> int:
    """By how many milliseconds whatever is kept has to be kept longer, because the clock is not believed yet."""
    believed, doubted = _read(store.one("meta", key=_KEY))
    if believed is not None and doubted is None and 0 <= now - believed < HOUR:
        return 0
    return store.note(lambda tx: _look(tx, now))


def _look(tx: Transaction, now: int) -> int:
    believed, doubted = _read(tx.one("meta", key=_KEY))
    if believed is None or now - believed < LEAP or (doubted is not None and now - doubted >= DAY):
        believed, doubted = now, None
    elif doubted is None or now < doubted:
        doubted = now
    tx.wake_only()
    tx.run("put_meta", key=_KEY, value=" ".join(str(moment) for moment in (believed, doubted) if moment is not None))
    return now - believed


def _read(row: Row | None) -> tuple[int | None, int | None]:
    """The moment that was believed last, and since when a later one is told, if it is."""
    moments = [int(word) for word in str(row["value"]).split()] if row else []
    return (*moments, None, None)[0], (*moments, None, None)[1]
