"""Commits files of a working tree as a person was shown them: to the branch that is checked out, and nothing else.

No hook and no filter of the repository is run, and nothing is signed: whoever wants that commits in a terminal. Of the
person's index only the entries of these files change.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sayso.errors import TreeUnavailable
from sayso.records import replace
from sayso.text import spelt_out
from sayso.trees.changes import ChangedFile, TreeChanges, changes, differing
from sayso.trees.git import Git
from sayso.trees.repository import Repository, repository_of
from sayso.trees.reverting import chosen
from sayso.trees.shadow import Shadow, check_in_place, git_with_refs_of, persons_config, settings

UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "BISECT_LOG")
_IDENTITY = r"^user\.(name|email)$"


@dataclass(frozen=True, kw_only=True)
class Commit:
    id: str
    branch: str
    files: int


def commit(shadow: Shadow, wanted: Mapping[str, str], message: str) -> Commit:
    """Commit the files with these marks, if each still has the state that was shown."""
    found = changes(shadow)
    files = chosen(found, wanted)
    for file in files:
        if not file.can_be_put_back:
            raise TreeUnavailable(f"{spelt_out(file.path)} cannot be committed from here. Use git in a terminal.")
    repository = repository_of(shadow.root)
    check_quiet(repository)
    identity = identity_of(shadow, repository)
    theirs = git_with_refs_of(repository)
    branch, parent = head_of(theirs)
    # With our settings, and their objects.
    ours = replace(shadow.git, objects=repository.objects, more=identity)
    _hand_over(shadow.git, ours, files)
    with _index(shadow) as index:
        tree = _tree(replace(ours, index=index), parent, files)
    if parent and tree == tree_of(ours, parent):
        if ours.run("log", "-1", "--format=%B", parent).strip() == _text(message).strip():
            # The button was pressed twice.
            return Commit(id=parent, branch=branch, files=len(files))
        raise TreeUnavailable(f"These files are in the last commit of {spelt_out(branch)} already as they are.")
    made = ours.run("commit-tree", tree, *(("-p", parent) if parent else ()), given=_text(message)).decode().strip()
    # First what is only noted: whoever is killed in between leaves files that are ready to be committed.
    replace(ours, index=repository.own / "index").run("update-index", "-z", "--index-info", given=_entries(files))
    told = f"commit: {_text(message).decode(errors='replace').splitlines()[0]}"
    replace(theirs, more=identity).run("update-ref", "-m", told, "HEAD", made, parent or "0" * len(made))
    return Commit(id=made, branch=branch, files=len(files))


def committed(shadow: Shadow, found: TreeChanges) -> set[str]:
    """Which of the files that have changed are in the last commit as they are now."""
    theirs = git_with_refs_of(repository_of(shadow.root))
    last = theirs.run("rev-parse", "--quiet", "--verify", "HEAD^{commit}", codes=(0, 1)).decode().strip()
    if not last:
        return set()
    return {file.path for file in found.files} - differing(shadow.git, last, found.now.tree)


def check_quiet(repository: Repository) -> None:
    """TreeUnavailable where nothing should be changed in a repository from here."""
    check_in_place(repository)
    for name in UNDER_WAY:
        if (repository.own / name).exists():
            raise TreeUnavailable(
                f"The repository is in the middle of something ({name}). End that in a terminal first."
            )


def identity_of(shadow: Shadow, repository: Repository) -> dict[str, str]:
    files = (persons_config(), repository.config)
    who = {name: value for file in files for name, value in settings(shadow.git, file, _IDENTITY).items()}
    name, email = who.get("user.name", ""), who.get("user.email", "")
    if not name or not email:
        raise TreeUnavailable(
            "git does not know who commits. On the machine where Sayso runs: git config --global user.name NAME, and "
            "user.email ADDRESS."
        )
    return {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", name), ("EMAIL", email))
    }


def head_of(theirs: Git) -> tuple[str, str]:
    """The branch that is checked out, and its last commit, if it has any."""
    ref = theirs.run("symbolic-ref", "--quiet", "HEAD", codes=(0, 1)).decode(errors="surrogateescape").strip()
    if not ref.startswith("refs/heads/"):
        raise TreeUnavailable("No branch is checked out, so there is none to commit to.")
    parent = theirs.run("rev-parse", "--quiet", "--verify", ref, codes=(0, 1)).decode().strip()
    return ref.removeprefix("refs/heads/"), parent


def _hand_over(shadow: Git, ours: Git, files: Sequence[ChangedFile]) -> None:
    """Put the content of the files among the person's objects."""
    blobs = "".join(f"{file.now.blob}\n" for file in files if file.now)
    packed = shadow.run("pack-objects", "--stdout", "--quiet", given=blobs.encode())
    ours.run("unpack-objects", "-q", given=packed)


@contextmanager
def _index(shadow: Shadow) -> Iterator[Path]:
    index = shadow.folder / f"index.{secrets.token_hex(8)}"
    try:
        yield index
    finally:
        index.unlink(missing_ok=True)


def _tree(git: Git, parent: str, files: Sequence[ChangedFile]) -> str:
    """The tree of the last commit with these files as they are now."""
    git.run("read-tree", *([parent] if parent else ["--empty"]))
    git.run("update-index", "-z", "--index-info", given=_entries(files))
    return git.run("write-tree").decode().strip()


def tree_of(git: Git, commit_id: str) -> str:
    return git.run("rev-parse", "--verify", f"{commit_id}^{{tree}}").decode().strip()


def _entries(files: Sequence[ChangedFile]) -> bytes:
    """As `update-index --index-info` takes them. What goes comes first: it may stand in the way of what comes."""
    gone = [file for file in files if not file.now]
    there = [(file.path, file.now) for file in files if file.now]
    zero = "0" * max(len(entry.blob) for file in files for entry in (file.before, file.now) if entry)
    lines = [(f"0 {zero}", file.path) for file in gone] + [(f"{now.mode} {now.blob}", path) for path, now in there]
    return b"".join(f"{entry}\t".encode() + os.fsencode(path) + b"\0" for entry, path in lines)


def _text(message: str) -> bytes:
    return message.strip().encode(errors="replace") + b"\n"
