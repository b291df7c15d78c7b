"""What can be told of a file that is no text: how large it is, and what it is by its first bytes."""

from __future__ import annotations

from collections.abc import Sequence

from sayso.text import counted
from sayso.trees.changes import ChangedFile
from sayso.trees.shadow import Shadow

MOST_READ = 32 * 1024 * 1024
"""Of all of them together; of others only the size is told."""
_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x7fELF", "a program (ELF)"),
    (b"MZ", "a program (Windows)"),
    (b"\xcf\xfa\xed\xfe", "a program (macOS)"),
    (b"#!", "a script, with characters in it that are no text"),
    (b"SQLite format 3\0", "an SQLite database"),
)


def described(shadow: Shadow, files: Sequence[ChangedFile]) -> dict[str, str]:
    """Size, type and git's hash of those that are there and no text, by path."""
    there = [(file.path, file.now.blob) for file in files if file.is_binary and file.now and not file.filter]
    if not there:
        return {}
    ids = sorted({blob for _, blob in there})
    given = "\n".join([*ids, ""]).encode()
    told = shadow.git.run("cat-file", "--batch-check=%(objectsize)", given=given).decode()
    sizes = dict(zip(ids, map(int, told.split()), strict=True))
    kinds = _kinds(shadow, sizes)
    return {
        path: f"{counted(sizes[blob], 'byte')}, {kinds.get(blob, 'of no known type')}, hash {blob}"
        for path, blob in there
    }


def _kinds(shadow: Shadow, sizes: dict[str, int]) -> dict[str, str]:
    read: dict[str, int] = {}
    for blob, size in sizes.items():
        if sum(read.values()) + size <= MOST_READ:
            read[blob] = size
    contents = shadow.git.run("cat-file", "--batch= ", given="\n".join([*read, ""]).encode()) if read else b""
    found, place = {}, 0
    for blob, size in read.items():
        # Each has a head of one line, which we asked to be a space, and a new line after it.
        place += 2
        found[blob] = _kind(contents[place : place + 16])
        place += size + 1
    return found


def _kind(beginning: bytes) -> str:
    return next((kind for sign, kind in _BEGINNINGS if beginning.startswith(sign)), "of no known type")
