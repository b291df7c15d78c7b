"""`sayso deny`: keep an agent from doing what it asked for."""

from __future__ import annotations

import click

from sayso.cli.refusing import refused, tell
from sayso.cli.settling import Settling
from sayso.cli.shared import complete_permission


@click.command()
@click.argument("ask_id", metavar="ID", shell_complete=complete_permission)
@click.option(
    "--because", default="", metavar="TEXT", help="Why; the agent is told. With - it is read from standard input."
)
@click.option("--json", "as_json", is_flag=True, help="Print the denied ask as JSON.")
def command(ask_id: str, because: str, as_json: bool) -> None:
    """Deny what an agent wants to do, and say why if you like.

    ID is the id of a permission or the beginning of it. A question is rejected instead: sayso reject.

    \b
    Example:
      sayso deny 3f2a91bc --because "Use make clean"
    """
    tell(refused(ask_id, "--because", because, Settling.of_permission), as_json)
