"""`sayso completion`: the script that teaches a shell to complete this command."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from sayso.cli.terminal import put

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", metavar="SHELL", type=click.Choice(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the completion script for a shell.

    SHELL is bash, zsh or fish. It completes commands, options, the ids of open asks, and what answers one.

    \b
    Example:
      eval "$(sayso completion bash)"                                  in ~/.bashrc
      eval "$(sayso completion zsh)"                                   in ~/.zshrc
      sayso completion fish > ~/.config/fish/completions/sayso.fish    once
    """
    root = ctx.find_root()
    script = get_completion_class(shell)
    assert script is not None
    put(script(root.command, {}, root.info_name or "sayso", "_SAYSO_COMPLETE").source())
