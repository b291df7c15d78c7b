"""`sayso deny`: keep an agent from doing what it asked for."""

from __future__ import annotations

import click

from sayso.cli.program import settings
from sayso.cli.settling import check_permission, deny, what_happens
from sayso.cli.shared import complete_permission
from sayso.cli.terminal import put_json, say
from sayso.cli.values import STDIN, stdin_text
from sayso.desks import open_desks
from sayso.dialects.asks_as_data import ask_data


@click.command()
@click.argument("ask_id", metavar="ID", shell_complete=complete_permission)
@click.option(
    "--because", default="", metavar="TEXT", help="Why; the agent is told. With - it is read from standard input."
)
@click.option("--json", "as_json", is_flag=True, help="Print the denied ask as JSON.")
def command(ask_id: str, because: str, as_json: bool) -> None:
    """Deny what an agent wants to do, and say why if you like.

    ID is the ask's id or the beginning of it.

    \b
    Example:
      sayso deny 3f2a91bc --because "Use make clean"
    """
    if because == STDIN:
        because = stdin_text()
    with open_desks(settings()) as desks:
        ask = desks.asks.find(ask_id)
        check_permission(desks, ask)
        denied = deny(desks, ask, because)
    say(what_happens(denied))
    if as_json:
        put_json(ask_data(denied))
