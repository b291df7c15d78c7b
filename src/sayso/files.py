"""Replacing a file in one step: whoever reads it sees all of the old or all of the new, also after a power cut."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def replace_file(path: Path, data: bytes, *, new_mode: int = 0o600) -> None:
    """Put the data in the file's place. One that is there keeps its mode; a link is replaced, not what it leads to."""
    beside = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, new_mode), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists() and not path.is_symlink():
            shutil.copymode(path, beside)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
