"""The table of commands, and what happens when none is named. Each command's module is imported when it is needed."""

from __future__ import annotations

from importlib import import_module, util

import click

from sayso import __version__
from sayso.cli.texts import mark

GROUPS = {
    mark("Answering"): (
        "list",
        "show",
        "answer",
        "reject",
        "allow",
        "deny",
        "history",
        "log",
        "rules",
        "agents",
        "away",
        "back",
    ),
    mark("Asking, and running commands"): ("ask", "tools", "ops", "trust"),
    mark("Connecting agents"): ("install", "uninstall", "doctor", "server", "guard", "hook", "gate"),
    mark("In the browser, and over the network"): ("web", "project", "sync-workspaces", "user", "token"),
    mark("Sayso itself"): ("config", "demo", "completion"),
}
"""In the order of the help. Each command is `command` in the module `sayso.cli.<name>`."""
COMMANDS = tuple(name for names in GROUPS.values() for name in names)
_WHOLE = 1_000
"""Characters of what is said about a command: all of it."""


def load(name: str) -> click.Command:
    """The command of that name, from the file that is called like it."""
    command: click.Command = import_module(f"sayso.cli.{name.replace('-', '_')}").command
    return command


class LazyGroup(click.Group):
    """Knows its commands by name and imports the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """In groups, with what each does told to its end."""
        width = max(map(len, COMMANDS))
        for heading, names in GROUPS.items():
            commands = {name: self.get_command(ctx, name) for name in names}
            with formatter.section(heading):
                formatter.write_dl(
                    [(name.ljust(width), found.get_short_help_str(_WHOLE)) for name, found in commands.items() if found]
                )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        from sayso.cli.help_page import spoken

        return spoken(load(cmd_name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            from sayso.text import did_you_mean

            hint = did_you_mean(args[0], COMMANDS, f"The commands are {', '.join(COMMANDS)}.")
            ctx.fail(f"There is no command {args[0]!r}. {hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def sayso(ctx: click.Context) -> None:
    """The line between coding agents and the people they work for.

    Agents ask questions, and you answer them here. Without a command it opens your inbox.

    \b
    Example:
      sayso demo                     see it work
      sayso install                  connect the agents on this machine
      sayso doctor                   what works, what does not, and how to fix it
      sayso list                     what agents want to know
      sayso answer 3f2a91bc          answer step by step
      sayso answer 3f2a91bc SQLite   answer right away
      sayso allow 3f2a91bc           see what an agent wants to do, and allow it
    """
    if ctx.invoked_subcommand is None:
        _inbox()


def root() -> click.Command:
    """The whole of it, in the person's language."""
    from sayso.cli.help_page import spoken

    return spoken(sayso)


def _inbox() -> None:
    """The terminal UI where there is one and a terminal to show it, else the list."""
    from sayso.cli.program import settings
    from sayso.cli.terminal import draws_screens

    config = settings()
    if draws_screens() and util.find_spec("sayso.tui") and util.find_spec("sayso.tui.app"):
        import_module("sayso.tui.app").run(config)
    else:
        from sayso.cli.list import show_inbox

        show_inbox(config)
