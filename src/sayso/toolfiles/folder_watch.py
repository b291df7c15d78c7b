"""Waits until something may have changed in some folders: the system tells where it can, else one looks now and then.

What has changed is for the caller to find out.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from sayso.file_events import (
    ATTRIBUTES,
    CREATED,
    DELETED,
    GONE,
    IN_A_FILE,
    MODIFIED,
    MOVED_FROM,
    MOVED_TO,
    ON_THE_WAY,
    tells_all,
    watch,
    way_to,
)

if TYPE_CHECKING:
    from sayso.folder_events import FolderEvents

LOOK_EVERY = 1.0
"""Seconds between two looks where the system tells nothing."""

LOOK_SELDOM = 15.0
"""Seconds between two looks where it tells of some: what another machine changes on a shared disk it does not see."""

LOOK_RARELY = 300.0
"""Seconds between two looks where all it does not tell of is that a folder above was moved away."""

GATHER = 0.1
"""Seconds in which a burst of changes is one."""

_IN_A_FOLDER = MODIFIED | ATTRIBUTES | MOVED_FROM | MOVED_TO | CREATED | DELETED | GONE


class FolderWatch:
    """Watches folders, whether they exist yet or not. `arm` it, look at the folders, then `wait`: nothing is missed."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders
        self._watch: FileIO | FolderEvents | None = None
        self._longest: float | None = None
        """Seconds after which it is time to look anyway."""

    def __enter__(self) -> FolderWatch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._disarm()

    def arm(self) -> None:
        """From now on every change counts."""
        self._disarm()
        if sys.platform == "linux":
            with suppress(OSError):
                wanted = list(_watched(self._folders))
                told_all = all(tells_all(path) for path, mask in wanted if mask != GONE)
                try:
                    self._watch, self._longest = FileIO(watch(wanted), "r"), None
                except OSError:  # there is a limit to how many of them a user may have
                    from sayso.folder_events import FolderEvents

                    self._watch, self._longest = FolderEvents(wanted), LOOK_RARELY
                if not told_all:
                    self._longest = LOOK_SELDOM

    async def wait(self) -> None:
        """Until something has changed since `arm`, or it is time to look anyway."""
        if self._watch is None:
            await asyncio.sleep(LOOK_EVERY)
            return
        loop, changed = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._watch, changed.set)
        try:
            async with asyncio.timeout(self._longest):
                await changed.wait()
        except TimeoutError:
            return
        finally:
            loop.remove_reader(self._watch)
        await asyncio.sleep(GATHER)

    def _disarm(self) -> None:
        if self._watch:
            self._watch.close()
        self._watch = None


def _watched(folders: Sequence[Path]) -> Iterator[tuple[Path, int]]:
    """What to watch, and for what: a folder, or the way on which it would come; and where links in it lead."""
    for folder in folders:
        yield from way_to(folder.absolute())
        if folder.is_dir():
            yield folder.absolute(), _IN_A_FOLDER
            yield from ((Path(entry.path).absolute(), IN_A_FILE) for entry in os.scandir(folder) if entry.is_symlink())
        else:
            yield next(parent for parent in folder.absolute().parents if parent.is_dir()), ON_THE_WAY
