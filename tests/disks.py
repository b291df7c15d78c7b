"""A second disk for the tests: a folder of another file system, mounted by a link as far as one can without rights."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_PLACES = (Path("/dev/shm"), Path("/tmp"), Path.cwd())


class Disk:
    """Stands in the place of a folder while it is mounted there; else an empty folder does."""

    def __init__(self, content: Path) -> None:
        self._content = content
        self._mounts = 0

    def mount(self, place: Path) -> None:
        self._place = place
        self._mounts += 1
        if place.exists():
            place.rename(place.with_name(f"covered-{self._mounts}"))
        place.symlink_to(self._content)

    def unmount(self) -> None:
        self._place.unlink()
        self._place.mkdir()


@contextmanager
def other_than(place: Path) -> Iterator[Disk]:
    """A disk that is not the one on which this place is; without a second one the test is skipped."""
    device = place.stat().st_dev
    roots = [root for root in _PLACES if root.exists() and root.stat().st_dev != device]
    if not roots:
        pytest.skip("this machine has one file system")
    with tempfile.TemporaryDirectory(prefix="sayso-disk-", dir=roots[0], ignore_cleanup_errors=True) as folder:
        yield Disk(Path(folder))
