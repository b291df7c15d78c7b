"""The files of a project by their names, for whoever writes about one of them. None is opened."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from sayso.errors import TreeUnavailable
from sayso.setting_values import readable
from sayso.text import spelt_out
from sayso.trees.shadow import Shadow

MOST_WALKED = 20_000
"""Entries of folders that are looked at where git does not know the files."""
_NOT_WALKED = {"node_modules", "__pycache__", "venv", "target"}


def known_files(shadow: Shadow, directory: Path) -> list[str]:
    """What git knows of a directory and what is new there, without what it ignores. TreeUnavailable without git."""
    listed = _listed(shadow, "--cached", "--others", "--exclude-standard") - _listed(shadow, "--deleted")
    below = os.path.relpath(directory, shadow.root)
    inside = "" if below == "." else f"{below}/"
    return sorted(name.removeprefix(inside) for name in listed if name.startswith(inside) and is_plain(name))


def _listed(shadow: Shadow, *which: str) -> set[str]:
    names = shadow.git.run("ls-files", "-z", *which).split(b"\0")
    # What ends with a slash is another repository.
    return {os.fsdecode(name) for name in names if name and not name.endswith(b"/")}


def walked_files(directory: Path) -> list[str]:
    """The first files that are found, nearest first, without hidden folders and links to folders."""
    return [name for name in _walk(directory) if is_plain(name)]


def _walk(directory: Path) -> Iterator[str]:
    folders, seen = deque([""]), 0
    while folders and seen < MOST_WALKED:
        inside = folders.popleft()
        try:
            entries = sorted(os.scandir(directory / inside), key=lambda entry: entry.name)
        except OSError:
            continue
        seen += len(entries)
        for entry in entries:
            name = f"{inside}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if not entry.name.startswith(".") and entry.name not in _NOT_WALKED:
                    folders.append(f"{name}/")
            elif not entry.is_symlink():
                yield name


def is_plain(name: str) -> bool:
    """Whether it reads as what it is, and can be one word of a message."""
    return readable(name) == name == spelt_out(name) and not any(letter.isspace() for letter in name)


def matching(names: list[str], wanted: str, most: int) -> list[str]:
    """Those with these letters in them: first where the last part of a name begins with them."""
    letters = wanted.casefold()

    def order(name: str) -> tuple[bool, int, str]:
        return not name.rpartition("/")[2].casefold().startswith(letters), len(name), name

    return sorted((name for name in names if letters in name.casefold()), key=order)[:most]


def files_of(shadow: Shadow | None, directory: Path) -> list[str]:
    """The files of a directory, by git where that knows it."""
    if shadow:
        try:
            return known_files(shadow, directory)
        except TreeUnavailable:
            pass
    return walked_files(directory)
