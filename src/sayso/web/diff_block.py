"""A diff as a page shows it: lines with their numbers, coloured, in hunks. The text is spelt out already."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sayso.web.code_colours import line_html, of_file

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@")
_LOOKS = {"+": " added", "-": " removed", "@": " hunk"}
_HEAD = ("--- ", "+++ ")
_COUNTS = '<span class="count-added">+{}</span> <span class="count-removed">−{}</span>'
UNFOLDED_LINES = 80
"""Lines of one diff after which further hunks are folded."""
_WHOLE_WORD = '<span class="unbroken">'


@dataclass(frozen=True, kw_only=True)
class _Line:
    text: str
    look: str
    number: str = ""
    """In the file as it would be, or as it was for what goes; empty where nobody knows."""

    def html(self, pattern: re.Pattern[str] | None) -> str:
        number = f' data-n="{self.number}"' if self.number else ""
        is_code = self.look != " hunk" and not self.text.startswith("\\")
        # The mark at the beginning has no colour.
        html = line_html(self.text, pattern if is_code else None, begin=1, whole_word=_WHOLE_WORD)
        return f'<div class="line{self.look}"{number}>{html or "<br>"}</div>'


def plain_block(text: str) -> Markup:
    """Line by line, so that one that is too wide is seen to go on."""
    if not text:
        return Markup('<div class="line nothing">(empty)</div>')
    return _html([_Line(text=line, look="") for line in text.split("\n")], None)


def diff_block(diff: str, name: str = "") -> Markup:
    """All of a diff. Its file has this name, unless the diff says another."""
    return _html(_lines(diff), of_file(_named(diff) or name))


def folded_diff(diff: str, name: str) -> Markup:
    """The same where nothing is decided by it: of a long one, hunks further down are folded, with what they count."""
    pattern, shown, parts = of_file(name), 0, []
    for hunk in _hunks(_lines(diff)):
        html = _html(hunk, pattern)
        parts.append(_fold(hunk, html) if shown and shown + len(hunk) > UNFOLDED_LINES else html)
        shown += len(hunk)
    return Markup("").join(parts)


def _html(lines: Sequence[_Line], pattern: re.Pattern[str] | None) -> Markup:
    return Markup("".join(line.html(pattern) for line in lines))  # noqa: S704


def _fold(hunk: Sequence[_Line], html: Markup) -> Markup:
    added, removed = (sum(line.look == look for line in hunk) for look in (" added", " removed"))
    at = next((line.number for line in hunk if line.number), "")
    counts = Markup(_COUNTS).format(added, removed)  # noqa: S704
    where = f"Line {at}: " if at else ""
    return Markup('<details class="folded-hunk"><summary>{}{}</summary>{}</details>').format(where, counts, html)


def _hunks(lines: Sequence[_Line]) -> Iterator[list[_Line]]:
    hunk: list[_Line] = []
    for line in lines:
        if line.look == " hunk" and any(each.look != " hunk" for each in hunk):
            yield hunk
            hunk = []
        hunk.append(line)
    yield hunk


def _lines(diff: str) -> list[_Line]:
    """After the two lines that name the files, where they do, how each line begins says what becomes of it."""
    found, old, new = [], 0, 0
    texts = diff.split("\n")
    head = 2 if _named(diff) else 0
    for place, text in enumerate(texts):
        look = " hunk" if place < head else _LOOKS.get(text[:1], "")
        if look == " hunk":
            told = _HUNK.match(text)
            old, new = (int(told[1]), int(told[2])) if told else (0, 0)
            found.append(_Line(text=text, look=look))
            continue
        is_line = text[:1] != "\\"
        number = old if look == " removed" else new
        found.append(_Line(text=text, look=look, number=str(number) if number and is_line else ""))
        old += bool(old and is_line and look != " added")
        new += bool(new and is_line and look != " removed")
    return found


def _named(diff: str) -> str:
    """The file that a diff names at its beginning."""
    first, _, rest = diff.partition("\n")
    second = rest.partition("\n")[0]
    if (first[:4], second[:4]) != _HEAD:
        return ""
    return first[4:] if second[4:].strip() == "/dev/null" else second[4:]
