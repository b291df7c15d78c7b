"""Texts with stars in them, held against others without an expression: to compile one of many stars takes long, and to
look for what it means may take longer than anybody waits. Whoever wrote a repository writes rules, too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum, auto

from sayso.records import record


class Star(Enum):
    ANYTHING = auto()
    WITHIN_A_FOLDER = auto()
    ONE_LETTER = auto()
    """But for a slash."""
    FOLDERS = auto()
    """Any folders, or none; each with its slash."""


Piece = str | Star


Text = tuple[tuple[str, bool], ...]
"""What follows one after the other, each with whether its letters may be of another case."""


@record
class Line:
    """Texts with anything between them, as one has it: the one at the beginning, those in the middle, and the one at
    the end. Each is looked for where it comes first, and nowhere else: what fits after it at a later place fits after
    the first one as well."""

    texts: tuple[Text, ...]

    def fits(self, text: str) -> bool:
        both = text, _folded(text) if any(in_any_case for each in self.texts for _, in_any_case in each) else text
        first, *middle = self.texts
        at = _end_at(first, both, 0)
        if not middle:
            return at == len(text)
        *middle, last = middle
        for each in middle if at >= 0 else ():
            at = _end_of_first(each, both, at)
            if at < 0:
                return False
        begin = len(text) - sum(len(part) for part, _ in last)
        return 0 <= at <= begin and _end_at(last, both, begin) >= 0


def line(pieces: Iterable[tuple[Piece, bool]]) -> Line:
    """Of texts and stars in turn."""
    texts: list[list[tuple[str, bool]]] = [[]]
    for piece, in_any_case in pieces:
        if isinstance(piece, Star):
            texts.append([])
            continue
        wanted = _folded(piece) if in_any_case else piece
        if texts[-1] and texts[-1][-1][1] == in_any_case:
            wanted = texts[-1].pop()[0] + wanted
        if wanted:
            texts[-1].append((wanted, in_any_case))
    return Line(texts=tuple(map(tuple, texts)))


def _end_at(wanted: Text, both: tuple[str, str], at: int) -> int:
    """Where it ends that begins there; below 0 where it does not."""
    for part, in_any_case in wanted:
        if not both[in_any_case].startswith(part, at):
            return -1
        at += len(part)
    return at


def _end_of_first(wanted: Text, both: tuple[str, str], at: int) -> int:
    if not wanted:
        return at
    (part, in_any_case), *others = wanted
    while (at := both[in_any_case].find(part, at)) >= 0:
        if (end := _end_at(tuple(others), both, at + len(part))) >= 0:
            return end
        at += 1
    return -1


def _folded(text: str) -> str:
    """In small letters, as many as before."""
    small = text.casefold()
    if len(small) == len(text):
        return small
    return "".join(each if len(each.casefold()) != 1 else each.casefold() for each in text)


_PARTS = re.compile(r"((?:^|(?<=/))\*\*/|\*\*|\*|\?)")
_MEANT = {"**/": Star.FOLDERS, "**": Star.ANYTHING, "*": Star.WITHIN_A_FOLDER, "?": Star.ONE_LETTER}


def pieces_of_path(spec: str) -> tuple[Piece, ...]:
    """`*` and `?` stay within a folder, `**` does not."""
    return tuple(_MEANT.get(part) or part for part in _PARTS.split(spec) if part)


class Paths:
    """Paths with stars, all held against another at once: each letter of that is looked at once, however many there
    are, and whatever stars are in them. Each letter of theirs is a bit, which is set while all before it fits."""

    def __init__(self, specs: Iterable[Sequence[Piece]], *, below: bool, in_any_case: bool) -> None:
        self._in_any_case = in_any_case
        self._begins: list[int] = []
        self._ends: list[tuple[int, ...]] = []
        self._places: dict[object, list[int]] = {each: [] for each in _KINDS}
        self._size = 0
        for pieces in specs:
            self._add(_gathered(pieces), below=below)
        self._letters = {key: self._mask(found) for key, found in self._places.items()}
        self._begin = self._mask(self._begins)
        self._end = self._mask(place for ends in self._ends for place in ends)

    def _add(self, pieces: Iterable[Piece], *, below: bool) -> None:
        self._begins.append(self._size)
        for piece in pieces:
            if piece is Star.FOLDERS:
                self._begins += [self._size + 1] if self._begins[-1] == self._size else []
                self._places[piece].append(self._size)
                self._size += 1
            elif isinstance(piece, Star) and piece is not Star.ONE_LETTER:
                self._places[piece].append(self._size)
            else:
                for letter in [piece] if isinstance(piece, Star) else self._read(piece):
                    self._places.setdefault(letter, []).append(self._size)
                    self._size += 1
        ends = [self._size]
        if below:
            self._places.setdefault("/", []).append(self._size)
            self._size += 1
            self._places[Star.ANYTHING].append(self._size)
            ends.append(self._size)
        self._ends.append(tuple(ends))
        self._size += 1

    def _read(self, text: str) -> str:
        return text.casefold() if self._in_any_case else text

    def _mask(self, places: Iterable[int]) -> int:
        bits = bytearray(self._size // 8 + 1)
        for place in places:
            bits[place >> 3] |= 1 << (place & 7)
        return int.from_bytes(bits, "little")

    def fits(self, path: str) -> bool:
        """Whether one of them is meant by it."""
        return bool(self._left(path) & self._end)

    def fitting(self, path: str) -> Iterator[int]:
        """Which of them are."""
        left = self._left(path) & self._end
        bits = left.to_bytes(self._size // 8 + 1, "little") if left else b""
        for number, ends in enumerate(self._ends if left else ()):
            if any(bits[end >> 3] >> (end & 7) & 1 for end in ends):
                yield number

    def _left(self, path: str) -> int:
        letters, now = self._letters, self._begin
        folders, one, anything = letters[Star.FOLDERS], letters[Star.ONE_LETTER], letters[Star.ANYTHING]
        stays, within = folders | anything, letters[Star.WITHIN_A_FOLDER] | folders | anything
        for letter in self._read(path):
            if not now:
                return 0
            if letter == "/":
                come = (now & letters.get(letter, 0)) << 1 | (now & folders) << 1
                now = come | (come & folders) << 1 | now & stays
            else:
                come = (now & (letters.get(letter, 0) | one)) << 1
                now = come | (come & folders) << 1 | now & within
        return now


_KINDS = tuple(Star)


def _gathered(pieces: Iterable[Piece]) -> list[Piece]:
    """Without stars that add nothing to the one before."""
    found: list[Piece] = []
    for piece in pieces:
        last = found[-1] if found else None
        both_are_stars = isinstance(piece, Star) and isinstance(last, Star)
        if not both_are_stars or Star.ONE_LETTER in (piece, last):
            found.append(piece)
        elif last is not piece:
            # Folders, and then what is within one, are anything.
            found[-1] = Star.ANYTHING
    return found
