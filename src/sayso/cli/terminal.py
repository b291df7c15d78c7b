"""Writing to and reading from the person's terminal: safe, plain, coloured only where colour is wanted."""

from __future__ import annotations

import io
import os
import re
import select
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TextIO

import click

from sayso.cli.texts import language, tr
from sayso.text import json_block, most_cells, printable

Cells = Sequence[str]
_YES_OR_NO = {"de": {"ja": True, "nein": False}}
_MARK = "    │ "
_START = re.compile(r"\s*(?:\d\. )?")
_ROWS_BESIDE_A_PAGE = 3
_TAB = 8
"""The most columns that a tab takes."""
_ROWS_BESIDE_A_CODE = 8
"""What is said before and after a code that is drawn, so that the link stays on the screen."""


def put(text: str = "") -> None:
    """Data, or a line of a conversation that needs a terminal anyway: to stdout."""
    click.echo(text, color=_has_colour(sys.stdout))


def say(text: str = "") -> None:
    """Talk: to stderr."""
    click.echo(text, err=True, color=_has_colour(sys.stderr))


def put_json(value: object) -> None:
    """JSON to stdout: intact, in UTF-8 whatever the terminal speaks, and with nothing in it that drives one."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    click.echo(json_block(value))


def bold(text: str) -> str:
    """Marked up; `put` and `say` leave the mark out where colour is not wanted."""
    return click.style(text, bold=True)


def dim(text: str) -> str:
    return click.style(text, dim=True)


def draw_link(link: str) -> None:
    """The link as a code for a phone, where there is room for it and a phone could open it: on stderr."""
    if not (sys.stderr and sys.stderr.isatty() and (sys.stderr.encoding or "").lower().startswith("utf")):
        return
    from sayso.accounts import opens_on_other_devices

    if not opens_on_other_devices(link):
        say(flowing(tr("To answer from your phone, serve it to your network: sayso web --host 0.0.0.0")))
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


def flowing(text: str) -> str:
    """The text in lines that end between words, as wide as the terminal it is shown in. No word is broken."""
    width = _columns()
    if width is None:
        return text
    return "\n".join(_filled(line, width) for line in text.split("\n"))


def _filled(line: str, width: int) -> str:
    start = _START.match(line)
    indent = " " * (start.end() if start else 0)
    return textwrap.fill(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


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


def forget_typed_ahead() -> bool:
    """Drop what was typed before now: it was meant for something else than what is shown next. Whether it had lines."""
    with suppress(ImportError, OSError):
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
    raise click.Abort


def table(header: Cells, rows: Sequence[Cells]) -> str:
    """Columns side by side. In a terminal the last one is cut so that a row stays a line."""
    header = [tr(name) if name else "" for name in header]
    widths = [max(map(cells, column)) for column in zip(header, *rows, strict=True)]
    room = _room(widths)
    lines = [_row(row, widths, room) for row in (header, *rows)]
    return "\n".join([dim(lines[0]), *lines[1:]])


def cells(text: str) -> int:
    """How many columns of a terminal the text takes; colours take none."""
    return sum(_width(character) for character in click.unstyle(text))


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


def _row(row: Cells, widths: Sequence[int], room: int | None) -> str:
    *padded, last = row
    start = "".join(text + " " * (width - cells(text) + 2) for text, width in zip(padded, widths, strict=False))
    return start + (last if room is None else cut(last, room))


def _room(widths: Sequence[int]) -> int | None:
    """Columns left for the last cell, None where lines may be of any length."""
    columns = _columns()
    return max(columns - sum(width + 2 for width in widths[:-1]), 20) if columns else None


def _rows(terminal: TextIO) -> int:
    """How many lines a terminal shows. One that does not say is taken to be high enough."""
    try:
        return os.get_terminal_size(terminal.fileno()).lines or sys.maxsize
    except OSError:
        return sys.maxsize


def _columns() -> int | None:
    """How wide the person's terminal is; None where nobody looks at one."""
    return shutil.get_terminal_size().columns if sys.stdout and sys.stdout.isatty() else None


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _has_colour(stream: TextIO | Any) -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(stream) and stream.isatty()
