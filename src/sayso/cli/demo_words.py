"""What both kinds of demo do and say: answering at prompts, what the agent received, and what to do next."""

from __future__ import annotations

import textwrap

from sayso.asks.model import Ask
from sayso.cli.connecting import how_to_connect
from sayso.cli.conversation import converse
from sayso.cli.demo_stage import ScriptedAgent
from sayso.cli.settling import Settling, what_happens
from sayso.cli.terminal import bold, flowing, put
from sayso.cli.texts import explained, tr
from sayso.desks import Desks
from sayso.errors import AlreadySettled
from sayso.text import printable

HANDOVER_SECONDS = 30.0
"""How long an answer may take to its agent."""


def from_prompts(desks: Desks, ask: Ask, agent: ScriptedAgent) -> str | None:
    """What the agent received of what was typed here; None when nothing was."""
    settlement = converse(ask)
    if settlement is None:
        return None
    try:
        put(what_happens(Settling.of_question(desks, ask).as_wanted(settlement)))
    except AlreadySettled as error:
        put(printable(explained(error)))
    return agent.received(HANDOVER_SECONDS)


def told(received: str | None) -> str:
    if received is None:
        text = tr("Nothing was sent, so the agent received nothing: Sayso never makes up an answer.")
        return flowing(f"\n{text}")
    return f"\n{bold(tr('What the agent received'))}\n\n{flowing(textwrap.indent(printable(received), '  '))}"


def goodbye() -> str:
    return flowing(f"\n{tr('That was a demo, and nothing of it is kept. To keep an inbox:')}\n\n") + how_to_connect()
