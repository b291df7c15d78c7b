"""One thing that Sayso puts into one file of another program: put there, looked for, and taken back."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from sayso.errors import CannotEdit
from sayso.install import files
from sayso.install.ledger import Ledger, Record
from sayso.records import replace


class Part(Protocol):
    """What is put where. Texts are whole files, without a byte order mark; an empty one is a file that is not there."""

    @property
    def path(self) -> Path: ...
    def is_in(self, text: str) -> bool:
        """Whether anything of it is there, up to date or not."""
        ...

    def added(self, text: str) -> str: ...
    def removed(self, text: str, made: int) -> str: ...
    def makes(self, text: str) -> int:
        """How many tables it would make around itself."""
        ...


class Done(StrEnum):
    """What became of a part."""

    ADDED = "added"
    CHANGED = "changed"
    ALREADY = "already there"
    REMOVED = "removed"
    RESTORED = "restored"
    ABSENT = "was not there"


@dataclass(frozen=True, kw_only=True)
class PartPreview:
    """A file as it is, and as it would be with the part."""

    path: Path
    before: bytes | None
    after: bytes
    was_in: bool
    makes: int

    @property
    def is_needed(self) -> bool:
        return self.before != self.after

    def difference(self) -> str:
        """As `diff -u` shows it."""
        before, after = (files.as_text(side).splitlines() for side in (self.before, self.after))
        return "\n".join(difflib.unified_diff(before, after, str(self.path), str(self.path), lineterm=""))


def look(part: Part) -> PartPreview:
    """What adding the part would do. CannotEdit names the file and what is wrong with it."""
    with about(part.path):
        before = files.content(part.path)
        text, mark = _without_mark(before)
        after = part.added(text)
        is_same = after == text and before is not None
        return PartPreview(
            path=part.path,
            before=before,
            after=before if is_same and before is not None else (mark + after).encode(),
            was_in=part.is_in(text),
            makes=part.makes(text),
        )


def add(part: Part, ledger: Ledger, beside: Iterable[Part] = ()) -> Done:
    """Put the part into its file, with a backup next to it. `beside` are other parts of ours that may be in files."""
    seen = look(part)
    if not seen.is_needed:
        return Done.ALREADY
    with about(part.path):
        note = begin(part, seen, ledger, beside)
        files.write(part.path, seen.after, seen.before)
        ledger.put(part.path, finish(note, part.path))
    return Done.CHANGED if seen.was_in else Done.ADDED


def write_in(part: Part) -> None:
    """Put the part into its file as a further step of a change that was begun."""
    seen = look(part)
    if seen.is_needed:
        with about(part.path):
            files.write(part.path, seen.after, seen.before)


def begin(part: Part, seen: PartPreview, ledger: Ledger, beside: Iterable[Part] = ()) -> Record:
    """Copy the file before it is changed, and note what it takes to put it back."""
    earlier = ledger.get(part.path)
    added = (*(earlier.added if earlier else ()), *(() if seen.was_in else (_kind(part),)))
    if earlier and earlier.restores and earlier.after == files.fingerprint(seen.before):
        return replace(earlier, added=added)
    # A folder that was made for another file of ours goes with whichever of them goes last.
    made = ledger.folders()
    folders = tuple(str(folder) for folder in part.path.parents if str(folder) in made or not folder.exists())
    backup = str(files.back_up(part.path)) if seen.before is not None else ""
    text, _ = _without_mark(seen.before)
    is_free = not seen.was_in and not any(other.is_in(text) for other in beside if other.path == part.path)
    return Record(after="", restores=is_free, backup=backup, made=seen.makes, folders=folders, added=added)


def _kind(part: Part) -> str:
    return type(part).__name__


def finish(note: Record, path: Path) -> Record:
    return replace(note, after=files.fingerprint(files.content(path)))


def take_back(part: Part, ledger: Ledger) -> Done:
    """Put the file back as it was, if nobody changed it since; else take out of it what is ours."""
    with about(part.path):
        record, now = ledger.get(part.path), files.content(part.path)
        if record and _can_restore(record, now):
            _restore(part.path, record, now)
            ledger.drop(part.path)
            return Done.RESTORED
        text, mark = _without_mark(now)
        ledger.drop(part.path)
        if now is None or not part.is_in(text):
            return Done.ABSENT
        left = part.removed(text, record.made if record else 0)
        if left:
            files.write(part.path, (mark + left).encode(), now)
        else:
            files.remove(part.path, [Path(folder) for folder in record.folders] if record else [])
    return Done.REMOVED


def take_back_ours(part: Part, ledger: Ledger) -> Done:
    """As `take_back`, for what a person may have put there as well: only where it was us."""
    record = ledger.get(part.path)
    return take_back(part, ledger) if record and _kind(part) in record.added else Done.ABSENT


def _can_restore(record: Record, now: bytes | None) -> bool:
    is_ours = record.restores and files.fingerprint(now) == record.after
    return is_ours and (not record.backup or Path(record.backup).exists())


def _restore(path: Path, record: Record, now: bytes | None) -> None:
    if not record.backup:
        files.remove(path, [Path(folder) for folder in record.folders])
        return
    files.write(path, Path(record.backup).read_bytes(), now)
    Path(record.backup).unlink()


def _without_mark(data: bytes | None) -> tuple[str, str]:
    text = files.as_text(data)
    return (text[1:], files.BOM) if text.startswith(files.BOM) else (text, "")


@contextmanager
def about(path: Path) -> Iterator[None]:
    """Says which file an error is about, and that it was left alone."""
    try:
        yield
    except CannotEdit as error:
        raise CannotEdit(f"{path}: {error} The file was left as it is.") from error
