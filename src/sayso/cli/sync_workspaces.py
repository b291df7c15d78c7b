"""`sayso sync-workspaces`: PromptManager's name for `sayso project sync`."""

from __future__ import annotations

import click

from sayso.cli.project import sync


@click.command()
def command() -> None:
    """The same as `sayso project sync`, as PromptManager calls it.

    \b
    Example:
      sayso sync-workspaces
    """
    sync.does()
