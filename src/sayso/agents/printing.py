"""Says when an agent may have printed something: the system tells where it can, else one looks every now and then."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from sayso.bridge import Patience
from sayso.file_events import CREATED, MODIFIED, MOVED_TO, watch

QUICK, SLOW = 0.01, 0.1
"""Seconds between two looks: while it prints, and while it is quiet where the system tells nothing."""
_SELDOM = 1.0
"""Seconds between two looks while it is quiet where the system does."""
_GATHER = 0.005
"""Seconds in which what was just begun is printed to its end."""
_MANY_EVENTS = 1 << 16


class Printing:
    """The folder of one agent, in which its runner keeps what it prints. Nothing is missed that is printed between a
    look and `next`, and the end of the agent is no quiet to wait through."""

    def __init__(self, folder: Path, over: asyncio.Future[Any]) -> None:
        self._folder, self._over = folder, over
        self._changed = asyncio.Event()
        self._fd, self._pause = -1, QUICK

    def __enter__(self) -> Printing:
        if sys.platform == "linux":
            with suppress(OSError):  # there is a limit to how many of them a user may have
                self._fd = watch([(self._folder, MODIFIED | CREATED | MOVED_TO)])
                asyncio.get_running_loop().add_reader(self._fd, self._hear)
        self._over.add_done_callback(self._end)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.remove_done_callback(self._end)
        if self._fd >= 0:
            asyncio.get_running_loop().remove_reader(self._fd)
            os.close(self._fd)

    async def more(self) -> None:
        """It prints: what comes in a moment is taken in together."""
        self._pause = QUICK
        await asyncio.wait([self._over], timeout=QUICK)

    async def next(self) -> None:
        """It is quiet: wait until it may have printed something, has ended, or it is time to look anyway."""
        async with Patience(_SELDOM if self._fd >= 0 else self._pause):
            await self._changed.wait()
            await asyncio.wait([self._over], timeout=_GATHER)
        self._pause = min(self._pause * 1.3, SLOW)
        self._changed.clear()

    def _hear(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._fd, _MANY_EVENTS)
        self._changed.set()

    def _end(self, _: asyncio.Future[Any]) -> None:
        self._changed.set()
