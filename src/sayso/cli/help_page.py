"""`--help` in the person's language: what click and the commands say of themselves, translated where it is shown."""

from __future__ import annotations

from collections.abc import Iterable
from inspect import cleandoc

import click

from sayso.cli.help_words import option_shown, paragraph_shown, usage_shown
from sayso.cli.texts import tr, translated


class HelpPage(click.HelpFormatter):
    """Puts headings, options and what belongs to them in the person's language."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        super().write_usage(prog, usage_shown(args), prefix or tr("Usage: "))

    def write_heading(self, heading: str) -> None:
        super().write_heading(translated(heading))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        super().write_dl([(name, option_shown(text)) for name, text in rows], col_max, col_spacing)


class HelpContext(click.Context):
    formatter_class = HelpPage


def spoken(command: click.Command) -> click.Command:
    """The command with its help, and that of those below it, in the person's language."""
    command.context_class = HelpContext
    command.help = "\n\n".join(map(paragraph_shown, cleandoc(command.help or "").split("\n\n")))
    if isinstance(command, click.Group):
        for below in command.commands.values():
            spoken(below)
    return command
