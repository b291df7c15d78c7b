"""Where projects can be added from the page: real folders below those that the server's owner has allowed for it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from sayso.agents.model import Project
from sayso.errors import InvalidInput, NotFound, Problem
from sayso.setting_values import readable
from sayso.text import one_line, spelt_out

MOST_LISTED = 300
_MOST_LOOKED_AT = 5_000
"""Entries of folders that are looked at for one list."""


@dataclass(frozen=True, kw_only=True)
class ProjectPlace:
    """A folder that can become a project; `name` is its path below the allowed one."""

    directory: Path
    name: str
    has_git: bool


class ProjectPlaces:
    """The folders below those that are allowed."""

    def __init__(self, allowed: Sequence[Path]) -> None:
        self.allowed = tuple(allowed)

    def listed(self, without: Sequence[Path] = ()) -> list[ProjectPlace]:
        """Those to choose from, with git first: the folders there, and repositories one level deeper. Neither hidden
        ones nor links, nor those `without` which it is asked for."""
        found = (place for place in self._found() if place.directory not in without)
        return sorted(found, key=lambda place: (not place.has_git, place.name.casefold()))[:MOST_LISTED]

    def _found(self) -> Iterator[ProjectPlace]:
        looked_at = 0
        for root in {Path(os.path.realpath(each)): None for each in self.allowed}:
            for folder in _folders_in(root):
                inside = [] if _has_git(folder) else [each for each in _folders_in(folder) if _has_git(each)]
                for each in (folder, *inside):
                    yield ProjectPlace(directory=each, name=self._name(root, each), has_git=_has_git(each))
                looked_at += 1 + len(inside)
                if looked_at > _MOST_LOOKED_AT:
                    return

    def _name(self, root: Path, folder: Path) -> str:
        return str(folder.relative_to(root)) if len(self.allowed) == 1 else str(folder)

    def checked(self, given: str) -> tuple[Path, Path]:
        """The real folder that is meant, and the allowed one that it lies below."""
        if os.path.isabs(given) and "\x00" not in given:
            real = os.path.realpath(given)
            for root in self.allowed:
                if is_below(real, root) and os.path.isdir(real):
                    return Path(real), Path(os.path.realpath(root))
        allowed = ", ".join(spelt_out(str(root)) for root in self.allowed)
        text = f"is {one_line(given, 200)!r}; it must be a folder that is there, below {allowed}."
        raise InvalidInput([Problem(path="folder", text=text)])


def is_below(real: str, root: Path | str) -> bool:
    """Whether a real path leads to something inside a folder, wherever that really is."""
    return Path(os.path.realpath(root)) in Path(real).parents


def check_place(project: Project) -> None:
    """NotFound where the folder of a project that was added from the page has become a link, or lies below one."""
    below, directory = project.options.added_below, str(project.directory)
    if below and (os.path.realpath(directory) != directory or not is_below(directory, below)):
        raise NotFound(
            f"{spelt_out(directory)} is not the folder that was added: a link leads somewhere else now. If that is "
            f"meant: sayso project add {spelt_out(directory)}"
        )


def _folders_in(folder: Path) -> list[Path]:
    """Its folders, but no links to any, and none whose names are hidden or no text."""
    try:
        with os.scandir(folder) as entries:
            names = [
                entry.name
                for entry in _first(entries)
                if not entry.name.startswith(".")
                and entry.is_dir(follow_symlinks=False)
                and readable(entry.name) == entry.name
            ]
    except OSError:
        return []
    return [folder / name for name in sorted(names)]


def _first(entries: Iterator[os.DirEntry[str]]) -> Iterator[os.DirEntry[str]]:
    return islice(entries, _MOST_LOOKED_AT)


def _has_git(folder: Path) -> bool:
    return os.path.lexists(folder / ".git")
