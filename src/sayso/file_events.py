"""The system's word that something has changed in a file or a folder: inotify, on Linux alone. What it was is for the
caller to find out. Small, because whoever waits for an agent carries it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

KEY_READ = 0x1
"""In the device of a terminal: the program in it has read what was typed."""
MODIFIED, ATTRIBUTES, MOVED_FROM, MOVED_TO, CREATED, DELETED = 0x2, 0x4, 0x40, 0x80, 0x100, 0x200
SELF_DELETED, SELF_MOVED = 0x400, 0x800
GONE = SELF_DELETED | SELF_MOVED
IN_A_FILE = MODIFIED | ATTRIBUTES | GONE
ON_THE_WAY = MOVED_TO | CREATED | GONE
"""In a folder in which something is yet to come."""


def watch(wanted: Iterable[tuple[Path, int]]) -> int:
    """A descriptor that becomes readable with the first change; OSError where the system has none to give."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    fd: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "inotify")
    asked: dict[Path, int] = {}
    try:
        for path, mask in wanted:
            asked[path] = asked.get(path, 0) | mask
            if libc.inotify_add_watch(fd, os.fsencode(path), asked[path]) < 0 and path.exists():
                raise OSError(ctypes.get_errno(), "inotify", str(path))
    except BaseException:
        os.close(fd)
        raise
    return fd
