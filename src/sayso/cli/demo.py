"""`sayso demo`: a sample agent asks, you answer, and you see what the agent received. It leaves nothing behind.

With --web the page is served as well; that is in demo_web.py.
"""

from __future__ import annotations

import os
import sys
import threading

import click

from sayso.asks.model import Ask, State
from sayso.cli.connecting import typed_here
from sayso.cli.demo_stage import ScriptedAgent, scripted_agent, stage
from sayso.cli.demo_words import HANDOVER_SECONDS, from_prompts, goodbye, told
from sayso.cli.terminal import flowing, is_interactive, put
from sayso.cli.texts import tr
from sayso.desks import Desks, open_desks

PATIENCE_SECONDS = 600.0


@click.command()
@click.option("--web", is_flag=True, help="Serve the page too: answer there or in the terminal.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    metavar="N",
    help="Port of the page. By default any free one.",
)
def command(web: bool, port: int) -> None:
    """See Sayso work: a sample agent asks you three questions.

    The agent is a real MCP client that starts a real server. Everything happens in a temporary folder that is
    removed at the end. Without a terminal nothing is answered for you: the demo says how to answer from another
    one, and waits while standard input is open, for ten minutes at most. With --web and without a terminal it plays
    the person as well, and ends.

    \b
    Example:
      sayso demo
      sayso demo --web
    """
    if web:
        from sayso.cli.demo_web import play

        play(port)
    else:
        _at_prompts()


def _at_prompts() -> None:
    with stage() as config, open_desks(config) as desks, scripted_agent(config) as agent:
        put(flowing(tr("The sample agent is starting. It connects to `sayso server` over MCP and asks…") + "\n"))
        ask = agent.first_ask(desks)
        received = from_prompts(desks, ask, agent) if is_interactive() else _from_elsewhere(desks, ask, agent)
    put(told(received))
    put(goodbye())


def _from_elsewhere(desks: Desks, ask: Ask, agent: ScriptedAgent) -> str | None:
    """What the agent received of what was answered in another terminal while we waited."""
    put(tr("There is no terminal here to answer in, and nothing is answered for you. Answer from another one:"))
    command = f"SAYSO_STATE_DIR={desks.config.state_dir} {typed_here()} answer {ask.id[:8]}"
    put(f"\n  {command}\n")
    put(tr("Waiting while standard input is open, for ten minutes at most."))
    threading.Thread(target=_watch_stdin, args=(agent,), daemon=True).start()
    received = agent.received(PATIENCE_SECONDS)
    # What was answered as the waiting ended is on its way to the agent.
    if received is None and desks.asks.get(ask.id).state is not State.PENDING:
        return agent.received(HANDOVER_SECONDS)
    return received


def _watch_stdin(agent: ScriptedAgent) -> None:
    # Closed from the beginning, its number may belong to another file by now.
    while sys.stdin and os.read(0, 1024):
        pass
    agent.stop_waiting()
