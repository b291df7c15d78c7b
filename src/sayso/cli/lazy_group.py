"""The commands as click reads them, and what happens when none is named. A command is imported when it is called."""

from __future__ import annotations

from importlib import import_module, util
from typing import TYPE_CHECKING, NoReturn

import click

from sayso import __version__
from sayso.cli.command_group import CommandGroup
from sayso.cli.command_table import ABOUT, COMMANDS, GROUPS, PLAIN
from sayso.cli.declared import Declared
from sayso.cli.texts import tr, translated

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

ONLY_READ = ("list", "show", "log", "agents", "config", "completion")
"""Commands that do nothing worth a line in a log, so that they need not load what keeps it out of the terminal."""

_INBOX = ("inbox", "tui", "ui", "open")
"""What people call the inbox, which opens without a command."""

_KNOWN_AS = {
    "approve": "allow",
    "connect": "install",
    "init": "install",
    "mcp": "server",
    "pending": "list",
    "permissions": "rules",
    "serve": "web",
    "settings": "config",
    "setup": "install",
    "start": "web",
    "status": "doctor",
    "try": "demo",
    "version": "--version",
}


def load(name: str) -> click.Command:
    """The command of that name, from the file that is called like it."""
    command: click.Command | Declared = import_module(f"sayso.cli.{name.replace('-', '_')}").command
    return command.in_click() if isinstance(command, Declared) else command


class LazyGroup(CommandGroup):
    """Knows its commands by name and imports the one that is called."""

    known_as = _KNOWN_AS

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """In groups, with what each does told to its end."""
        width = max(map(len, COMMANDS))
        for heading, commands in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), about) for name, about in commands.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        named = {name: about for name, about in COMMANDS.items() if name.startswith(incomplete)}
        return [CompletionItem(name, help=tr(about)) for name, about in named.items()] + click.Command.shell_complete(
            self, ctx, incomplete
        )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        from sayso.cli.help_page import spoken

        if cmd_name not in ONLY_READ:
            _keep_log_quiet()
        return spoken(load(cmd_name))

    def refuse(self, ctx: click.Context, word: str, names: list[str]) -> NoReturn:
        if word in _INBOX:
            ctx.fail(f"There is no command {word!r}. Your inbox opens with {ctx.info_name} alone.")
        super().refuse(ctx, word, names)


@click.group(
    cls=LazyGroup,
    help=ABOUT,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.option("--plain", is_flag=True, help=PLAIN)
@click.pass_context
def sayso(ctx: click.Context, plain: bool) -> None:
    if ctx.invoked_subcommand is not None and plain:
        raise click.UsageError("--plain is for the inbox: sayso --plain, without a command.")
    if ctx.invoked_subcommand is None:
        (_plain_inbox if plain else _inbox)()


def _keep_log_quiet() -> None:
    """What is worth a word here is told by the command itself; servers set up a log of their own."""
    import logging

    logging.getLogger("sayso").addHandler(logging.NullHandler())


def root() -> click.Command:
    """The whole of it, in the person's language."""
    from sayso.cli.help_page import spoken

    return spoken(sayso)


def _inbox() -> None:
    """The terminal UI where there is one and a terminal to show it, else the plain one."""
    from sayso.cli.program import settings
    from sayso.cli.terminal import draws_screens

    if draws_screens() and util.find_spec("sayso.tui") and util.find_spec("sayso.tui.app"):
        _keep_log_quiet()
        import_module("sayso.tui.app").run(settings(), translated=translated)
    else:
        _plain_inbox()


def _plain_inbox() -> None:
    from sayso.cli.plain_inbox import answer_line_by_line
    from sayso.cli.program import settings

    _keep_log_quiet()
    answer_line_by_line(settings())
