"""A group of commands, and what it says of a word that is none of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

import click

from sayso.text import did_you_mean

_READING = ("get", "list", "ls", "show")
"""Words for what a group does by itself."""


class CommandGroup(click.Group):
    """Takes `help` for the option that it stands for, and says which commands there are where none is like the word."""

    known_as: Mapping[str, str] = {}
    """What other programs call a command, and what it is called here."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [*args[1:], "--help"] if args[:1] == ["help"] else args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        names = self.list_commands(ctx)
        if args and not args[0].startswith("-") and args[0] not in names:
            self.refuse(ctx, args[0], names)
        return super().resolve_command(ctx, args)

    def refuse(self, ctx: click.Context, word: str, names: list[str]) -> NoReturn:
        near = self.known_as.get(word)
        hint = f"Did you mean {near}?" if near else did_you_mean(word, names, f"The commands are {', '.join(names)}.")
        if ctx.parent and self.invoke_without_command and word in _READING:
            hint = f"`{ctx.command_path}` alone shows it."
        ctx.fail(f"There is no command {word!r}. {hint}")
