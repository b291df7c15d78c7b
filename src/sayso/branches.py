"""Which branch is checked out in a folder, read from git's own files. No program is run, and nothing that a repository
says is believed: the name is cleaned, and what is no plain file is not opened for long."""

from __future__ import annotations

import os
import re
import stat

from sayso.text import one_line

LONGEST = 100
_MOST_BYTES = 4096
_HEAD = re.compile(r"ref: refs/heads/(?P<branch>.+)|(?P<commit>[0-9a-f]{40,64})")


def branch_of(folder: str) -> str:
    """The branch, or where none is checked out the beginning of the commit's id. Empty where there is no repository."""
    _, head = _repository(folder)
    found = _HEAD.fullmatch(head.strip())
    return one_line(found["branch"] or found["commit"][:8], LONGEST) if found else ""


def top_of_repository(folder: str) -> str:
    """The root of the repository, or worktree, that a folder is in; empty where there is none."""
    return _repository(folder)[0]


def _repository(folder: str) -> tuple[str, str]:
    """The root of the repository that a folder is in, and what its HEAD says."""
    above = "" if os.path.isabs(folder) else folder
    while folder != above:
        # No Path: this is looked up for every call, and most folders are no root of a repository.
        if head := _head(folder):
            return folder, head
        folder, above = os.path.dirname(folder), folder
    return "", ""


def _head(place: str) -> str:
    """What HEAD says of the repository whose root this is; empty where it is no root of one."""
    git = os.path.join(place, ".git")
    try:
        return (_text(os.path.join(git, "HEAD")) or _of_worktree(place, git)) if os.path.lexists(git) else ""
    except (OSError, ValueError):
        return ""


def _of_worktree(place: str, git: str) -> str:
    """In a worktree `.git` is a file that names the folder where HEAD is."""
    word, _, folder = _text(git).strip().partition(" ")
    return _text(os.path.join(place, folder, "HEAD")) if word == "gitdir:" and folder else ""


def _text(file: str) -> str:
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
