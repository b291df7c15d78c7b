"""What differs between a working tree at its beginning and now: files with their counts, and the diff of each."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sayso.errors import TreeUnavailable
from sayso.records import replace
from sayso.trees.git import Git
from sayso.trees.shadow import Shadow, Snapshot

MOST_LISTED = 2_000
MOST_DIFF_BYTES = 8 * 1024 * 1024
_SUBMODULE = "160000"
_NO_FILE = "000000"
_PATCH = re.compile(rb"^diff --git ", re.MULTILINE)
_HUNKS = re.compile(rb"^@@ ", re.MULTILINE)


class ChangeKind(StrEnum):
    NEW = "new"
    GONE = "gone"
    CHANGED = "changed"
    RETYPED = "retyped"
    """A file became a link, or the like."""
    SUBMODULE = "submodule"


@dataclass(frozen=True, kw_only=True)
class TreeEntry:
    """A file as a tree knows it."""

    mode: str
    blob: str

    @property
    def is_submodule(self) -> bool:
        return self.mode == _SUBMODULE


@dataclass(frozen=True, kw_only=True)
class ChangedFile:
    """One path that differs. `added` and `removed` are lines; None for what is not text. `filter` names a program that
    git would put its content through, which is not run here."""

    path: str
    before: TreeEntry | None
    now: TreeEntry | None
    added: int | None = None
    removed: int | None = None
    filter: str = ""

    @property
    def mark(self) -> str:
        """Names it in addresses and forms: a path may be no text."""
        return hashlib.sha256(os.fsencode(self.path)).hexdigest()[:32]

    @property
    def state(self) -> str:
        """Another one for all that can become of it."""
        ends = [f"{each.mode} {each.blob}" if each else "" for each in (self.before, self.now)]
        return hashlib.sha256("\0".join(ends).encode()).hexdigest()

    @property
    def kind(self) -> ChangeKind:
        if any(entry and entry.is_submodule for entry in (self.before, self.now)):
            return ChangeKind.SUBMODULE
        if self.before is None:
            return ChangeKind.NEW
        if self.now is None:
            return ChangeKind.GONE
        return ChangeKind.RETYPED if self.is_retyped else ChangeKind.CHANGED

    @property
    def is_retyped(self) -> bool:
        return self.before is not None and self.now is not None and self.before.mode[:2] != self.now.mode[:2]

    @property
    def lines(self) -> int:
        return (self.added or 0) + (self.removed or 0)

    @property
    def is_binary(self) -> bool:
        return self.added is None

    @property
    def can_be_put_back(self) -> bool:
        return self.kind is not ChangeKind.SUBMODULE and not self.filter


@dataclass(frozen=True, kw_only=True)
class TreeChanges:
    """All that differs; `more` counts what is not listed."""

    beginning: str
    now: Snapshot
    files: tuple[ChangedFile, ...]
    more: int = 0

    @property
    def added(self) -> int:
        return sum(file.added or 0 for file in self.files)

    @property
    def removed(self) -> int:
        return sum(file.removed or 0 for file in self.files)

    def file(self, mark: str) -> ChangedFile | None:
        return next((file for file in self.files if file.mark == mark), None)


def changes(shadow: Shadow) -> TreeChanges:
    """What has changed in the working tree since the beginning."""
    return changes_until(shadow, shadow.look())


def changes_until(shadow: Shadow, now: Snapshot) -> TreeChanges:
    """The same up to another moment."""
    return changes_between(shadow, shadow.beginning, now)


def changes_between(shadow: Shadow, beginning: str, now: Snapshot) -> TreeChanges:
    """The same from another tree on."""
    found = [] if now.tree == beginning else list(_compared(shadow.git, beginning, now.tree))
    listed = _with_filters(shadow.git, found[:MOST_LISTED])
    return TreeChanges(beginning=beginning, now=now, files=tuple(listed), more=len(found) - len(listed))


def differing(git: Git, before: str, after: str) -> set[str]:
    """The paths that differ between two trees."""
    listed = git.run("diff-tree", "-r", "-z", "--no-renames", "--name-only", before, after)
    return {os.fsdecode(path) for path in listed.split(b"\0") if path}


def kept_by_filters(git: Git, before: str, after: str) -> list[str]:
    """Which of the paths that differ between two trees git would put through a program."""
    found = list(_compared(git, before, after))
    return [file.path for file in _with_filters(git, found) if file.filter]


def diffs(shadow: Shadow, seen: TreeChanges, files: Sequence[ChangedFile]) -> dict[str, str]:
    """The hunks of these files by path, as unified diffs without their heads."""
    files = [file for file in files if not file.is_binary and not file.filter]
    if not files:
        return {}
    words = ("-r", "-p", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short")
    paths = (file.path for file in files)
    git = _without_attributes(shadow.git)
    printed = git.run("diff-tree", *words, seen.beginning, seen.now.tree, "--", *paths, most=MOST_DIFF_BYTES)
    patches = iter([printed[begin:end] for begin, end in _spans(printed)])
    try:
        # A file that became a link is told as one that went and another that came.
        told = {file.path: [next(patches) for _ in range(2 if file.is_retyped else 1)] for file in files}
    except StopIteration:
        raise TreeUnavailable("git told less of the changes than there are.") from None
    return {path: "\n".join(map(_hunks, patches_of)) for path, patches_of in told.items()}


def _compared(git: Git, before: str, after: str) -> Iterator[ChangedFile]:
    words = ("-r", "-z", "--no-renames", "--no-abbrev", "--raw", "--numstat")
    fields = iter(_without_attributes(git).run("diff-tree", *words, before, after).split(b"\0"))
    entries: dict[bytes, tuple[TreeEntry | None, TreeEntry | None]] = {}
    counts: dict[bytes, tuple[int | None, int | None]] = {}
    for field in fields:
        if field.startswith(b":"):
            old_mode, mode, old_blob, blob, _ = field[1:].decode().split(" ")
            entries[next(fields)] = _entry(old_mode, old_blob), _entry(mode, blob)
        elif field:
            added, removed, path = field.split(b"\t", 2)
            counts[path] = _count(added), _count(removed)
    for path, (old, new) in entries.items():
        lines = counts.get(path, (0, 0))
        yield ChangedFile(path=os.fsdecode(path), before=old, now=new, added=lines[0], removed=lines[1])


def _without_attributes(git: Git) -> Git:
    """Git that tells text by its content alone. An agent can write `.gitattributes`, which would hide a script as being
    no text; they are looked for in the working tree and in the index, so it gets an empty one of each."""
    return replace(git, work_tree=git.repository / "refs", index=git.repository / "no-index")


def _entry(mode: str, blob: str) -> TreeEntry | None:
    return None if mode == _NO_FILE else TreeEntry(mode=mode, blob=blob)


def _count(told: bytes) -> int | None:
    return None if told == b"-" else int(told)


def _with_filters(git: Git, files: Sequence[ChangedFile]) -> list[ChangedFile]:
    """The same with the filters that `.gitattributes` names, such as that of Git LFS."""
    if not files:
        return []
    given = b"".join(os.fsencode(file.path) + b"\0" for file in files)
    fields = git.run("check-attr", "-z", "--stdin", "filter", given=given).split(b"\0")
    named = {
        os.fsdecode(path): value.decode(errors="replace")
        for path, value in zip(fields[::3], fields[2::3], strict=False)
    }
    return [
        replace(
            file, filter="" if named.get(file.path) in (None, "unspecified", "unset", "set", "") else named[file.path]
        )
        for file in files
    ]


def _spans(printed: bytes) -> Iterator[tuple[int, int]]:
    """Where each patch begins and ends: a line of content never begins as their heads do."""
    begins = [found.start() for found in _PATCH.finditer(printed)]
    return zip(begins, [*begins[1:], len(printed)], strict=True)


def _hunks(patch: bytes) -> str:
    first = _HUNKS.search(patch)
    return patch[first.start() :].decode(errors="backslashreplace").removesuffix("\n") if first else ""
