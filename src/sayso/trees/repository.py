"""Finds the repository that a folder is in, from git's own files: no program is run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sayso.branches import top_of_repository
from sayso.errors import TreeUnavailable
from sayso.files import read_regular
from sayso.text import spelt_out

_MOST_BYTES = 4096


@dataclass(frozen=True, kw_only=True)
class Repository:
    """A working tree with git's own folder of it; `common` is what it shares with other working trees."""

    root: Path
    own: Path
    common: Path

    @property
    def objects(self) -> Path:
        return self.common / "objects"

    @property
    def config(self) -> Path:
        return self.common / "config"


def repository_of(folder: Path) -> Repository:
    """TreeUnavailable where there is none."""
    root = top_of_repository(str(folder))
    if not root:
        raise TreeUnavailable(
            f"{spelt_out(str(folder))} is not in a git repository, so what changes in it is not kept."
        )
    place = Path(root)
    own = _own_folder(place)
    common = _named(own / "commondir", own) or own
    if not (common / "objects").is_dir():
        raise TreeUnavailable(f"The git repository of {spelt_out(root)} has no objects.")
    return Repository(root=place, own=own, common=common)


def _own_folder(root: Path) -> Path:
    git = root / ".git"
    if git.is_dir():
        return git
    named = _named(git, root, "gitdir: ")
    if named is None:
        raise TreeUnavailable(f"{spelt_out(str(git))} does not say where the repository is.")
    return named


def _named(file: Path, relative_to: Path, word: str = "") -> Path | None:
    """The folder that a small file names."""
    try:
        text = read_regular(file, _MOST_BYTES).decode(errors="surrogateescape").removesuffix("\n")
    except OSError:
        return None
    return relative_to / text.removeprefix(word) if text.startswith(word) else None
