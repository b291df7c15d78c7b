"""Says when an agent may have printed something: the system tells where it can, else one looks every now and then."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import TracebackType
from typing import Any

from sayso.agents.file_news import FileNews
from sayso.bridge import Patience
from sayso.file_events import CREATED, MODIFIED, MOVED_TO

QUICK, SLOW = 0.01, 0.1
"""Seconds between two looks: while it prints, and while it is quiet where the system tells nothing."""
_SELDOM = 1.0
"""Seconds between two looks while it is quiet where the system does."""
_GATHER = 0.005
"""Seconds in which what was just begun is printed to its end."""


class Printing:
    """The folder of one agent, in which its runner keeps what it prints. Nothing is missed that is printed between a
    look and `next`, and the end of the agent is no quiet to wait through."""

    def __init__(self, folder: Path, over: asyncio.Future[Any]) -> None:
        self._over, self._pause = over, QUICK
        self._news = FileNews((folder, MODIFIED | CREATED | MOVED_TO))

    def __enter__(self) -> Printing:
        self._news.__enter__()
        self._over.add_done_callback(self._end)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.remove_done_callback(self._end)
        self._news.__exit__(kind, error, trace)

    async def more(self) -> None:
        """It prints: what comes in a moment is taken in together."""
        self._pause = QUICK
        await asyncio.wait([self._over], timeout=QUICK)

    async def next(self) -> None:
        """It is quiet: wait until it may have printed something, has ended, or it is time to look anyway."""
        async with Patience(_SELDOM if self._news.are_told else self._pause):
            await self._news.changed.wait()
            await asyncio.wait([self._over], timeout=_GATHER)
        self._pause = min(self._pause * 1.3, SLOW)
        self._news.changed.clear()

    async def while_at_rest(self) -> None:
        """Wait until an agent that rests has printed something by itself, or has ended; endless on purpose."""
        await self._news.changed.wait()
        self._news.changed.clear()

    def _end(self, _: asyncio.Future[Any]) -> None:
        self._news.changed.set()
