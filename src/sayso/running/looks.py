"""What a program meant its output to look like: the colours that it prints for a terminal, as words.

Nothing here drives a terminal, and nothing that a program asks to be hidden is. Its 16 million colours become the few
that every theme can show readably.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_SEQUENCES = re.compile(
    r"\x1b\][^\x07\x1b]{0,4000}(?:\x07|\x1b\\)?"  # titles, links
    r"|\x1b[PX^_][^\x1b]{0,4000}(?:\x1b\\)?"
    r"|(?:\x1b\[|\x9b)(?P<parameters>[0-?]*)[ -/]*(?P<final>[@-~])?"  # colours, cursor
    r"|\x1b[ -/]*[0-~]?"
)
_COLOURS = ("", "red", "green", "yellow", "blue", "magenta", "cyan", "")
"""By the figure that a program gives; black and white are what the theme has for them."""
_GREY = "grey"
_STYLES = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse", 9: "strike"}
_ENDS = {22: {"bold", "dim"}, 23: {"italic"}, 24: {"underline"}, 27: {"inverse"}, 29: {"strike"}}
_HUES = ((30, "red"), (75, "yellow"), (160, "green"), (200, "cyan"), (260, "blue"), (330, "magenta"), (360, "red"))
"""Up to which degree of the colour wheel a colour has each name."""
_PALE, _DARK, _LIGHT = 0.2, 0.15, 0.9
"""Colours with less saturation are greys; those that are darker or lighter are the theme's own."""
_MOST_PARAMETERS = 200
_SEPARATORS, _LINE_ENDS, _RETURNS = re.compile("[;:]"), re.compile("(\n)"), re.compile("(\r)")


class PrintedLook(NamedTuple):
    """How the text from some place on is meant to look."""

    colour: str = ""
    ground: str = ""
    styles: frozenset[str] = frozenset()

    @property
    def words(self) -> str:
        """Such as `bold red on-yellow`; empty for what is plain."""
        ground = f"on-{self.ground}" if self.ground else ""
        return " ".join(filter(None, (*sorted(self.styles), self.colour, ground)))

    def after(self, codes: Sequence[int]) -> PrintedLook:
        """How it goes on after these codes."""
        look, left = self, list(codes)
        while left:
            code = left.pop(0)
            if code in (38, 48):
                colour = _further_colour(left)
                look = look._replace(colour=colour) if code == 38 else look._replace(ground=colour)
            else:
                look = look._after_one(code)
        return look

    def _after_one(self, code: int) -> PrintedLook:
        tens, ones = divmod(code, 10)
        if code == 0:
            return PLAIN
        if code in _STYLES:
            return self._replace(styles=self.styles | {_STYLES[code]})
        if code in _ENDS:
            return self._replace(styles=self.styles - _ENDS[code])
        if tens in (3, 9) and ones != 8:
            return self._replace(colour=_named(ones, bright=tens == 9))
        if tens in (4, 10) and ones != 8:
            return self._replace(ground=_named(ones, bright=tens == 10))
        return self


PLAIN = PrintedLook()


class ColouredRun(NamedTuple):
    """Text that looks the same all through."""

    text: str
    look: str = ""


def runs_of(text: str, look: PrintedLook = PLAIN) -> tuple[list[ColouredRun], PrintedLook]:
    """What a program printed, without escape sequences, and how it would go on. Of a line that was written over, only
    what it became."""
    pieces, place = list[tuple[str, str]](), 0
    for found in _SEQUENCES.finditer(text):
        pieces.append((text[place : found.start()], look.words))
        place = found.end()
        if found["final"] == "m" and "<" not in (found["parameters"] or ""):
            look = look.after(_codes(found["parameters"]))
    pieces.append((text[place:], look.words))
    return list(_as_left(pieces)), look


def cut(runs: Sequence[ColouredRun], place: int) -> tuple[tuple[ColouredRun, ...], tuple[ColouredRun, ...]]:
    """What stands before a place, and what follows."""
    before, after = list[ColouredRun](), list[ColouredRun]()
    for run in runs:
        before.append(run._replace(text=run.text[:place]))
        after.append(run._replace(text=run.text[place:]))
        place = max(place - len(run.text), 0)
    return tuple(filter(_has_text, before)), tuple(filter(_has_text, after))


def _has_text(run: ColouredRun) -> bool:
    return bool(run.text)


def _as_left(pieces: Sequence[tuple[str, str]]) -> Iterator[ColouredRun]:
    """What is left of each line, if the program went back to its beginning and wrote over it."""
    if not any("\r" in text for text, _ in pieces):
        yield from (ColouredRun(text, look) for text, look in pieces if text)
        return
    line = list[ColouredRun]()
    for text, look in pieces:
        for part in _LINE_ENDS.split(text):
            if part != "\n":
                line.append(ColouredRun(part, look))
                continue
            yield from _last_written(line)
            yield ColouredRun(part, look)
            line = []
    yield from _last_written(line)


def _last_written(line: Sequence[ColouredRun]) -> list[ColouredRun]:
    kept = list[ColouredRun]()
    for text, look in reversed(line):
        for part in reversed(_RETURNS.split(text)):
            if part == "\r" and kept:
                return kept[::-1]
            if part.strip("\r"):
                kept.append(ColouredRun(part, look))
    return kept[::-1]


def _codes(parameters: str) -> list[int]:
    """The figures of a sequence; one that is missing is a 0."""
    return [int(each or 0) for each in _SEPARATORS.split(parameters[:_MOST_PARAMETERS]) if each.isdecimal() or not each]


def _further_colour(left: list[int]) -> str:
    """The colour that the next figures name: one of 256, or by red, green and blue. They are taken away."""
    kind = left.pop(0) if left else 0
    if kind == 5 and left:
        return _of_256(left.pop(0))
    if kind == 2 and len(left) >= 3:
        return _nearest(*(left.pop(0) for _ in range(3)))
    return ""


def _of_256(number: int) -> str:
    if number < 16:
        return _named(number % 8, bright=number > 7)
    if number > 231:
        return _GREY if 236 < number < 250 else ""
    cube = number - 16
    return _nearest(*(each and 55 + each * 40 for each in (cube // 36, cube // 6 % 6, cube % 6)))


def _named(number: int, *, bright: bool) -> str:
    if number == 0 and bright:
        return _GREY
    return _COLOURS[number] if number < len(_COLOURS) else ""


def _nearest(red: int, green: int, blue: int) -> str:
    from colorsys import rgb_to_hls

    hue, lightness, saturation = rgb_to_hls(*(min(each, 255) / 255 for each in (red, green, blue)))
    if saturation < _PALE or not _DARK < lightness < _LIGHT:
        return _GREY if _DARK < lightness < _LIGHT else ""
    return next(name for most, name in _HUES if hue * 360 <= most)
