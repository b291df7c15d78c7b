"""Other programs' files: read as they are, written in one step with a backup beside them, put back to the byte."""

from __future__ import annotations

import hashlib
import shutil
from contextlib import suppress
from pathlib import Path

from sayso.errors import CannotEdit
from sayso.files import read_regular, replace_file, whole_or_none

BOM = "\ufeff"
MOST_BYTES = 256 * 1024 * 1024
"""Of one file. Some clients keep much in theirs; one in a project may be anything."""


def content(path: Path) -> bytes | None:
    """What is in the file, None where there is none."""
    try:
        found = read_regular(path, MOST_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CannotEdit(f"cannot be read ({error.strerror}). Check its permissions.") from error
    if len(found) > MOST_BYTES:
        raise CannotEdit(f"cannot be read (it has more than {MOST_BYTES:,} bytes).")
    return found


def as_text(data: bytes | None) -> str:
    """As text, with its line ends and its byte order mark."""
    try:
        return (data or b"").decode()
    except UnicodeDecodeError as error:
        raise CannotEdit("is not UTF-8 text. Save it as UTF-8 and run this again.") from error


def fingerprint(data: bytes | None) -> str:
    return hashlib.sha256(data).hexdigest() if data is not None else ""


def write(path: Path, data: bytes, expected: bytes | None) -> None:
    """Replace the file in one step. Where a link leads, the file behind it is replaced; its mode stays."""
    target = path.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if content(target) != expected:
            raise CannotEdit("changed while this ran. Run this again.")
        replace_file(target, data)
    except OSError as error:
        raise CannotEdit(f"cannot be written ({error.strerror}). Check its permissions.") from error


def back_up(path: Path) -> Path:
    """A copy beside the file, with its mode, under a name that is free."""
    number = 1
    while True:
        copy = path.with_name(f"{path.name}.before-sayso" + (f"-{number}" if number > 1 else ""))
        if not copy.exists():
            try:
                with whole_or_none(copy):
                    shutil.copy2(path, copy)
            except OSError as error:
                raise CannotEdit(f"cannot be copied to {copy.name} ({error.strerror}), so it is left alone.") from error
            return copy
        number += 1


def remove(path: Path, folders: list[Path]) -> None:
    """Take away a file that was not there before, and those of the folders that are empty again."""
    path.unlink(missing_ok=True)
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()
