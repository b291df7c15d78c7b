"""A patch of several files in one text, as Codex, opencode and Copilot CLI take it, with the files that it changes."""

from __future__ import annotations

import re
from typing import Any

_FILE = re.compile(r"\*\*\*\s*(?P<change>Add|Update|Delete) File:\s*(?P<path>.*)", re.IGNORECASE)
_MOVED = re.compile(r"\*\*\*\s*Move to:\s*(?P<path>.*)", re.IGNORECASE)
_BLANKS = "\t\v\f\x1c\x1d\x1e\x1f \x85\xa0\u1680\u180e\u2028\u2029\u202f\u205f\u3000\u200b\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_IN_LINE = r"[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]*"
_PLAIN = re.compile(
    r"\*\*\* Begin Patch\n"
    r"\*\*\* (?:Add|Update|Delete) File: (?P<path>\S(?:[^\n]*\S)?)\n"
    rf"(?:(?:[+@-]{_IN_LINE}| (?![^\S\n]*\*){_IN_LINE}|\*\*\* End of File)\r?\n)*"
    r"\*\*\* End Patch\n?"
)
"""A patch of one file in which programs that are not strict about blanks, or about what ends a line, can find no
other."""


def of_patch(text: str) -> dict[str, Any]:
    """The patch with the files that it changes, so that rules about these hold. One file is only named as the one where
    that is certain: programs differ in which letters they take for blanks."""
    plain = _PLAIN.fullmatch(text)
    if plain and plain["path"].isprintable():
        return {"file_path": plain["path"], "patch": text}
    lines = [line.strip(_BLANKS) for line in text.splitlines()]
    named, moved = (list(filter(None, map(each.match, lines))) for each in (_FILE, _MOVED))
    files = [{"path": each["path"].strip(_BLANKS), "change": each["change"].lower()} for each in named]
    files += [{"move_path": each["path"].strip(_BLANKS)} for each in moved]
    return {"changes": files, "patch": text}
