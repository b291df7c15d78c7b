"""Wakes whoever waits for a change in a file or a folder: by the system's word where it gives one, on Linux; elsewhere
one looks every now and then."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from sayso.bridge import Patience
from sayso.file_events import MANY_EVENTS, watch

LOOK_EVERY = 0.5
"""Seconds between two looks where the system tells nothing."""


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

    async def within(self, seconds: float) -> bool:
        """Wait for a change, at most for so long. False where there was none."""
        async with Patience(seconds if self.are_told else min(seconds, LOOK_EVERY)):
            await self.changed.wait()
        there_may_be = self.changed.is_set() or not self.are_told
        self.changed.clear()
        return there_may_be

    def _hear(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._fd, MANY_EVENTS)
        self.changed.set()


class ManyFilesNews:
    """The same of many paths that come and go, by one descriptor: a user has few of them. Whoever is told that
    something has `changed` is told no more until `go_on`, however much is written meanwhile."""

    def __init__(self, changed: Callable[[], object]) -> None:
        self._changed, self._fd, self._hears = changed, -1, False
        self._wanted = frozenset[tuple[Path, int]]()

    @property
    def are_told(self) -> bool:
        """Whether the system tells of all of them."""
        return self._fd >= 0 or not self._wanted

    def go_on(self, wanted: Iterable[tuple[Path, int]]) -> bool:
        """Be told again, of these paths. Whether there are others among them than before: what happened at those until
        now was not told."""
        before, self._wanted = self._wanted, frozenset(wanted)
        if self._wanted != before:
            self.close()
            with suppress(OSError):  # there is a limit to how many of them a user may have
                self._fd = watch(self._wanted) if sys.platform == "linux" and self._wanted else -1
        if self._fd >= 0 and not self._hears:
            self._hears = True
            asyncio.get_running_loop().add_reader(self._fd, self._hear)
        return not self._wanted <= before

    def close(self) -> None:
        """Be told nothing any more."""
        if self._fd >= 0:
            self._stop_hearing()
            os.close(self._fd)
            self._fd = -1

    def _hear(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._fd, MANY_EVENTS)
        self._stop_hearing()
        self._changed()

    def _stop_hearing(self) -> None:
        self._hears = False
        asyncio.get_running_loop().remove_reader(self._fd)
