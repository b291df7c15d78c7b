"""The table of commands, and what happens when none is named. Each command's module is imported when it is needed."""

from __future__ import annotations

from importlib import import_module, util
from typing import TYPE_CHECKING

import click

from sayso import __version__
from sayso.cli.texts import mark, tr

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

GROUPS = {
    mark("Answering"): {
        "list": mark("Show the asks that can be answered."),
        "show": mark("Show everything about one ask."),
        "answer": mark("Answer an ask."),
        "reject": mark("Reject an ask: the agent is told no, and why if you give a reason."),
        "snooze": mark("Put an ask off: it is not in your inbox until WHEN."),
        "allow": mark("Allow what an agent wants to do, exactly as it is shown."),
        "deny": mark("Deny what an agent wants to do, and say why if you like."),
        "history": mark("Show finished asks, newest first."),
        "log": mark("Show what was allowed and denied, and what ran, newest last."),
        "rules": mark("Show the rules that hold here, and how often each decided."),
        "agents": mark("Show the agents at work, those that wait for you first."),
        "away": mark("Say that you are away: what agents ask waits in the inbox."),
        "back": mark("Say that you are back at your terminals."),
    },
    mark("Asking, and running commands"): {
        "ask": mark("Ask a person a question and wait for the answer."),
        "tools": mark("Turn commands into tools for agents with JSON files."),
        "ops": mark("See and stop the commands that agents run."),
        "trust": mark("Look at what a project brings, and let Sayso use it."),
    },
    mark("Connecting agents"): {
        "install": mark("Register Sayso with the agents on this machine."),
        "uninstall": mark("Remove Sayso from agents' configurations."),
        "doctor": mark("See what works, what does not, and how to fix it."),
        "server": mark("Serve one agent over MCP on standard input and output."),
        "guard": mark("Put another MCP server behind a gate."),
        "hook": mark("Hand late answers to the agent that asked."),
        "gate": mark("Bring a client's permission prompts into the inbox."),
    },
    mark("In the browser, and over the network"): {
        "web": mark("Serve the inbox to your browser, and the MCP tools over HTTP."),
        "project": mark("Manage the directories in which the web page may start agents."),
        "sync-workspaces": mark("The same as `sayso project sync`, as PromptManager calls it."),
        "user": mark("Manage who may sign in to the web inbox."),
        "chat": mark("Be asked in a chat, and answer there."),
        "token": mark("Manage which agents may connect over HTTP."),
    },
    mark("Sayso itself"): {
        "config": mark("Show each setting, its value and where it comes from."),
        "backup": mark("Copy all that Sayso keeps into one file."),
        "restore": mark("Put back what a backup has."),
        "demo": mark("See Sayso work: a sample agent asks you three questions."),
        "completion": mark("Print the completion script for a shell."),
    },
}
"""The commands with what each does, in the order of the help. Each is `command` in the module `sayso.cli.<name>`, and
says the same of itself there; here it is told without importing any."""
COMMANDS = {name: about for commands in GROUPS.values() for name, about in commands.items()}
ONLY_READ = ("list", "show", "log", "agents", "config", "completion")
"""Commands that do nothing worth a line in a log, so that they need not load what keeps it out of the terminal."""


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
@click.option("--plain", is_flag=True, help="The inbox line by line, for screen readers and simple terminals.")
@click.pass_context
def sayso(ctx: click.Context, plain: bool) -> None:
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
        import_module("sayso.tui.app").run(settings())
    else:
        _plain_inbox()


def _plain_inbox() -> None:
    from sayso.cli.plain_inbox import answer_line_by_line
    from sayso.cli.program import settings

    _keep_log_quiet()
    answer_line_by_line(settings())
