"""`sayso server`: the MCP server that an agent's client starts and speaks to over stdin and stdout."""

from __future__ import annotations

import gc
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sayso.cli.session import settings
from sayso.cli.terminal import say
from sayso.cli.texts import tr
from sayso.config import RELAYED_PROFILE, Config
from sayso.errors import ConfigError
from sayso.log import set_up
from sayso.mcp_server.front import Front

if TYPE_CHECKING:
    from sayso.agents.relay_file import RelayFile

_RELAY = "ASK_USER_CONFIG"
_SAID = ("--profile", "the command auq")
"""Where a profile comes from that was meant for this very start."""


@click.command()
@click.option("--profile", metavar="PROFILE", help="Which tools are shown, and in whose exact form.")
@click.option("--ask-timeout", metavar="TIME", help="How long a call waits for an answer: 90s, 10m, none.")
@click.option("--max-questions", metavar="N", help="The most questions in one call.")
@click.option("--max-options", metavar="N", help="The most options of one question.")
@click.option("--tools-dir", metavar="DIR", help="The directory of tool files, each of which makes tools of a command.")
@click.option("--approve", is_flag=True, default=None, help="List the tool for permission prompts.")
@click.option("--lean", is_flag=True, default=None, help="List ask_user and get_answers alone.")
@click.option("--log-level", metavar="LEVEL", help="How much is logged: debug, info, warning or error.")
@click.option("--log-file", metavar="FILE", help="Log to this file instead of stderr.")
@click.pass_obj
def command(front: Front | None, /, **flags: str | None) -> None:
    """Serve one agent over MCP on standard input and output.

    Agents' clients start this command themselves; `sayso install` tells them how. It ends when the client does. With
    ASK_USER_CONFIG in the environment, questions go to the web page that the file of that name tells of.

    \b
    Example:
      claude mcp add sayso -- sayso server
      sayso server --profile auq --ask-timeout 10m
    """
    begun = time.time()
    # All that is imported from here on stays.
    gc.disable()
    config, relay = _for_relay(settings(**flags))
    set_up(config.log_level, config.log_file)
    if sys.stdin and sys.stdin.isatty():
        say(
            tr("Waiting for an MCP client on standard input. Clients start this by themselves; `sayso demo` shows one.")
        )
        say(tr("Ctrl-C ends it."))
    from sayso.mcp_server.claim import claim_stdio

    # Before anything large is imported: what that might print must not reach the client.
    fds = front.fds if front else claim_stdio()
    import anyio

    from sayso.mcp_server.replay import Replay, keeper
    from sayso.mcp_server.server import serve_stdio
    from sayso.mcp_server.transport import StdioTransport

    replay = Replay(front.answered if front else (), keeper(config, begun))

    async def serve() -> None:
        heard = front.heard if front else b""
        await serve_stdio(config, StdioTransport(read_fd=fds[0], write_fd=fds[1], heard=heard, replay=replay), relay)

    anyio.run(serve)


def _for_relay(config: Config) -> tuple[Config, RelayFile | None]:
    """The settings under a relay, and what its file says. Where another profile was asked for by the command itself,
    the file only tells which run the agent works in, and need not be there."""
    named = os.environ.get(_RELAY)
    if not named:
        return config, None
    if config.sources.get("profile") not in _SAID:
        config = replace(config, profile=RELAYED_PROFILE, sources={**config.sources, "profile": _RELAY})
    from sayso.agents import relay_file

    try:
        return config, relay_file.read(Path(named))
    except ConfigError:
        if config.profile == RELAYED_PROFILE:
            raise
        return config, None
