"""`--help` in the person's language: what click and the commands say of themselves, translated where it is shown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from inspect import cleandoc

import click

from sayso.cli.texts import catalogue, mark, tr, translated

EXPLAINED = re.compile(r"( +\S.*?)( {2,})(\S.*)")
"""A line of an example with words beside it."""
_CLICKS_OWN = re.compile(rf"\b(?:{mark('OPTIONS')}|{mark('COMMAND')}|{mark('ARGS')})\b")
_EXTRA = re.compile(r"(.*?)  \[(.*)\]", re.DOTALL)


class HelpPage(click.HelpFormatter):
    """Puts headings, options and what belongs to them in the person's language."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        args = _CLICKS_OWN.sub(lambda found: tr(found[0]), args)
        super().write_usage(prog, args, prefix or tr("Usage: "))

    def write_heading(self, heading: str) -> None:
        super().write_heading(translated(heading))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        super().write_dl([(name, _about(text)) for name, text in rows], col_max, col_spacing)


class HelpContext(click.Context):
    formatter_class = HelpPage


def spoken(command: click.Command) -> click.Command:
    """The command with its help, and that of those below it, in the person's language."""
    command.context_class = HelpContext
    command.help = "\n\n".join(map(_paragraph, cleandoc(command.help or "").split("\n\n")))
    if isinstance(command, click.Group):
        for below in command.commands.values():
            spoken(below)
    return command


def paragraph(text: str) -> str:
    """A paragraph as the catalogue has it: on one line."""
    return " ".join(text.split())


def _paragraph(text: str) -> str:
    if not text.startswith("\b"):
        return catalogue().get(paragraph(text), text)
    return "\n".join(_example_line(line) for line in text.split("\n"))


def _example_line(line: str) -> str:
    if found := EXPLAINED.fullmatch(line):
        return f"{found[1]}{found[2]}{translated(found[3])}"
    return translated(line)


def _about(text: str) -> str:
    """What is said beside an option, with what click adds in brackets."""
    if found := _EXTRA.fullmatch(text):
        return f"{translated(found[1])}  [{found[2].replace('default: ', tr('default: '))}]"
    return translated(text)
