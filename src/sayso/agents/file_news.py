"""Wakes whoever waits for a change in a file or a folder: by the system's word where it gives one, on Linux; elsewhere
one looks every now and then."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from sayso.bridge import Patience
from sayso.file_events import watch

LOOK_EVERY = 0.5
"""Seconds between two looks where the system tells nothing."""
_MANY_EVENTS = 1 << 16


class FileNews:
    """What happens at these paths, by the masks of `file_events`. Nothing is missed between two waits."""

    def __init__(self, *wanted: tuple[Path, int]) -> None:
        self._wanted, self._fd = wanted, -1
        self.changed = asyncio.Event()

    @property
    def are_told(self) -> bool:
        """Whether the system tells of them."""
        return self._fd >= 0

    def __enter__(self) -> FileNews:
        if sys.platform == "linux" and self._wanted:
            with suppress(OSError):  # there is a limit to how many of them a user may have
                self._fd = watch(self._wanted)
                asyncio.get_running_loop().add_reader(self._fd, self._hear)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._fd >= 0:
            asyncio.get_running_loop().remove_reader(self._fd)
            os.close(self._fd)

    async def within(self, seconds: float) -> None:
        """Wait for a change, at most for so long."""
        async with Patience(seconds if self.are_told else min(seconds, LOOK_EVERY)):
            await self.changed.wait()
        self.changed.clear()

    def _hear(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._fd, _MANY_EVENTS)
        self.changed.set()
