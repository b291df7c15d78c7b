"""`sayso server`: the MCP server that an agent's client starts and speaks to over stdin and stdout."""

from __future__ import annotations

from collections.abc import Callable

import click

from sayso.cli.serving import OPTIONS, serve


def _with_options(command: Callable[..., None]) -> Callable[..., None]:
    for name, metavar, about in reversed(OPTIONS):
        if metavar:
            command = click.option(name, metavar=metavar, help=about)(command)
        else:
            command = click.option(name, is_flag=True, default=None, help=about)(command)
    return command


@click.command()
@_with_options
def command(**flags: str | None) -> None:
    """Serve one agent over MCP on standard input and output.

    Agents' clients start this command themselves; `sayso install` tells them how. It ends when the client does. With
    ASK_USER_CONFIG in the environment, questions go to the web page that the file of that name tells of.

    \b
    Example:
      claude mcp add sayso -- sayso server
      sayso server --profile auq --ask-timeout 10m
    """
    serve(**flags)
