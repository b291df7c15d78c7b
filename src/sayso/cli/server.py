"""`sayso server`: the MCP server that an agent's client starts and speaks to over stdin and stdout."""

from __future__ import annotations

import sys

import click

from sayso.cli.session import settings
from sayso.cli.terminal import say
from sayso.log import set_up


@click.command()
@click.option("--profile", metavar="PROFILE", help="Which tools are shown, and in whose exact form.")
@click.option("--ask-timeout", metavar="TIME", help="How long a call waits for an answer: 90s, 10m, none.")
@click.option("--max-questions", metavar="N", help="The most questions in one call.")
@click.option("--max-options", metavar="N", help="The most options of one question.")
@click.option("--tools-dir", metavar="DIR", help="The directory of tool files, each of which makes tools of a command.")
@click.option("--log-level", metavar="LEVEL", help="How much is logged: debug, info, warning or error.")
@click.option("--log-file", metavar="FILE", help="Log to this file instead of stderr.")
def command(**flags: str | None) -> None:
    """Serve one agent over MCP on standard input and output.

    Agents' clients start this command themselves; you only tell them of it. It ends when the client does.

    \b
    Example:
      claude mcp add sayso -- sayso server
      sayso server --profile auq --ask-timeout 10m
    """
    config = settings(**flags)
    set_up(config.log_level, config.log_file)
    if sys.stdin and sys.stdin.isatty():
        say(
            "Waiting for an MCP client on standard input. Clients start this by themselves; `sayso demo` shows one.\n"
            "Ctrl-C ends it."
        )
    from sayso.mcp_server.pipes import claim_stdio

    # Before anything large is imported: what that might print must not reach the client.
    claimed = claim_stdio()
    import anyio

    from sayso.mcp_server.server import serve_stdio

    anyio.run(serve_stdio, config, claimed)
