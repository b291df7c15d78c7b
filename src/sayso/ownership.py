"""Whether nobody but this person can have written a file: its owner, its mode, and the same of every folder on the way
to it, because who can write a folder can put another file in its place. Root can write everything anyway."""

from __future__ import annotations

import os
import stat
from functools import cache
from pathlib import Path

_ROOT = 0
_UNMAPPED = 65534
"""Whom the kernel names where it may not tell, as inside of a container."""
_ACCESS_LIST = "system.posix_acl_access"


def written_by_others(file: Path) -> Path | None:
    """The file itself, or the folder on the way to it, that somebody else can write; None where nobody can. OSError
    where it is not there. What is no file, such as a pipe, is not looked at."""
    if os.name != "posix" or not stat.S_ISREG(os.stat(file).st_mode):
        return None
    given, real = Path(os.path.abspath(file)), Path(os.path.realpath(file))
    links = [given] if os.lstat(given).st_uid not in (_ROOT, os.geteuid()) else []
    folders = dict.fromkeys((*reversed(real.parents), *reversed(given.parents)))
    return next((place for place in (*links, real, *folders) if _is_open(place, is_folder=place in folders)), None)


def _is_open(place: Path, *, is_folder: bool) -> bool:
    found = os.lstat(place) if place.is_symlink() and not is_folder else os.stat(place)
    if found.st_uid not in (_ROOT, os.geteuid()) and not (is_folder and found.st_uid == _UNMAPPED):
        return True
    if is_folder and found.st_mode & stat.S_ISVTX:
        return False  # what lies there can be replaced by its owner alone
    if found.st_mode & stat.S_IWOTH and not stat.S_ISLNK(found.st_mode):
        return True
    return bool(found.st_mode & stat.S_IWGRP) and not _is_alone(place, found)


def _is_alone(place: Path, found: os.stat_result) -> bool:
    """Whether a file that its group can write is this person's alone all the same, as where each has a group of their
    own and makes files for it (umask 002)."""
    return found.st_gid == _own_group() and not _has_others(found.st_gid) and not _has_access_list(place)


@cache
def _own_group() -> int:
    import pwd

    try:
        return pwd.getpwuid(os.geteuid()).pw_gid
    except KeyError:
        return os.getegid()


@cache
def _has_others(group: int) -> bool:
    """Whether anybody else is in a group, by being named there or because it is their own."""
    import grp
    import pwd

    try:
        named = set(grp.getgrgid(group).gr_mem)
    except KeyError:
        named = set()
    users = pwd.getpwall()
    ours = {user.pw_name for user in users if user.pw_uid in (_ROOT, os.geteuid())}
    return not named <= ours or any(user.pw_gid == group and user.pw_name not in ours for user in users)


def _has_access_list(place: Path) -> bool:
    """Whether others are let in by name; the mode then tells nothing of the group."""
    try:
        return _ACCESS_LIST in os.listxattr(place)
    except (AttributeError, OSError):
        return False
