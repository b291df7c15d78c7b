"""Working trees of conversations of their own, on branches of their own: made, merged and discarded.

What is known of each is noted before it is made, and forgotten after it is gone: whoever is killed in between leaves
either, or what the next sweep ends.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from sayso.branches import top_of_repository
from sayso.errors import TreeChanged, TreeUnavailable
from sayso.files import read_regular, replace_file
from sayso.records import replace
from sayso.text import counted, spelt_out
from sayso.trees.changes import differing, kept_by_filters
from sayso.trees.committing import check_quiet, head_of, identity_of, tree_of
from sayso.trees.git import Git
from sayso.trees.repository import repository_of
from sayso.trees.shadow import Shadow, check_in_place, git_with_refs_of

SECONDS = 180.0
"""In which all files of a repository must be there."""
MOST_COMMITS = 100
_NAME = re.compile(r"[0-9a-f]{24}")
_WORD = re.compile(r"[a-z0-9]+")
_LONGEST_SLUG = 40
_MOST_BYTES = 4096
_MOST_NAMES = 10


@dataclass(frozen=True, kw_only=True)
class Worktree:
    """The working tree of one conversation. `root` is the working tree that it came from, `base` the branch there."""

    name: str
    place: str
    root: str
    branch: str
    base: str
    ready: bool = False
    """Whether all of its files have been put there."""
    discarding: bool = False

    @property
    def theirs(self) -> Git:
        """Git on the working tree that it came from."""
        return git_with_refs_of(repository_of(Path(self.root)), SECONDS)


@dataclass(frozen=True, kw_only=True)
class UnmergedCommit:
    """A commit with its short id and subject, and the files that differ from its first parent."""

    told: str
    files: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Unmerged:
    """What a worktree holds that is nowhere else: commits, the latest first, and whether files are not committed."""

    commits: tuple[UnmergedCommit, ...]
    more: int
    """Commits that are not named."""
    uncommitted: bool
    tip: str
    base: str
    digest: str
    """Another one as soon as any of this is."""

    @property
    def number(self) -> int:
        return len(self.commits) + self.more

    @property
    def is_merged(self) -> bool:
        return not self.commits and not self.uncommitted


class Worktrees:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def plan(self, directory: Path) -> str:
        """Where an agent would work that is to have a worktree of the repository around a project's directory."""
        if not top_of_repository(str(directory)):
            folder = spelt_out(str(directory))
            raise TreeUnavailable(f"{folder} is not in a git repository, so there can be no worktree of it.")
        repository = repository_of(directory)
        _, commit = head_of(git_with_refs_of(repository))
        if not commit:
            raise TreeUnavailable("The repository has no commit yet, so there can be no worktree of it.")
        inside = os.path.relpath(os.path.realpath(directory), os.path.realpath(repository.root))
        return os.path.normpath(self._folder / secrets.token_hex(12) / inside)

    def add(self, shadow: Shadow, directory: Path, project: Path, title: str) -> Worktree:
        """Make the worktree for a directory that was planned, with a branch that begins at the last commit."""
        name = self._name_of(directory)
        repository = repository_of(project)
        check_in_place(repository)
        theirs = git_with_refs_of(repository, SECONDS)
        base, commit = head_of(theirs)
        place = self._folder / name
        branch = f"sayso/{_slug(title)}-{name[:4]}"
        added = Worktree(name=name, place=str(place), root=str(repository.root), branch=branch, base=base)
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._note(added)
        # The files are put there by our own git, which runs no filter.
        kept = repository.common / "worktrees"
        kept.mkdir(exist_ok=True)
        theirs.run("worktree", "add", "--quiet", "--no-checkout", "-b", branch, str(place), commit)
        place.chmod(0o700)
        for entry in _entries_of(added, kept):
            replace_file(place / ".git", b"gitdir: %b\n" % os.fsencode(os.path.realpath(entry)))
        own = repository_of(place)
        shadow.prepare(own)
        git = replace(shadow.git, index=own.own / "index", seconds=SECONDS)
        git.run("read-tree", commit)
        git.run("checkout-index", "--all", "--force", "--index", "--quiet")
        ready = replace(added, ready=True)
        self._note(ready)
        return ready

    def make_sure(self, shadow: Shadow, directory: Path, project: Path, title: str) -> Worktree:
        """The worktree for a directory: made anew where somebody was killed while making it."""
        note = self._read(self._name_of(directory))
        if note is None or note.ready or note.discarding:
            return self.of(directory)
        self._end(note)
        return self.add(shadow, directory, project, title)

    def of(self, directory: Path) -> Worktree:
        """The worktree in which a directory lies. TreeUnavailable where it is gone."""
        note = self._read(self._name_of(directory))
        if note is None or note.discarding or not note.ready or not directory.is_dir():
            raise TreeUnavailable("The worktree of this conversation is gone. Begin another conversation.")
        return note

    def is_gone(self, directory: Path) -> bool:
        """Whether the worktree in which a directory lies has been discarded."""
        note = self._read(self._name_of(directory))
        return note is None and not directory.exists()

    def all(self) -> list[Worktree]:
        found = (self._read(file.stem) for file in sorted(self._folder.glob("*.json")) if _NAME.fullmatch(file.stem))
        return [each for each in found if each]

    def standing(self, shadow: Shadow, worktree: Worktree) -> Unmerged:
        """What would be lost with it."""
        tip, base = _tips(worktree)
        now = shadow.look().tree
        commits = _commits(shadow.git, tip, base)
        number = int(shadow.git.run("rev-list", "--count", tip, f"^{base}"))
        return Unmerged(
            commits=commits,
            more=number - len(commits),
            uncommitted=now != tree_of(shadow.git, tip),
            tip=tip,
            base=base,
            digest=hashlib.sha256(f"{tip} {base} {now}".encode()).hexdigest(),
        )

    def merge(self, shadow: Shadow, worktree: Worktree, digest: str) -> str:
        """Merge its commits into the branch that it came from, in the working tree there, if they are those that were
        shown; the commit that is its last then. Where that does not go, nothing is changed."""
        repository = repository_of(Path(worktree.root))
        check_quiet(repository)
        checked_out, base = head_of(worktree.theirs)
        if checked_out != worktree.base:
            branch, root = spelt_out(worktree.base), spelt_out(worktree.root)
            raise TreeUnavailable(f"{branch} is not checked out in {root} any more. Check it out there, then merge.")
        standing = self.standing(shadow, worktree)
        if standing.uncommitted:
            raise TreeUnavailable("Not all that has changed is committed. Commit it first, or put it back.")
        if not standing.commits:
            raise TreeUnavailable(f"{spelt_out(worktree.base)} has all of its commits already.")
        if standing.digest != digest or standing.base != base:
            raise TreeChanged(
                f"The worktree or {spelt_out(worktree.base)} has changed since you were shown what would be merged. "
                "Nothing was done. Look again."
            )
        identity = identity_of(shadow, repository)
        ours = replace(shadow.git, objects=repository.objects, more=identity, seconds=SECONDS)
        merged = _merged(ours, worktree, base, standing.tip)
        there = replace(ours, work_tree=Path(worktree.root), index=repository.own / "index")
        if filtered := kept_by_filters(there, base, merged):
            raise TreeUnavailable(
                f"git keeps {spelt_out(filtered[0])} by a program, which is not run here. In a terminal: "
                f"git merge {worktree.branch}"
            )
        there.run("update-index", "-q", "--refresh", codes=(0, 1))
        # First the files: if this is where it ends, merging again finds them as they are to be.
        try:
            there.run("read-tree", "-m", "-u", base, merged)
        except TreeUnavailable:
            _name_what_is_in_the_way(there, worktree, base, merged)
            raise
        told = f"merge {worktree.branch}: from the page of its conversation"
        replace(worktree.theirs, more=identity).run("update-ref", "-m", told, "HEAD", merged, base)
        return merged

    def discard(self, shadow: Shadow, worktree: Worktree, digest: str) -> None:
        """Delete it with its branch, if it still holds what was shown and nothing else."""
        if self.standing(shadow, worktree).digest != digest:
            raise TreeChanged("The worktree has changed since you were shown what would be lost. Nothing was done.")
        self._end(worktree)

    def sweep(self) -> None:
        """End what was being discarded. (Others are left, however old: they hold work.)"""
        for worktree in self.all():
            if worktree.discarding:
                self._end(worktree)

    def _end(self, worktree: Worktree) -> None:
        self._note(replace(worktree, discarding=True))
        place, theirs = Path(worktree.place), worktree.theirs
        theirs.run("worktree", "remove", "--force", "--force", worktree.place, codes=(0, 128))
        # What git would not take for its own, because somebody has changed the file that says so.
        shutil.rmtree(place, ignore_errors=True)
        _forget(worktree)
        theirs.run("update-ref", "-d", f"refs/heads/{worktree.branch}")
        self._file(worktree.name).unlink(missing_ok=True)

    def _name_of(self, directory: Path) -> str:
        name = directory.relative_to(self._folder).parts[0]
        if not _NAME.fullmatch(name):
            raise TreeUnavailable(f"{spelt_out(str(directory))} is no worktree of a conversation.")
        return name

    def _note(self, worktree: Worktree) -> None:
        replace_file(self._file(worktree.name), json.dumps(asdict(worktree)).encode())

    def _read(self, name: str) -> Worktree | None:
        try:
            return Worktree(**json.loads(self._file(name).read_bytes()))
        except FileNotFoundError:
            return None

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.json"


def _slug(title: str) -> str:
    return "-".join(_WORD.findall(title.lower()))[:_LONGEST_SLUG].strip("-") or "conversation"


def _tips(worktree: Worktree) -> tuple[str, str]:
    """The last commits of its own branch and of the one that it came from."""
    theirs = worktree.theirs
    tips = []
    for branch in (worktree.branch, worktree.base):
        tip = theirs.run("rev-parse", "--quiet", "--verify", f"refs/heads/{branch}", codes=(0, 1)).decode().strip()
        if not tip:
            raise TreeUnavailable(f"The branch {spelt_out(branch)} is gone. Look at the worktree in a terminal.")
        tips.append(tip)
    return tips[0], tips[1]


def _name_what_is_in_the_way(there: Git, worktree: Worktree, base: str, merged: str) -> None:
    """TreeUnavailable with the files that were changed in the person's checkout, and would be overwritten."""
    # 1 is told where files differ, by some versions.
    changed = there.run("diff-index", "-z", "--no-renames", "--name-only", base, "--", codes=(0, 1))
    other = there.run("ls-files", "-z", "--others")
    mine = {os.fsdecode(path) for path in (changed + other).split(b"\0") if path}
    if not (names := sorted(mine & differing(there, base, merged))):
        return
    named = ", ".join(spelt_out(name) for name in names[:_MOST_NAMES])
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    raise TreeUnavailable(
        f"In {spelt_out(worktree.root)} there are changes that are not committed and would be overwritten: {named}"
        f"{more}. Nothing was changed. Commit them there, or put them away, then merge again."
    )


def _commits(git: Git, tip: str, base: str) -> tuple[UnmergedCommit, ...]:
    words = ("--name-only", "--no-renames", "--diff-merges=first-parent", "--no-color", "--no-decorate")
    # A name with a control character is told in quotes, so no name begins as the heads do, or is two lines.
    listed = git.run("log", "--format=%x01%h %s", *words, f"--max-count={MOST_COMMITS}", tip, f"^{base}")
    found = []
    for told in listed.decode(errors="replace").removeprefix("\x01").split("\n\x01"):
        head, *names = told.split("\n")
        found.append(UnmergedCommit(told=head, files=tuple(spelt_out(name) for name in names if name)))
    return tuple(found) if listed else ()


def _forget(worktree: Worktree) -> None:
    """Delete what git keeps of it among its worktrees. (`git worktree prune` would delete that of every other one too
    whose drive is not there at the moment.)"""
    for entry in _entries_of(worktree, repository_of(Path(worktree.root)).common / "worktrees"):
        with suppress(OSError):
            shutil.rmtree(entry)


def _entries_of(worktree: Worktree, kept: Path) -> list[Path]:
    """The folders in which git keeps what it knows of it."""
    found, own = list[Path](), os.path.realpath(Path(worktree.place) / ".git")
    # git calls it as its folder is called, with a number where there is one already.
    for entry in kept.glob(f"{worktree.name}*"):
        with suppress(OSError):
            pointer = os.fsdecode(read_regular(entry / "gitdir", _MOST_BYTES)).removesuffix("\n")
            if os.path.realpath(entry / pointer) == own:
                found.append(entry)
    return found


def _merged(ours: Git, worktree: Worktree, base: str, tip: str) -> str:
    """The commit in which both come together; TreeUnavailable, with the files, where they contradict each other."""
    common = ours.run("merge-base", base, tip, codes=(0, 1)).decode().strip()
    if common == base:
        return tip
    told = ours.run("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", base, tip, codes=(0, 1))
    tree, *conflicts = told.decode(errors="surrogateescape").strip("\0").split("\0")
    if conflicts:
        files, base_name = counted(len(conflicts), "file"), spelt_out(worktree.base)
        raise TreeUnavailable(
            f"{base_name} has changed in the same places: {files}, {spelt_out(conflicts[0])} among them. Nothing was "
            f"changed. Have {base_name} merged into the branch of the worktree there, then merge again."
        )
    message = f"Merge branch '{worktree.branch}'\n".encode()
    return ours.run("commit-tree", tree, "-p", base, "-p", tip, given=message).decode().strip()
