"""`sayso reject`: turn an ask down."""

from __future__ import annotations

import click

from sayso.cli.program import settings
from sayso.cli.settling import reject, what_happens
from sayso.cli.shared import complete_id
from sayso.cli.terminal import put_json, say
from sayso.cli.values import STDIN, stdin_text
from sayso.desks import open_desks
from sayso.dialects.asks_as_data import ask_data


@click.command()
@click.argument("ask_id", metavar="ID", shell_complete=complete_id)
@click.option(
    "--reason", default="", metavar="TEXT", help="Why; the agent is told. With - it is read from standard input."
)
@click.option("--json", "as_json", is_flag=True, help="Print the rejected ask as JSON.")
def command(ask_id: str, reason: str, as_json: bool) -> None:
    """Reject an ask: the agent is told no, and why if you give a reason.

    ID is the ask's id or the beginning of it.

    \b
    Example:
      sayso reject 3f2a91bc --reason "Look it up in the README"
    """
    if reason == STDIN:
        reason = stdin_text()
    with open_desks(settings()) as desks:
        rejected = reject(desks, desks.asks.find(ask_id), reason)
    say(what_happens(rejected))
    if as_json:
        put_json(ask_data(rejected))
