"""What a client's own record says of what people decided here: that its own prompt was first.

Hearsay: agents can write into such records. So it is noted beside what people said, and changes nothing of that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sayso.asks.model import Ask
from sayso.gates.client import Aftermath
from sayso.permissions.verdict import Decision

if TYPE_CHECKING:
    from sayso.desks import Desks

_NO = {
    Aftermath.ALLOWED: (
        "{client}'s own record says that it was allowed in its terminal before the no given here arrived, and done"
    ),
    Aftermath.UNKNOWN: (
        "{client}'s own record says that it was decided in its terminal before the no given here arrived"
    ),
}
_YES = {
    Aftermath.ALLOWED: (
        "{client}'s own record says that it was "
        "allowed in its terminal, without the edit, before the yes given here arrived"
    ),
    Aftermath.DENIED: (
        "{client}'s own record says that it was denied in its terminal before the yes given here arrived"
    ),
}
_ANSWER = {
    Aftermath.ANSWERED: (
        "{client}'s own record says that it was answered in its terminal before the answer given here arrived"
    ),
    Aftermath.DENIED: (
        "{client}'s own record says that it was denied in its terminal before the answer given here arrived"
    ),
    Aftermath.UNKNOWN: (
        "{client}'s own record says that it was decided in its terminal before the answer given here arrived"
    ),
}


def note(desks: Desks, ask_id: str, there: Aftermath, client: str) -> Ask | None:
    """Note what this client's record says. The ask as it is then; None where nothing is to be said."""
    ask = desks.asks.get(ask_id)
    allowed = ask.outcome is not None and ask.outcome.verdict == Decision.ALLOWED
    words = _ANSWER if ask.wanted is None else _YES if allowed else _NO
    if there not in words:
        return None
    return desks.asks.note_of_client(ask_id, words[there].format(client=client))
