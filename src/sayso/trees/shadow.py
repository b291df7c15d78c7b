"""What a working tree was like at certain moments, kept beside it: a repository of our own, in a folder of our own.

It borrows the objects of the person's repository and writes nothing into it: no object, no ref, no index. What is in
the working tree and not yet in that repository is kept in the shadow, and goes with it.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sayso.errors import TreeUnavailable
from sayso.files import read_regular, replace_file
from sayso.records import replace
from sayso.text import spelt_out
from sayso.trees.git import SECONDS, Git
from sayso.trees.repository import Repository, repository_of

LARGEST_FILE = 10 * 1024 * 1024
MOST_NEW_BYTES, MOST_NEW_FILES = 200 * 1024 * 1024, 20_000
"""What a working tree may hold that its repository does not have yet."""
_BEGINNING, _ROOT = "beginning", "root"
_TREE = re.compile(r"[0-9a-f]{40,64}")
_FROM_PROJECT = r"^(core\.(autocrlf|eol|ignorecase|precomposeunicode|symlinks)|extensions\.objectformat)$"
"""Settings that say how files are read. None of them can name a program."""
_FROM_PERSON = r"^core\.(autocrlf|eol|excludesfile)$"
_MOST_EXCLUDED = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A working tree at one moment. `left_out` are paths that were not looked at: too large, or a repository of their
    own."""

    tree: str
    left_out: tuple[str, ...] = ()


class Shadow:
    """The shadow of one working tree, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def beginning(self) -> str:
        """The tree that was there at the beginning. TreeUnavailable where that was not kept."""
        return self.mark(_BEGINNING)

    @cached_property
    def root(self) -> Path:
        return Path(_read(self.folder / _ROOT).decode(errors="surrogateescape"))

    @cached_property
    def git(self) -> Git:
        return Git(repository=self.folder, work_tree=self.root)

    def begin(self, directory: Path) -> None:
        """Keep what the working tree around a directory is like now, as the beginning."""
        self.prepare(repository_of(directory))
        self.set_mark(_BEGINNING, self.look().tree)

    def look(self) -> Snapshot:
        """What the working tree is like now."""
        repository_of(self.root)
        with self._own_index() as git:
            snapshot = _take(git, self.root)
            assert git.index
            os.replace(git.index, self.folder / "index")
            return snapshot

    def mark(self, name: str) -> str:
        tree = _read(self.folder / name).decode(errors="replace").strip()
        if not _TREE.fullmatch(tree):
            raise TreeUnavailable("What the files were like when the conversation began was not kept.")
        return tree

    def set_mark(self, name: str, tree: str) -> None:
        replace_file(self.folder / name, tree.encode())

    @contextmanager
    def _own_index(self) -> Iterator[Git]:
        """An index that nobody else has a hand in, so that two can look at once; a lock could outlive its owner."""
        own = self.folder / f"index.{secrets.token_hex(8)}"
        known = self.folder / "index"
        try:
            if known.exists():
                # With its time, by which git knows what may have changed in the second in which it was written.
                shutil.copy2(known, own)
            yield self.git.with_index(own)
        finally:
            for left in (own, own.with_name(f"{own.name}.lock")):
                left.unlink(missing_ok=True)

    def prepare(self, repository: Repository) -> None:
        """Make the shadow of a working tree, of which nothing is kept yet."""
        for name in ("objects/info", "refs", "info"):
            (self.folder / name).mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder.chmod(0o700)
        replace_file(self.folder / "HEAD", b"ref: refs/heads/none\n")
        replace_file(self.folder / "config", b"[core]\n\trepositoryformatversion = 1\n\tbare = false\n")
        replace_file(self.folder / "objects/info/alternates", b"%b\n" % os.fsencode(repository.objects))
        replace_file(self.folder / "info/exclude", _read(repository.common / "info/exclude"))
        replace_file(self.folder / _ROOT, os.fsencode(repository.root))
        self._take_over_settings(repository)
        self._borrow_index(repository)

    def _take_over_settings(self, repository: Repository) -> None:
        wanted = {
            **settings(self.git, persons_config(), _FROM_PERSON),
            **settings(self.git, repository.config, _FROM_PROJECT),
        }
        for name, value in wanted.items():
            plain = re.fullmatch(r"[a-z0-9]{1,20}", value)
            if plain or name == "core.excludesfile":
                self.git.run("config", "--file", str(self.folder / "config"), name, os.path.expanduser(value))

    def _borrow_index(self, repository: Repository) -> None:
        """Begin with a copy of the person's index: it knows what has not changed, so that not every file is read. One
        that cannot be read alone is not used."""
        index = self.folder / "index"
        try:
            shutil.copy2(repository.own / "index", index)
            self._look_at_all(repository)
        except (OSError, TreeUnavailable):
            index.unlink(missing_ok=True)

    def _look_at_all(self, repository: Repository) -> None:
        """An agent can mark files in the person's index as not to be looked at, and modes in the settings. Neither is
        believed."""
        entries = list(_entries(self.git))
        for word, marked in (
            ("--no-assume-unchanged", [entry.path for entry in entries if entry.tag.islower()]),
            ("--no-skip-worktree", [entry.path for entry in entries if entry.tag in "Ss"]),
        ):
            if marked:
                self.git.run("update-index", word, "-z", "--stdin", given=b"\0".join([*marked, b""]))
        told = settings(self.git, repository.config, r"^core\.filemode$").get("core.filemode", "true")
        if told == "false" and not _has_modes(self.root, entries):
            self.git.run("config", "--file", str(self.folder / "config"), "core.filemode", "false")
        self.git.run("update-index", "-q", "--refresh")


@dataclass(frozen=True, kw_only=True)
class _IndexEntry:
    tag: str
    """As `git ls-files -v` tells it."""
    mode: bytes
    path: bytes


def _entries(git: Git) -> Iterator[_IndexEntry]:
    for told in git.run("ls-files", "-v", "--stage", "-z").split(b"\0"):
        if told:
            head, _, path = told.partition(b"\t")
            tag, mode, *_ = head.split(b" ")
            yield _IndexEntry(tag=tag.decode(), mode=mode, path=path)


def _has_modes(root: Path, entries: Iterable[_IndexEntry]) -> bool:
    """Whether files can be executable there or not. Where they cannot, all are the same, whatever the index says."""
    noted, there = set(), set()
    real = os.fsencode(os.path.realpath(root))
    for entry in entries:
        status = _status(real, entry.path) if entry.mode.startswith(b"100") else None
        if status and stat.S_ISREG(status.st_mode):
            noted.add(entry.mode == b"100755")
            there.add(bool(status.st_mode & stat.S_IXUSR))
    return len(there) != 1 or there == noted


def persons_config() -> Path:
    return Path(os.environ.get("GIT_CONFIG_GLOBAL") or Path.home() / ".gitconfig")


def settings(git: Git, file: Path, names: str) -> dict[str, str]:
    if not file.is_file():
        return {}
    # 1: none of them is set. Files that it includes are not read.
    found = git.run("config", "--file", str(file), "-z", "--get-regexp", names, codes=(0, 1))
    pairs = (each.partition("\n") for each in found.decode(errors="replace").split("\0") if each)
    return {name: value for name, _, value in pairs}


def git_with_refs_of(repository: Repository, seconds: float = SECONDS) -> Git:
    """Git that looks up and moves the branches of somebody else's repository, and goes by none of its settings."""
    git = Git(repository=repository.own, work_tree=repository.root, objects=repository.objects, seconds=seconds)
    plain = re.compile(r"[a-z0-9]{1,20}")
    found = settings(git, repository.config, r"^extensions\.(objectformat|refstorage)$")
    lines = [f"\t{name.partition('.')[2]} = {value}" for name, value in found.items() if plain.fullmatch(value)]
    format = "\n".join(["[core]", "\trepositoryformatversion = 1", "\tbare = false", "[extensions]", *lines, ""])
    return replace(git, common=repository.common.absolute(), format=format)


_WRITTEN = ("HEAD", "index", "packed-refs", "objects", "refs/heads", "logs/HEAD", "logs/refs/heads", "worktrees")


def check_in_place(repository: Repository) -> None:
    """TreeUnavailable where git would write elsewhere than into the repository of this working tree: an agent can put a
    link in the way, or the name of another repository."""
    branch = _read(repository.own / "HEAD").decode(errors="surrogateescape").removeprefix("ref: ").strip()
    of_branches = [f"{kind}{name}" for kind in ("", "logs/") for name in (branch, "refs/heads/sayso")]
    for folder in {repository.own, repository.common}:
        for name in (*_WRITTEN, *of_branches):
            parts = [place for place in (folder / name, *(folder / name).parents) if place.is_relative_to(folder)]
            if link := next((place for place in parts if place != folder and place.is_symlink()), None):
                raise TreeUnavailable(
                    f"{spelt_out(str(link))} is a link, so git would write elsewhere. Use git in a terminal."
                )
    if not _is_its_own(repository):
        raise TreeUnavailable(
            f"{spelt_out(str(repository.root / '.git'))} names a repository that does not name this working tree. "
            "Use git in a terminal."
        )


def _is_its_own(repository: Repository) -> bool:
    """Whether a repository and its working tree name each other."""
    git = repository.root / ".git"
    if git.is_dir():
        return repository.common == repository.own and not git.is_symlink()
    if back := _read(repository.own / "gitdir").decode(errors="surrogateescape").strip():
        return os.path.realpath(repository.own / back) == os.path.realpath(git)
    plain = Git(repository=repository.own, work_tree=repository.root)
    tree = settings(plain, repository.own / "config", r"^core\.worktree$").get("core.worktree", "")
    return bool(tree) and os.path.realpath(repository.own / tree) == os.path.realpath(repository.root)


def _take(git: Git, root: Path) -> Snapshot:
    listed = git.run("ls-files", "-z", "--others", "--modified", "--deleted", "--exclude-standard")
    paths = sorted({path for path in listed.split(b"\0") if path})
    gone, there, left_out = _sorted_out(root, paths)
    if gone:
        git.run("update-index", "-z", "--force-remove", "--stdin", given=b"\0".join([*gone, b""]))
    if there:
        git.run("update-index", "-z", "--add", "--remove", "--replace", "--stdin", given=b"\0".join([*there, b""]))
    tree = git.run("write-tree", "--missing-ok").decode().strip()
    return Snapshot(tree=tree, left_out=tuple(os.fsdecode(path) for path in left_out))


def _sorted_out(root: Path, paths: Iterable[bytes]) -> tuple[list[bytes], list[bytes], list[bytes]]:
    """Which of the paths are gone, which are there, and which are not looked at."""
    gone: list[bytes] = []
    there: list[bytes] = []
    left_out: list[bytes] = []
    size = 0
    real = os.fsencode(os.path.realpath(root))
    for path in paths:
        status = _status(real, path)
        if status is None:
            gone.append(path)
        elif path.endswith(b"/") or status.st_size > LARGEST_FILE or not _is_kept(status.st_mode):
            left_out.append(path)
        else:
            there.append(path)
            size += status.st_size
    if size > MOST_NEW_BYTES or len(there) > MOST_NEW_FILES:
        raise TreeUnavailable(
            f"{len(there):,} files with {size // 1024 // 1024:,} MB are not in the repository yet and not ignored; "
            f"Sayso keeps at most {MOST_NEW_FILES:,} files with {MOST_NEW_BYTES // 1024 // 1024:,} MB. "
            "Add what is made by programs to .gitignore."
        )
    return gone, there, left_out


def _status(root: bytes, path: bytes) -> os.stat_result | None:
    """None for what is not there, or only by way of a link in its path."""
    whole = os.path.join(root, path.rstrip(b"/"))
    try:
        return None if is_behind_a_link(whole) else os.lstat(whole)
    except OSError:
        return None


def is_behind_a_link(path: bytes) -> bool:
    """Whether a folder on the way to it is a link; the path must begin with what is none."""
    return os.path.realpath(os.path.dirname(path)) != os.path.dirname(path)


def _is_kept(mode: int) -> bool:
    """A directory here is a submodule, of which the commit is kept."""
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode)


def _read(file: Path) -> bytes:
    try:
        return read_regular(file, _MOST_EXCLUDED)[:_MOST_EXCLUDED]
    except OSError:
        return b""
