"""A file as it was when somebody was shown what would become of it: its text to compare, its hash to know it by."""

from __future__ import annotations

import stat
from pathlib import Path

from sayso.files import read_regular
from sayso.hashes import sha256
from sayso.records import record

MOST_BYTES = 1024 * 1024
"""The largest file that is read. One that is larger is known by its size and by when it last changed."""

NOT_THERE = "not there"
NOT_KNOWN = "not known"


@record
class SeenFile:
    """`text` is empty where there is no file, and None where it is not known. `was` is equal only for the same
    contents. `path` is empty where nobody can tell which file it is."""

    path: str
    was: str = NOT_KNOWN
    text: str | None = None

    @property
    def plain(self) -> dict[str, str]:
        return {"path": self.path, "was": self.was}


def seen(file: Path) -> SeenFile:
    """The real file behind this path, as it is now."""
    try:
        real = Path(file).resolve()
    except (OSError, ValueError, RuntimeError):  # the last for a link that leads to itself
        return SeenFile(path="")
    try:
        about = real.stat()
        if not stat.S_ISREG(about.st_mode):
            return SeenFile(path=str(real), was="not a regular file")
        content = read_regular(real, MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return SeenFile(path=str(real), was=NOT_THERE, text="")
    except OSError as error:
        return SeenFile(path=str(real), was=f"not readable: {error.strerror}")
    if len(content) > MOST_BYTES:
        return SeenFile(path=str(real), was=f"too large to compare: {about.st_size} bytes, as of {about.st_ctime_ns}")
    return SeenFile(path=str(real), was=f"sha256 {sha256(content)}", text=_text(content))


def _text(content: bytes) -> str | None:
    try:
        return content.decode()
    except ValueError:
        return None
