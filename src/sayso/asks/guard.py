"""The descent guard: an agent does not answer itself from a command line.

A guard against accidents, not a wall: a program that means to get around it can. The wall is a surface with its
own sign-in. It looks at two things only: the line of ancestors of this process, and the session it was started in.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sayso.asks.model import Ask, Asker, Settler
from sayso.clients import SESSION_VARIABLE
from sayso.errors import NotYours
from sayso.processes import ProcessName, ancestry, this_host

if TYPE_CHECKING:
    from sayso.asks.desk import AskDesk


def refuse_self_answer(desk: AskDesk, ask: Ask, settler: Settler) -> None:
    """Raise NotYours, and record it, when this process belongs to the agent that put the ask."""
    why = kinship(ask.asker, os.environ)
    if not why:
        return
    desk.note_refusal(ask.id, settler, why)
    raise NotYours(
        f"Ask {ask.id[:8]} is the question of the agent that runs this command ({why}), and an agent may not settle "
        "its own. Only a person can, from a terminal that the agent did not start. This attempt was recorded."
    )


def kinship(asker: Asker, environ: Mapping[str, str]) -> str:
    """How this process belongs to the asker, in words; empty when it does not."""
    if asker.session and environ.get(SESSION_VARIABLE) == asker.session:
        return f"it runs in the session {asker.session}"
    if _descends_from(asker):
        return f"it descends from process {asker.pid}"
    return ""


def _descends_from(asker: Asker) -> bool:
    if not asker.pid or asker.host != this_host():
        return False
    return ProcessName(pid=asker.pid, started=asker.started) in ancestry()
