"""What pages send, by the name that they gave it: it has its effect once or never, whichever server it reaches.

A page that hears nothing calls its attempt off. It then knows whether that was taken, and that it never will be if not:
taking it is part of the transaction that does what was sent.
"""

from __future__ import annotations

from sayso.errors import CalledOff
from sayso.store import Store, Transaction

_LONGEST = 200


def take(tx: Transaction, attempt: str, now: int) -> None:
    """Let this attempt have its effect, in the transaction of that effect."""
    if attempt and not tx.run("claim", key=_key(attempt), now=now):
        raise CalledOff("The page that sent this has called it off, or it was taken already.")


def note(tx: Transaction, attempt: str, made: str) -> None:
    """Keep what was made by an attempt that was taken, for a page that has heard nothing of it."""
    if attempt:
        tx.run("note_made", key=_key(attempt), made=made)


def call_off(store: Store, attempt: str, now: int) -> str | None:
    """What was made by it, which may be nothing that has a name, if it was taken. None if not: it never will be."""

    def work(tx: Transaction) -> str | None:
        if tx.run("claim", key=_key(attempt), now=now):
            tx.run("claim", key=_called_off(attempt), now=now)
        if tx.one("claimed", key=_called_off(attempt)):
            return None
        taken = tx.one("claimed", key=_key(attempt))
        return str(taken["made"]) if taken else ""

    return store.write(work)


def _key(attempt: str) -> str:
    return f"attempt {attempt[:_LONGEST]}"


def _called_off(attempt: str) -> str:
    return f"called off {attempt[:_LONGEST]}"
