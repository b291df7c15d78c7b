"""`sayso show`: everything about one ask. What is done is in showing.py."""

from __future__ import annotations

import click

from sayso.cli.shared import complete_id
from sayso.cli.showing import run


@click.command()
@click.argument("ask_id", metavar="ID", shell_complete=complete_id)
@click.option(
    "--events", "with_events", is_flag=True, help="Also what happened to it: when, what, by whom, from where."
)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON, every text in full.")
@click.option("--save", metavar="FOLDER", help="Save its pictures and files there, and print where each is.")
def command(ask_id: str, with_events: bool, as_json: bool, save: str | None) -> None:
    """Show everything about one ask.

    ID is the ask's id or the beginning of it.

    \b
    Example:
      sayso show 3f2a91bc
      sayso show 3f2a91bc --events --json
      sayso show 3f2a91bc --save pictures
    """
    run(ask_id, with_events, as_json, save)
