"""Landlock: the files that a process and all it starts may touch from now on, by the kernel's three system calls.

A list of what is allowed, never of what is not: "all but ~/.ssh" is said by naming everything beside it. What comes to
lie there later is not allowed. Stdlib only and small, because runners carry it.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable, Iterator, Sequence, Set

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH = 1, 1
_SCOPED_SIGNALS_AND_ABSTRACT_SOCKETS = 0b11

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_CHAR, _MAKE_DIR, _MAKE_REG = 1 << 4, 1 << 5, 1 << 6, 1 << 7, 1 << 8
_MAKE_SOCK, _MAKE_FIFO, _MAKE_BLOCK, _MAKE_SYM = 1 << 9, 1 << 10, 1 << 11, 1 << 12
_REFER, _TRUNCATE, _IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15

READING = _EXECUTE | _READ_FILE | _READ_DIR
CHANGING = (
    _WRITE_FILE | _TRUNCATE | _REFER | _REMOVE_DIR | _REMOVE_FILE
    | _MAKE_DIR | _MAKE_REG | _MAKE_SYM | _MAKE_FIFO | _MAKE_SOCK
)  # fmt: skip
_DEVICE = _READ_FILE | _WRITE_FILE | _IOCTL_DEVICE
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE
_EVERYTHING = (1 << 15) - 1

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

LEAST_VERSION = 3
"""Before it a file could be emptied that may not be written (Linux 6.2)."""
DEVICES_VERSION = 5
SCOPES_VERSION = 6
"""Since it, signals stay inside as well (Linux 6.12)."""

_libc = ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """What the kernel offers; 0 where it has none."""
    return max(0, int(_libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)))


def ruleset(reading: Iterable[str], changing: Iterable[str]) -> int:
    """The descriptor of a list that lets these files and all below them be read, or read and changed."""
    known = version()
    if known < LEAST_VERSION:
        has = f"has version {known} of Landlock" if known else "has no Landlock, or it is turned off"
        raise OSError(f"the kernel {has}; version {LEAST_VERSION} is needed (Linux 6.2)")
    handled = _EVERYTHING | (_IOCTL_DEVICE if known >= DEVICES_VERSION else 0)
    scoped = _SCOPED_SIGNALS_AND_ABSTRACT_SOCKETS if known >= SCOPES_VERSION else 0
    about = struct.pack("=QQQ", handled, 0, scoped)[: 24 if scoped else 8]
    made = _checked(_libc.syscall(_CREATE_RULESET, about, ctypes.c_size_t(len(about)), 0))
    for paths, rights in ((reading, READING), (changing, READING | CHANGING), (DEVICES, _DEVICE)):
        for path in paths:
            _add(made, path, rights & handled)
    return made


def restrict(made: int) -> None:
    """Hold this thread, and all that it starts, to the list for ever. It can gain no rights before that."""
    _checked(_libc.syscall(_RESTRICT_SELF, made, 0))


def granted(top: str, hidden: Sequence[str]) -> Iterator[str]:
    """What to name so that all at and below `top` is allowed but for what is hidden. Links are not followed: what they
    lead to is judged by its own place."""
    around = {folder for each in hidden for folder in _around(each)}
    yield from _granted(top, frozenset(hidden), around)


def _granted(top: str, hidden: Set[str], around: Set[str]) -> Iterator[str]:
    if top in hidden:
        return
    if top not in around:
        yield top
        return
    try:
        with os.scandir(top) as found:
            entries = [entry.path for entry in found if not entry.is_symlink()]
    except OSError:
        return
    for path in entries:
        yield from _granted(path, hidden, around)


def _around(path: str) -> Iterator[str]:
    """Every folder that a path is in."""
    while path != "/":
        path = path.rpartition("/")[0] or "/"
        yield path


def _add(made: int, path: str, rights: int) -> None:
    """Name one path. One that is gone, or that nobody may even look at, needs no naming."""
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(opened).st_mode):
            rights &= _OF_FILES
        rule = struct.pack("=Qi", rights, opened)
        _checked(_libc.syscall(_ADD_RULE, made, _PATH_BENEATH, rule, 0))
    finally:
        os.close(opened)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return int(result)
