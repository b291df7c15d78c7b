"""Where tests keep their files: in memory where there is room, for a disk takes its time over every answer that must
not be lost. What becomes of a store when its process is killed is the same on both."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

ROOM = 4 * 2**30
"""Bytes that must be free for the files of a whole run."""
_SHARED = Path("/dev/shm")


def _is_there() -> bool:
    if not (_SHARED.is_dir() and os.access(_SHARED, os.W_OK)):
        return False
    about = os.statvfs(_SHARED)
    return about.f_bavail * about.f_frsize >= ROOM and not about.f_flag & os.ST_NOEXEC


SHORT = str(_SHARED) if _is_there() else "/tmp"
"""A folder whose path leaves room for those of sockets."""


def use() -> None:
    """Have this process make its temporary files there. Those that it starts know nothing of it."""
    if str(_SHARED) == SHORT:
        tempfile.tempdir = SHORT
