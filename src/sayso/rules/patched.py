"""The files that a text names if it is a patch, as programs read it that are not strict."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sayso.rules.input_names import AROUND

_NAMING = re.compile(
    r"(?:-\s+)*(?:\*\*\*\s*(?:(?:Add|Update|Delete|Create|Rename|Replace)\s+File|Move\s+(?:to|from))\s*:|Index:"
    r"|---|\+\+\+|\*\*\*(?=\s)|diff\s+--git|(?:rename|copy)\s+(?:from|to))\s*(?P<named>\S.*)",
    re.IGNORECASE,
)
"""A line of a patch that names a file."""
_MARK = re.compile(r"(?i)\*\*\*|---|\+\+\+|index:|diff\s|rename\s|copy\s")
_FIRST = tuple("*IidrRDcC-+")
_MOST_LETTERS = 100_000
_ESCAPED = re.compile(rb"\\([0-3]?[0-7]{1,2}|.)", re.DOTALL)
_MEANT = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


def patched(text: str) -> Iterator[tuple[str, bool]]:
    """Each name, and whether it is the file's: git's with and without `a/` and `b/`, and quoted as git quotes them.
    Else it is what would be left if the first folder were taken away, as `-p1` does."""
    lines = text.splitlines() if _MARK.search(text) else []
    if len(lines) == 1 and not text.lstrip(AROUND).startswith("***"):
        return
    for line in dict.fromkeys(lines):
        begun = line.lstrip(AROUND)
        found = _NAMING.match(begun) if begun[:1] in _FIRST else None
        if not found or len(line) > _MOST_LETTERS:
            continue
        named = found["named"].partition("\t")[0].strip(AROUND)
        parts = re.split(r'"?\s+"?', named) if " " in named else []
        for name in dict.fromkeys((named, *(parts if begun.startswith("diff") else parts[:1]))):
            yield from _as_read(name)


def _as_read(name: str) -> Iterator[tuple[str, bool]]:
    for each in dict.fromkeys((name, _unescaped(name))):
        if not each or each == "/dev/null":
            continue
        yield each, True
        if re.match(r"[a-z]/", each):
            yield each[2:], True
        elif "/" in each.lstrip("/"):
            yield each.lstrip("/").partition("/")[2], False


def _unescaped(name: str) -> str:
    """As git reads a name in quotes: letters by their number, eight by eight, byte by byte."""
    if "\\" not in name:
        return name
    told = _ESCAPED.sub(_letter, name.encode("utf-8", "surrogatepass"))
    return told.decode("utf-8", "replace")


def _letter(found: re.Match[bytes]) -> bytes:
    said = found[1]
    return (
        bytes((int(said, 8) & 255,)) if said.isdigit() and said.isascii() and said[0] < 56 else _MEANT.get(said, said)
    )
