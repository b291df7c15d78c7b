"""`sayso --help` without click, drawn as click draws that of a command: it is the first thing that people look at."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterator, Mapping

from sayso.cli.command_table import ABOUT, GROUPS, OPTIONS
from sayso.cli.help_words import option_shown, paragraph_shown, usage_shown
from sayso.cli.texts import mark, tr, translated

WIDEST = 100
_NARROWEST = 50
_UNKNOWN = 80
_WIDEST_NAME = 30
_INDENT = "  "


def plain_help(program: str) -> str:
    """All that the program says of itself, as wide as the terminal that shows it."""
    width = max(min(_columns(), WIDEST) - len(_INDENT), _NARROWEST)
    start = f"{tr('Usage: ')}{program} "
    usage = usage_shown("[OPTIONS] [COMMAND] [ARGS]...")
    parts = [textwrap.fill(usage, width, initial_indent=start, subsequent_indent=" " * len(start))]
    parts += [_paragraph(paragraph_shown(text), width) for text in ABOUT.strip().split("\n\n")]
    parts.append(_section(mark("Options"), OPTIONS, width))
    longest = max(len(name) for commands in GROUPS.values() for name in commands)
    for heading, commands in GROUPS.items():
        parts.append(_section(heading, {name.ljust(longest): about for name, about in commands.items()}, width))
    return "\n\n".join(parts)


def _paragraph(text: str, width: int) -> str:
    if text.startswith("\b"):
        return textwrap.indent(text.partition("\n")[2], _INDENT)
    return textwrap.fill(text, width, initial_indent=_INDENT, subsequent_indent=_INDENT)


def _section(heading: str, rows: Mapping[str, str], width: int) -> str:
    return "\n".join([f"{translated(heading)}:", *_rows(rows, width)])


def _rows(rows: Mapping[str, str], width: int) -> Iterator[str]:
    names = min(max(map(len, rows)), _WIDEST_NAME) + len(_INDENT)
    for name, about in rows.items():
        first, *others = textwrap.wrap(option_shown(about), width - names - len(_INDENT))
        yield f"{_INDENT}{name.ljust(names)}{first}"
        yield from (f"{_INDENT}{' ' * names}{line}" for line in others)


def _columns() -> int:
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return int(said)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or _UNKNOWN
    except (OSError, AttributeError, ValueError):
        return _UNKNOWN
