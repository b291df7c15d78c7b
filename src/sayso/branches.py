"""Which branch is checked out in a folder, read from git's own files. No program is run, and nothing that a repository
says is believed: the name is cleaned, and what is no plain file is not opened for long."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from sayso.text import one_line

LONGEST = 100
_MOST_BYTES = 4096
_HEAD = re.compile(r"ref: refs/heads/(?P<branch>.+)|(?P<commit>[0-9a-f]{40,64})")


def branch_of(folder: str) -> str:
    """The branch, or where none is checked out the beginning of the commit's id. Empty where there is no repository."""
    if not os.path.isabs(folder):
        return ""
    for place in (Path(folder), *Path(folder).parents):
        if head := _head(place):
            found = _HEAD.fullmatch(head.strip())
            return one_line(found["branch"] or found["commit"][:8], LONGEST) if found else ""
    return ""


def _head(place: Path) -> str:
    """What HEAD says of the repository whose root this is; empty where it is no root of one."""
    try:
        return _text(place / ".git" / "HEAD") or _of_worktree(place)
    except (OSError, ValueError):
        return ""


def _of_worktree(place: Path) -> str:
    """In a worktree `.git` is a file that names the folder where HEAD is."""
    word, _, folder = _text(place / ".git").strip().partition(" ")
    return _text(place / folder / "HEAD") if word == "gitdir:" and folder else ""


def _text(file: Path) -> str:
    """The beginning of a file; empty where there is none, or something else in its place that could make us wait."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    try:
        regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return os.read(descriptor, _MOST_BYTES).decode(errors="replace") if regular else ""
    finally:
        os.close(descriptor)
