"""Tells a person that a client's prompt waits in the inbox, unless a surface shows it. A process beside the gate."""

from __future__ import annotations

import asyncio
import sys

from sayso.asks.model import State
from sayso.config import load
from sayso.desks import open_desks
from sayso.notify import Notifier


def main() -> None:
    config = load()
    with open_desks(config) as desks:
        ask = desks.asks.get(sys.argv[1])
        seen, crowd = desks.asks.open_surfaces(), desks.asks.open_of(ask.asker)
    if not seen and ask.state is State.PENDING:
        asyncio.run(Notifier(config).tell(ask, crowd))


if __name__ == "__main__":
    main()
