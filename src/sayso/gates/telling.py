"""Tells a person that a client's prompt waits in the inbox, unless a surface shows it. A process beside the gate."""

from __future__ import annotations

import asyncio
import sys

from sayso.config import load
from sayso.desks import Desks, open_desks
from sayso.notify import Notifier, is_to_be_told, seconds_left


def main() -> None:
    with open_desks(load()) as desks:
        asyncio.run(_tell(desks, sys.argv[1]))


async def _tell(desks: Desks, ask_id: str) -> None:
    async def left() -> float | None:
        return seconds_left(ask_id, desks.config, desks.asks, desks.presence)

    if await is_to_be_told(left, desks.bell()):
        ask = desks.asks.get(ask_id)
        await Notifier(desks.config).tell(ask, desks.asks.open_of(ask.asker))


if __name__ == "__main__":
    main()
