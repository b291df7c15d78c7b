"""Code as pages show it, in diffs and in what agents write: coloured by a few rules that fit most languages, with its
words kept whole.

Colours are decoration alone: one expression, and only so far into a line, tells strings, comments, numbers and common
words, so that no code, whoever wrote it, makes it slow. What is given is spelt out already.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from markupsafe import escape

from sayso.text import FROM_THE_RIGHT

COLOURS = ("c", "s", "n", "k")
"""Comments, strings, numbers, keywords; each is a class `code-…`."""
_LONGEST_COLOURED = 400
"""Characters of one line that are looked at for colours."""
_WORD = re.compile(r"\S+|\s+")
_FROM_THE_RIGHT = re.compile(FROM_THE_RIGHT)

_STRING = r"(?P<s>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`[^`]*`)"
_REST = r"(?P<n>\b\d[\w.]*)|(?P<w>[A-Za-z_]\w*)"
_ANY = "any"
_COMMENT = {"#": r"(?<![\w$&])\#.*", "//": r"//.*|/\*.*?(?:\*/|$)", "--": r"--.*", "": r"(?!)"}
_COMMENT[_ANY] = r"(?<!\S)(?:\#|//|--\s).*|/\*.*?(?:\*/|$)"
"""By the mark with which comments begin in a language; where that is not known, it has to stand apart."""
_PATTERNS = {mark: re.compile(f"(?P<c>{comment})|{_STRING}|{_REST}") for mark, comment in _COMMENT.items()}
_LANGUAGES = {
    "#": """py pyi python rb ruby sh bash zsh fish shell console yaml yml toml pl perl r ex exs elixir mk make makefile
         nix tf dockerfile justfile""",
    "//": """c h cc cpp hpp c++ cs csharp go golang java js jsx mjs javascript ts tsx typescript kt kotlin rs rust scala
          swift php dart scss proto zig""",
    "--": "sql lua hs haskell elm",
    "": "json css html xml svg vue ini cfg",
}
_MARK_OF = {name: mark for mark, names in _LANGUAGES.items() for name in names.split()}
_WORDS_OF_MANY = """
abstract and as assert async await begin bool break case catch char class const continue def default defer del do done
double elif else elsif end enum esac except export extends extern false False fi final finally float fn for from func
function global goto go if impl implements import in instanceof int interface is lambda let long loop match mod module
mut namespace new nil None nonlocal not null operator or override package pass private protected pub public raise
readonly ref require return self short static string struct super switch template then this throw throws trait true True
try type typedef typeof undefined union unless unsafe unsigned until use using var virtual void volatile when where
while with yield SELECT FROM WHERE INSERT UPDATE DELETE CREATE JOIN
"""
_KEYWORDS = frozenset(_WORDS_OF_MANY.split())


def of_file(name: str) -> re.Pattern[str] | None:
    """What tells the parts of the code in a file of this name apart; None: it has no colours."""
    path = PurePosixPath(name.strip())
    mark = _MARK_OF.get((path.suffix[1:] or path.name).lower())
    return None if mark is None else _PATTERNS[mark]


def of_language(name: str) -> re.Pattern[str]:
    """The same for a language as people call it. Of one that is not known, what most have in common is told apart."""
    words = name.lower().split()
    return _PATTERNS[_MARK_OF.get(words[0], _ANY) if words else _ANY]


def in_order(html: str) -> str:
    """The same with everything where it is written, from the left to the right. Left to itself, a browser shows what
    stands between two letters that are read from the right the other way round, so that arguments change places."""
    return _FROM_THE_RIGHT.sub(r"<bdi>\g<0></bdi>", html)


def line_html(line: str, pattern: re.Pattern[str] | None, *, begin: int = 0, whole_word: str) -> str:
    """One line as HTML, coloured from the character `begin` on. What opens a span around a word with a hyphen is
    `whole_word`: broken there, `--force` would read as another command."""
    done: list[str] = []
    word: list[tuple[str, str]] = []
    for colour, piece in _pieces(line, pattern, begin):
        for part in _WORD.findall(piece):
            if part.isspace():
                done += [_word(word, whole_word), part]
                word = []
            else:
                word.append((colour, part))
    return "".join([*done, _word(word, whole_word)])


def _pieces(line: str, pattern: re.Pattern[str] | None, begin: int) -> Iterator[tuple[str, str]]:
    """A line in pieces, each with its colour."""
    place = 0
    for colour, found in _found(line, pattern, begin) if pattern else ():
        if found.start() > place:
            yield "", line[place : found.start()]
        yield colour, found[0]
        place = found.end()
    if place < len(line):
        yield "", line[place:]


def _found(line: str, pattern: re.Pattern[str], begin: int) -> Iterable[tuple[str, re.Match[str]]]:
    for found in pattern.finditer(line[:_LONGEST_COLOURED], begin):
        colour = found.lastgroup or ""
        if colour != "w":
            yield colour, found
        elif found[0] in _KEYWORDS:
            yield "k", found


def _word(pieces: Sequence[tuple[str, str]], whole_word: str) -> str:
    escaped = [(colour, in_order(str(escape(piece)))) for colour, piece in pieces]
    html = "".join(f'<span class="code-{colour}">{text}</span>' if colour else text for colour, text in escaped)
    return f"{whole_word}{html}</span>" if any("-" in piece for _, piece in pieces) else html
