"""What both kinds of demo say: what the agent received, and what to do next."""

from __future__ import annotations

import textwrap

from sayso.cli.connecting import how_to_connect
from sayso.cli.terminal import bold, flowing
from sayso.cli.texts import tr
from sayso.text import printable

HANDOVER_SECONDS = 30.0
"""How long an answer may take to its agent."""


def told(received: str | None) -> str:
    if received is None:
        text = tr("Nothing was sent, so the agent received nothing: Sayso never makes up an answer.")
        return flowing(f"\n{text}")
    return f"\n{bold(tr('What the agent received'))}\n\n{flowing(textwrap.indent(printable(received), '  '))}"


def goodbye() -> str:
    return flowing(f"\n{tr('That was a demo, and nothing of it is kept. To keep an inbox:')}\n\n") + how_to_connect()
