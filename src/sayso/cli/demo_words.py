"""What both kinds of demo say at their end: what the agent received."""

from __future__ import annotations

import textwrap

from sayso.cli.terminal import bold
from sayso.text import printable

HANDOVER_SECONDS = 30.0
"""How long an answer may take to its agent."""


def told(received: str | None) -> str:
    if received is None:
        return "Nothing was sent, so the agent received nothing: no answer is ever made up."
    return f"\n{bold('What the agent received')}\n\n{textwrap.indent(printable(received), '  ')}"
