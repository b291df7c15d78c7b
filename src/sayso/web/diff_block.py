"""A diff as a page shows it: lines with their numbers, coloured by a few rules that fit most languages, in hunks.

The text is spelt out already. Colours are decoration alone: one expression that never looks back tells strings,
comments, numbers and common words, so that no file, whoever wrote it, makes it slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from markupsafe import Markup, escape

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@")
_LOOKS = {"+": " added", "-": " removed", "@": " hunk"}
_HEAD = ("--- ", "+++ ")
_WORD = re.compile(r"\S+|\s+")
_COUNTS = '<span class="count-added">+{}</span> <span class="count-removed">−{}</span>'
UNFOLDED_LINES = 80
"""Lines of one diff after which further hunks are folded."""
_LONGEST_COLOURED = 400
"""Characters of one line that are looked at for colours."""

_STRING = r"(?P<s>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`[^`]*`)"
_REST = r"(?P<n>\b\d[\w.]*)|(?P<w>[A-Za-z_]\w*)"
_COMMENTS = {
    "#": {
        "py",
        "pyi",
        "rb",
        "sh",
        "bash",
        "zsh",
        "fish",
        "yaml",
        "yml",
        "toml",
        "pl",
        "r",
        "ex",
        "exs",
        "mk",
        "nix",
        "tf",
    },
    "//": {
        *("c", "h", "cc", "cpp", "hpp", "cs", "go", "java", "js", "jsx", "mjs", "ts", "tsx", "kt", "rs", "scala"),
        *("swift", "php", "dart", "scss", "proto", "zig"),
    },
    "--": {"sql", "lua", "hs", "elm"},
    "": {"json", "css", "html", "xml", "svg", "vue", "ini", "cfg"},
}
_PATTERNS = {
    mark: re.compile("|".join([*([rf"(?P<c>{mark}.*)"] if mark else []), _STRING, _REST])) for mark in _COMMENTS
}
_NAMES = {"Makefile": "#", "Dockerfile": "#", "Justfile": "#"}
_OF_SUFFIX = {suffix: mark for mark, suffixes in _COMMENTS.items() for suffix in suffixes}
_WORDS_OF_MANY = """
abstract and as assert async await begin bool break case catch char class const continue def default defer del do double
elif else elsif end enum except export extends extern false False final finally float fn for from func function global
goto go if impl implements import in instanceof int interface is lambda let long loop match mod module mut namespace new
nil None nonlocal not null operator or override package pass private protected pub public raise readonly ref require
return self short static string struct super switch template then this throw throws trait true True try type typedef
typeof undefined union unless unsafe unsigned until use using var virtual void volatile when where while with yield
"""
_KEYWORDS = frozenset(_WORDS_OF_MANY.split())


@dataclass(frozen=True, kw_only=True)
class _Line:
    text: str
    look: str
    number: str = ""
    """In the file as it would be, or as it was for what goes; empty where nobody knows."""

    def html(self, pattern: re.Pattern[str] | None) -> str:
        number = f' data-n="{self.number}"' if self.number else ""
        runs = _runs(self.text, pattern if self.look != " hunk" else None)
        return f'<div class="line{self.look}"{number}>{_whole_words(runs) or "<br>"}</div>'


def plain_block(text: str) -> Markup:
    """Line by line, so that one that is too wide is seen to go on."""
    if not text:
        return Markup('<div class="line nothing">(empty)</div>')
    return _html([_Line(text=line, look="") for line in text.split("\n")], None)


def diff_block(diff: str, name: str = "") -> Markup:
    """All of a diff. Its file has this name, unless the diff says another."""
    return _html(_lines(diff), _pattern(_named(diff) or name))


def folded_diff(diff: str, name: str) -> Markup:
    """The same where nothing is decided by it: of a long one, hunks further down are folded, with what they count."""
    pattern, shown, parts = _pattern(name), 0, []
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


def _pattern(name: str) -> re.Pattern[str] | None:
    path = PurePosixPath(name.strip())
    mark = _NAMES.get(path.name, _OF_SUFFIX.get(path.suffix[1:].lower()))
    return None if mark is None else _PATTERNS[mark]


def _runs(text: str, pattern: re.Pattern[str] | None) -> Iterator[tuple[str, str]]:
    """A line in pieces, each with its colour. The mark at the beginning has none."""
    place = 0
    for found in pattern.finditer(text[:_LONGEST_COLOURED], 1) if pattern else ():
        colour = found.lastgroup or ""
        if colour == "w" and found[0] not in _KEYWORDS:
            continue
        if found.start() > place:
            yield "", text[place : found.start()]
        yield "k" if colour == "w" else colour, found[0]
        place = found.end()
    if place < len(text):
        yield "", text[place:]


def _whole_words(runs: Iterator[tuple[str, str]]) -> str:
    """The pieces as HTML with words kept whole: broken at a hyphen, `--force` would read as another command."""
    done: list[str] = []
    word: list[tuple[str, str]] = []
    for colour, run in runs:
        for piece in _WORD.findall(run):
            if piece.isspace():
                done += [_word(word), piece]
                word = []
            else:
                word.append((colour, piece))
    return "".join([*done, _word(word)])


def _word(pieces: Sequence[tuple[str, str]]) -> str:
    escaped = [(colour, str(escape(piece))) for colour, piece in pieces]
    html = "".join(f'<span class="code-{colour}">{text}</span>' if colour else text for colour, text in escaped)
    return f'<span class="unbroken">{html}</span>' if any("-" in piece for _, piece in pieces) else html
