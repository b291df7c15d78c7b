"""`sayso guard`: another MCP server behind a gate: each call of its tools is asked first."""

from __future__ import annotations

import click

from sayso.cli.guarding import guard


@click.command(context_settings={"ignore_unknown_options": False})
@click.option("--name", metavar="NAME", default="", help="What the server is called in the inbox and in rules.")
@click.argument("words", metavar="-- COMMAND [ARGUMENT]...", nargs=-1, required=True, type=click.UNPROCESSED)
def command(name: str, words: tuple[str, ...]) -> None:
    """Put another MCP server behind a gate.

    Agents' clients start this command in the place of the server; `sayso install CLIENT --guard NAME` tells them so.
    Everything passes, but each call of a tool is a permission that you allow or deny first. What the server says of
    its tools is shown to you before any agent sees it, and again when it changes.

    \b
    Example:
      sayso guard --name files -- npx -y @modelcontextprotocol/server-filesystem ~/shop
      sayso install claude-code --guard files
    """
    raise click.exceptions.Exit(guard(name, words))
