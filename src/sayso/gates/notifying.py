"""Tells a person that a client's prompt waits in the inbox, or that what they decided came too late for it, unless a
surface shows it. A process beside the gate."""

from __future__ import annotations

import asyncio
import sys

from sayso.config import load
from sayso.desks import Desks, open_desks
from sayso.notify import Notifier, is_to_be_told, seconds_left, seconds_left_alone


def main() -> None:
    ask_id, *more = sys.argv[1:]
    with open_desks(load()) as desks:
        asyncio.run(_tell_overtaken(desks, ask_id) if more else _tell(desks, ask_id))


async def _tell(desks: Desks, ask_id: str) -> None:
    async def left() -> float | None:
        return seconds_left(ask_id, desks.config, desks.asks, desks.presence)

    if await is_to_be_told(left, desks.bell()):
        ask = desks.asks.get(ask_id)
        await Notifier(desks.config).tell(ask, desks.asks.open_of(ask.asker))


async def _tell_overtaken(desks: Desks, ask_id: str) -> None:
    """Whoever is typing in that terminal knows."""
    ask = desks.asks.get(ask_id)
    if seconds_left_alone(ask, desks.config, desks.asks, desks.presence) == 0:
        await Notifier(desks.config).tell_at_once(ask)


if __name__ == "__main__":
    main()
