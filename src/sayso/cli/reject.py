"""`sayso reject`: turn an ask down."""

from __future__ import annotations

import click

from sayso.cli.refusing import refused, tell
from sayso.cli.settling import Settling
from sayso.cli.shared import complete_id


@click.command()
@click.argument("ask_id", metavar="ID", shell_complete=complete_id)
@click.option(
    "--reason", default="", metavar="TEXT", help="Why; the agent is told. With - it is read from standard input."
)
@click.option("--json", "as_json", is_flag=True, help="Print the rejected ask as JSON.")
def command(ask_id: str, reason: str, as_json: bool) -> None:
    """Reject an ask: the agent is told no, and why if you give a reason.

    ID is the ask's id or the beginning of it. A permission is denied by it, as by sayso deny.

    \b
    Example:
      sayso reject 3f2a91bc --reason "Look it up in the README"
    """
    tell(refused(ask_id, "--reason", reason, Settling), as_json)
