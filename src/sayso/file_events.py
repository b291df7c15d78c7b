"""The system's word that something has changed in a file or a folder: inotify, on Linux alone. What it was is for the
caller to find out. Small, because whoever waits for an agent carries it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

KEY_READ = 0x1
"""In the device of a terminal: the program in it has read what was typed."""
MODIFIED, ATTRIBUTES, MOVED_FROM, MOVED_TO, CREATED, DELETED = 0x2, 0x4, 0x40, 0x80, 0x100, 0x200
SELF_DELETED, SELF_MOVED = 0x400, 0x800
GONE = SELF_DELETED | SELF_MOVED
IN_A_FILE = MODIFIED | ATTRIBUTES | GONE
ON_THE_WAY = MOVED_TO | CREATED | GONE
"""In a folder in which something is yet to come."""
MANY_EVENTS = 1 << 16
"""Bytes of them that are read at once."""

_OF_THIS_MACHINE = frozenset(
    [
        "bcachefs",
        "btrfs",
        "exfat",
        "ext2",
        "ext3",
        "ext4",
        "f2fs",
        "jfs",
        "overlay",
        "ramfs",
        "reiserfs",
        "tmpfs",
        "vfat",
        "xfs",
        "zfs",
    ]
)
"""Kinds of file systems that nobody but this machine writes to."""


def watch(wanted: Iterable[tuple[Path, int]]) -> int:
    """A descriptor that becomes readable with the first change; OSError where the system has none to give."""
    import _ctypes  # `ctypes` itself declares every type of C, which takes its time to import

    libc = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]  # what this program has loaded already
    fd: int = _ctypes.call_function(_ctypes.dlsym(libc, "inotify_init1"), (os.O_NONBLOCK | os.O_CLOEXEC,))
    if fd < 0:
        raise OSError("inotify has no more to give to this user: see fs.inotify.max_user_instances")
    add, asked = _ctypes.dlsym(libc, "inotify_add_watch"), dict[Path, int]()
    try:
        for path, mask in wanted:
            asked[path] = asked.get(path, 0) | mask
            if _ctypes.call_function(add, (fd, os.fsencode(path), asked[path])) < 0 and path.exists():
                raise OSError(f"inotify does not watch {path}: see fs.inotify.max_user_watches")
    except BaseException:
        os.close(fd)
        raise
    return fd


def way_to(path: Path) -> Iterator[tuple[Path, int]]:
    """The folders above it, to be watched for being moved away with all that is in them."""
    return ((folder, GONE) for folder in path.parents if os.access(folder, os.R_OK))


def tells_all(path: Path) -> bool:
    """Whether the system tells of whatever changes there: nobody on another machine can write to it, and no link on the
    way to it can be turned elsewhere. Where it does not, one has to look now and then."""
    try:
        return os.path.realpath(path) == str(path) and _kind_of_file_system(path) in _OF_THIS_MACHINE
    except OSError:
        return False


def _kind_of_file_system(path: Path) -> str:
    above, kind, depth = {str(path), *map(str, path.parents)}, "", -1
    for line in Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape").splitlines():
        fields, _, about = line.partition(" - ")
        place = fields.split(" ")[4].replace("\\040", " ")
        # Of several at one place, the last one is what is seen there.
        if place in above and len(place) >= depth:
            kind, depth = about.partition(" ")[0], len(place)
    return kind
