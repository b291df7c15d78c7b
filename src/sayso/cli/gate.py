"""`sayso gate`: what a client's hook starts for each of its prompts, so that it is decided in the inbox as well."""

from __future__ import annotations

import click

from sayso.cli.gating import CLIENTS, run


@click.command()
@click.argument("client", type=click.Choice(list(CLIENTS)), metavar="CLIENT")
def command(client: str) -> None:
    """Bring a client's permission prompts into the inbox. Its hook runs it.

    It reads the event that the client hands to its hook, and waits until somebody decides: in the inbox, or in the
    prompt that the client shows itself. The first of the two wins. Where anything goes wrong the client's own prompt
    decides, unless a rule denies what could be read. `sayso install CLIENT --approvals` sets it up.

    \b
    Example:
      sayso gate claude-code < event.json
    """
    run(client)
