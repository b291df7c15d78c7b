"""What people decided here when it came too late: the client's own prompt was first. Sets the record right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sayso.asks.happening import OVERTAKEN
from sayso.asks.model import Ask, Settler
from sayso.gates.client import Aftermath
from sayso.permissions.verdict import Decision

if TYPE_CHECKING:
    from sayso.desks import Desks

_NO = {
    Aftermath.ALLOWED: "allowed in the terminal of {client} before the no given here arrived; it was done",
    Aftermath.DENIED: "denied in the terminal of {client} before the no given here arrived",
    Aftermath.UNKNOWN: "decided in the terminal of {client} before the no given here arrived",
}
_YES = {
    Aftermath.ALLOWED: "was allowed in the terminal of {client}, without the edit, before the yes given here arrived",
    Aftermath.DENIED: "was denied in the terminal of {client} before the yes given here arrived",
}
assert all(text.endswith(OVERTAKEN) for text in _YES.values())
_ANSWER = {
    Aftermath.ANSWERED: "answered in the terminal of {client} before the answer given here arrived",
    Aftermath.DENIED: "denied in the terminal of {client} before the answer given here arrived",
    Aftermath.UNKNOWN: "decided in the terminal of {client} before the answer given here arrived",
}


def correct(desks: Desks, ask_id: str, there: Aftermath, client: str) -> Ask | None:
    """Record that the prompt of this client was first. The ask as it is then; None where nothing is to be said."""
    ask = desks.asks.get(ask_id)
    by = Settler(person="", surface=f"the terminal of {client}")
    allowed = ask.outcome is not None and ask.outcome.verdict == Decision.ALLOWED
    words = _ANSWER if ask.wanted is None else _YES if allowed else _NO
    if there not in words:
        return None
    desk = desks.asks if ask.wanted is None else desks.permissions
    return desk.note_overtaken(ask_id, by, words[there].format(client=client))
