"""Writing to and reading from the person's terminal: safe, plain, coloured only where colour is wanted.

Without what reads commands, which takes longer to import than many a command takes to do its work.
"""

from __future__ import annotations

import errno
import io
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from sayso.cli.program import has_output
from sayso.cli.texts import language, tr
from sayso.text import json_block, most_cells, printable

Cells = Sequence[str]
_OUTPUT = "standard output"
_YES_OR_NO = {"de": {"ja": True, "nein": False}}
_MARK = "    │ "
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_COLOURS = {"red": 31, "green": 32, "yellow": 33}
_START = re.compile(r"(?:\x1b\[[0-9;]*m)*\s*(?:\d+[.)] |\S+ {2,}(?=\S))?")
_WORD = re.compile(r"(\s*)((?<=: )\S*\b(?:sayso|auq) .+?(?=\s{4}|$)|`[^`]+`\S*|\S+)")
"""A word, or a command that is to be typed, and the gap before it."""
_WIDE_GAP = 4
"""Spaces that keep two things apart on a line, which is where it ends first."""
_ROWS_BESIDE_A_PAGE = 3
_LEAST_LAST = 24
"""Columns that the last cell of a row needs to be known by."""
_LEAST_CELL = 10
"""Columns that any other cell keeps: ids are shorter."""
_TAB = 8
"""The most columns that a tab takes."""
_ROWS_BESIDE_A_CODE = 8
"""What is said before and after a code that is drawn, so that the link stays on the screen."""


def put(text: str = "") -> None:
    """Data, or a line of a conversation that needs a terminal anyway: to stdout."""
    _write(sys.stdout, text)


def say(text: str = "") -> None:
    """Talk: to stderr. In a terminal its lines end between words."""
    _write(sys.stderr, flowing(text, sys.stderr) if sys.stderr else text)


def put_lines(text: str) -> None:
    """The same for what may be nothing at all, which is no line either."""
    if text:
        put(text)


def put_part(text: str, stream: TextIO | None = None) -> None:
    """A part of a line, as it comes: to stdout, or where it belongs."""
    if to := stream or sys.stdout:
        _write_out(to, text)


def put_anew(text: str) -> None:
    """Data in the place of what was put before, where a terminal shows it; after it, for a program."""
    if not has_colour(sys.stdout):
        put(text)
        return
    size = os.get_terminal_size(sys.stdout.fileno())
    put(f"\x1b[H\x1b[2J{first_lines(text, size.columns or 80, (size.lines or 24) - 1)}")


def first_lines(text: str, columns: int, rows: int) -> str:
    """As much of the text as a screen shows, from its beginning, and how much more there is."""
    lines, taken = text.split("\n"), 0
    for place, line in enumerate(lines):
        taken += max(-(-cells(line) // columns), 1)
        if place and taken > rows - (place < len(lines) - 1):
            return "\n".join([*lines[:place], tr("… and {n} more lines", n=len(lines) - place)])
    return text


def put_json(value: object) -> None:
    """JSON to stdout: intact, in UTF-8 whatever the terminal speaks, and with nothing in it that drives one."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    _write(sys.stdout, json_block(value))


def bold(text: str) -> str:
    """Marked up; `put` and `say` leave the mark out where colour is not wanted."""
    return f"\x1b[1m{text}\x1b[0m"


def dim(text: str) -> str:
    return f"\x1b[2m{text}\x1b[0m"


def coloured(text: str, colour: str) -> str:
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"


def yellow(text: str) -> str:
    """Line by line, so that no colour is left over in one that is written over or cut off."""
    return "\n".join(line and f"\x1b[33m{line}\x1b[39m" for line in text.split("\n"))


def draw_link(link: str) -> None:
    """The link as a code for a phone, where there is room for it and a phone could open it: on stderr."""
    if not (sys.stderr and sys.stderr.isatty() and (sys.stderr.encoding or "").lower().startswith("utf")):
        return
    from sayso.accounts import opens_on_other_devices

    if not opens_on_other_devices(link):
        say(
            flowing(
                tr("To answer from your phone: sayso web --tunnel tailscale, or --host 0.0.0.0 in your own network")
            )
        )
        return
    import segno

    drawn = io.StringIO()
    segno.make(link, error="l").terminal(out=drawn, border=2, compact=True)
    height = drawn.getvalue().count("\n") + _ROWS_BESIDE_A_CODE
    if _rows(sys.stderr) < height:
        text = tr("For a code to scan with your phone, make this window {n} lines high: sayso web --link", n=height)
        say(flowing(text))
    else:
        sys.stderr.write(drawn.getvalue())


def flowing(text: str, stream: TextIO | Any = None) -> str:
    """The text in lines that end between words, as wide as the terminal it is shown in: that of stdout, or of this
    stream. No word is broken, nor a command that fits on a line."""
    width = _columns(stream)
    if width is None:
        return text
    return "\n".join(_filled(line, width) for line in text.split("\n"))


def _filled(line: str, width: int) -> str:
    if cells(line) <= width:
        return line
    found = _START.match(line)
    start = found[0] if found else ""
    indent, lines, is_first = " " * cells(start), [start], True
    for gap, word in _words(line[len(start) :], width - cells(start)):
        if is_first or (len(gap) < _WIDE_GAP and cells(lines[-1]) + len(gap) + cells(word) <= width):
            lines[-1] += gap + word
        else:
            lines.append(indent + word)
        is_first = False
    return "\n".join(lines)


def _words(text: str, width: int) -> Iterator[tuple[str, str]]:
    for gap, word in _WORD.findall(text):
        if cells(word) <= width:
            yield gap, word
        else:
            first, *others = word.split(" ")
            yield gap, first
            yield from ((" ", other) for other in others)


def flowing_beside(start: int, text: str) -> str:
    """The same for a text that has a column of its own, which starts there, where that leaves enough room for it."""
    width = _columns()
    if width is None or width - start < _LEAST_LAST:
        return text
    import textwrap

    lines = textwrap.wrap(text, width - start, break_long_words=False, break_on_hyphens=False)
    return ("\n" + " " * start).join(lines)


def block(text: str) -> str:
    """Text that is not ours, whole: every line of it is marked, also where a terminal would break it, so that nothing
    in it can pass for a line of ours."""
    return "\n".join(barred(printable(text).expandtabs(4)))


def barred(text: str, start: str = _MARK) -> list[str]:
    """The same as lines, for a text that is spelt out already."""
    width = max((_columns() or sys.maxsize) - cells(start), 4)
    return [start + part for line in text.split("\n") for part in _pieces(line, width)]


def _pieces(line: str, width: int) -> Iterator[str]:
    start, room = 0, width
    for place, character in enumerate(line):
        taken = _TAB if character == "\t" else most_cells(character)
        room -= taken
        if room < 0:
            yield line[start:place]
            start, room = place, width - taken
    yield line[start:]


def put_pages(lines: Sequence[str]) -> bool:
    """Print the lines, page by page where there are more than the terminal shows; whether the person saw the last. Only
    for interactive terminals."""
    page = max(_rows(sys.stdout) - _ROWS_BESIDE_A_PAGE, 1)
    for place in range(0, len(lines), page):
        put("\n".join(lines[place : place + page]))
        if left := len(lines) - place - page if len(lines) - place > page else 0:
            forget_typed_ahead()
            line = read_line(tr("({n} more lines; Enter shows them, q leaves) ", n=left))
            if line is None or line.strip():
                return False
    return True


def listed(meanings: Mapping[str, str]) -> str:
    """Commands and what they do: side by side, or one below the other where that is too wide."""
    width = max(map(cells, meanings))
    beside = [f"  {command}{' ' * (width - cells(command))}   {meaning}" for command, meaning in meanings.items()]
    if max(map(cells, beside)) <= (_columns() or sys.maxsize):
        return "\n".join(beside)
    return "\n".join(f"  {command}\n      {meaning}" for command, meaning in meanings.items())


def is_interactive() -> bool:
    """Whether a person can be asked at prompts here."""
    return bool(sys.stdin and sys.stdout and sys.stdin.isatty() and sys.stdout.isatty())


def draws_screens() -> bool:
    """Whether a full screen can be drawn here: a terminal that says what it is, and does not say that it is dumb.

    Textual draws on stderr: if that goes elsewhere, keys would act on what nobody sees.
    """
    seen = is_interactive() and bool(sys.stderr) and sys.stderr.isatty()
    return seen and os.environ.get("TERM", "") not in ("", "dumb", "unknown")


def takes_keys() -> bool:
    """Whether a person can press keys here and see what they do, while stdout may be a script's."""
    if not (sys.stdin and sys.stderr and sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return os.environ.get("TERM", "") not in ("", "dumb", "unknown") and is_in_front()


def is_in_front() -> bool:
    """Whether this is what the terminal's keys are for. A job in the background that reads them is stopped."""
    try:
        return os.name == "posix" and os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except OSError:
        return False


def forget_typed_ahead() -> bool:
    """Drop what was typed before now: it was meant for something else than what is shown next. Whether it had lines."""
    with suppress(ImportError, OSError):
        import select
        import termios

        lines = bool(select.select([sys.stdin], [], [], 0)[0])
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        return lines
    return False


def read_line(prompt: str) -> str | None:
    """A line that the person types, None at the end of input. Only for interactive terminals."""
    with suppress(ImportError):
        # With it a long line, or a paste of several, arrives whole; a bare terminal cuts lines at 4,096 bytes.
        import readline  # noqa: F401
    try:
        return input(flowing(prompt.rstrip()) + prompt[len(prompt.rstrip()) :])
    except EOFError:
        put()
        return None


def confirmed(question: str) -> bool:
    """Whether the person agrees; an empty line does. Only for interactive terminals."""
    words = {"": True, "y": True, "yes": True, "n": False, "no": False, **_YES_OR_NO.get(language(), {})}
    while (line := read_line(f"{question} [Y/n]: ")) is not None:
        if line.strip().lower() in words:
            return words[line.strip().lower()]
        put(tr("It takes y or n."))
    from click import Abort

    raise Abort


def table(header: Cells, rows: Sequence[Cells], may_miss: Sequence[int] = ()) -> str:
    """Columns side by side. In a terminal a row stays a line: where it is too narrow, the columns that may be missed
    are left out, one after the other; then the widest are cut, as far as the last one needs it; and that is cut."""
    lines = [[tr(name) if name else "" for name in header], *rows]
    for missed in range(len(may_miss) + 1):
        kept = [[cell for place, cell in enumerate(line) if place not in may_miss[:missed]] for line in lines]
        widths = [max(map(cells, column)) for column in zip(*kept, strict=True)]
        left = _room(widths)
        if left is None or left >= min(widths[-1], _LEAST_LAST):
            break
    while left is not None and left < min(widths[-1], _LEAST_LAST) and max(widths[:-1], default=0) > _LEAST_CELL:
        widths[widths.index(max(widths[:-1]))] -= 1
        left += 1
    room = None if left is None else max(left, 1)
    first, *others = [_row(line, widths, room) for line in kept]
    return "\n".join([dim(first), *others])


def cells(text: str) -> int:
    """How many columns of a terminal the text takes; colours take none."""
    return sum(_width(character) for character in colourless(text))


def cut(text: str, width: int) -> str:
    """The text in at most `width` columns."""
    if cells(text) <= width:
        return text
    kept, room = "", width - 1
    for character in text:
        room -= _width(character)
        if room < 0:
            break
        kept += character
    return kept + "…"


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines of at most `width` columns, which end between words as far as these fit."""
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and cells(lines[-1]) + 1 + cells(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines += _pieces(word, width)
    return lines[1:]


def _row(row: Cells, widths: Sequence[int], room: int | None) -> str:
    *padded, last = row
    if room is not None:
        padded = [cut(text, width) for text, width in zip(padded, widths, strict=False)]
    start = "".join(text + " " * (width - cells(text) + 2) for text, width in zip(padded, widths, strict=False))
    return start + (last if room is None else cut(last, room))


def _room(widths: Sequence[int]) -> int | None:
    """Columns left for the last cell, None where lines may be of any length."""
    columns = _columns()
    return columns - sum(width + 2 for width in widths[:-1]) if columns else None


def _rows(terminal: TextIO) -> int:
    """How many lines a terminal shows. One that does not say is taken to be high enough."""
    try:
        return os.get_terminal_size(terminal.fileno()).lines or sys.maxsize
    except OSError:
        return sys.maxsize


def _columns(stream: TextIO | Any = None) -> int | None:
    """How wide the person's terminal is; None where nobody looks at one."""
    terminal = stream or sys.stdout
    if not (terminal and terminal.isatty()):
        return None
    said = os.environ.get("COLUMNS", "")
    return int(said) if said.isdecimal() and int(said) else os.get_terminal_size(terminal.fileno()).columns or 80


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def colourless(text: str) -> str:
    """The text without what colours it."""
    return _COLOUR.sub("", text)


def _write(stream: TextIO | Any, text: str) -> None:
    """A line, at once; nowhere where there is no such stream."""
    if stream:
        _write_out(stream, f"{text if has_colour(stream) else colourless(text)}\n")


def _write_out(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
        stream.flush()
    except OSError as error:
        # Else nobody knows which disk is full.
        error.filename = _OUTPUT if stream is sys.stdout else "standard error"
        raise


def output_is_closed() -> OSError:
    """What goes wrong where something is to be shown and nobody can see it."""
    return OSError(errno.EBADF, os.strerror(errno.EBADF), _OUTPUT)


@contextmanager
def shown_or(undo: Callable[[], object]) -> Iterator[None]:
    """Show something that is shown this once. Where that cannot be, `undo` what it is for: nobody has it."""
    try:
        if not has_output():
            raise output_is_closed()
        yield
    except OSError:
        undo()
        say(tr("It could not be shown, so it was not made."))
        raise


def has_colour(stream: TextIO | Any) -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(stream) and stream.isatty()
