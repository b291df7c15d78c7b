"""Files that others may have a hand in: replaced in one step, so that whoever reads one sees all of the old or all of
the new, also after a power cut; read without ever waiting, and never more of them than is expected."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def replace_file(path: Path, data: bytes, *, new_mode: int = 0o600) -> None:
    """Put the data in the file's place. One that is there keeps its mode; a link is replaced, not what it leads to."""
    with prepared_file(path, data, new_mode=new_mode) as beside:
        os.replace(beside, path)


@contextmanager
def prepared_file(path: Path, data: bytes, *, new_mode: int = 0o600) -> Iterator[Path]:
    """The data beside the file, safe on the disk. Whoever moves it into the file's place needs no more room for that;
    what was not moved is gone afterwards."""
    beside = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, new_mode), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists() and not path.is_symlink():
            beside.chmod(stat.S_IMODE(path.stat().st_mode))
        yield beside
    except OSError as error:
        error.filename = error.filename or str(path)  # a full disk names none
        raise
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def whole_or_none(path: Path) -> Iterator[None]:
    """Write a file that is not there yet. Where that fails, as on a full disk, no part of it stays."""
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        with suppress(OSError):
            path.unlink()
        error.filename = error.filename or str(path)
        raise


def put_under_new_name(written: Path, path: Path) -> None:
    """Have what was written beside be this file, which must not be there yet: FileExistsError where it is."""
    try:
        os.link(written, path)
    except FileExistsError:
        raise
    except OSError:
        # A disk without links, as most that one carries about: whoever reads it in this moment finds an empty file.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with whole_or_none(path):
            os.replace(written, path)


def read_regular(path: Path, most: int) -> bytes:
    """What is in a file, up to one byte more than `most`. OSError for anything but a file: no pipe is waited for."""
    with open(path, "rb", opener=open_regular) as opened:
        return opened.read(most + 1)


def open_regular(file: str, flags: int) -> int:
    """Opens it for `open`, and does not wait for the other end of a pipe."""
    opened = os.open(file, flags | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise OSError(0, "it is not a regular file")
    return opened
