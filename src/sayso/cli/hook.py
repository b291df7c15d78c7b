"""`sayso hook`: what Claude Code runs at an agent's steps, so that late answers find their agent."""

from __future__ import annotations

import click

from sayso.cli.late_answers import run


@click.command()
def command() -> None:
    """Hand late answers to the agent that asked. Claude Code runs it.

    It reads the event that Claude Code hands to hooks, and prints the answers that came after their calls had ended,
    each of them once. `sayso install claude-code --hook` sets it up.

    \b
    Example:
      echo '{"hook_event_name": "UserPromptSubmit", "cwd": "."}' | sayso hook
    """
    run()
