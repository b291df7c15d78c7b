"""`sayso allow`: let an agent do exactly what it asked for."""

from __future__ import annotations

import click

from sayso.asks.model import Ask
from sayso.cli.action_card import confirmed_by_person
from sayso.cli.asks_in_words import asked_by
from sayso.cli.program import settings
from sayso.cli.settling import allow, check_permission, what_happens
from sayso.cli.shared import complete_permission
from sayso.cli.terminal import is_interactive, put, put_json, say
from sayso.cli.texts import tr
from sayso.desks import open_desks
from sayso.dialects.asks_as_data import ask_data
from sayso.permissions.action import AllowScope

NOTHING_DECIDED = 1


@click.command()
@click.argument("ask_id", metavar="ID", shell_complete=complete_permission)
@click.option("--digest", default="", metavar="DIGEST", help="What you looked at, as `sayso show` named it.")
@click.option(
    "--scope",
    type=click.Choice([scope.value for scope in AllowScope]),
    help="How far it goes; without it, as far as the agent asked for.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the allowed ask as JSON.")
def command(ask_id: str, digest: str, scope: str | None, as_json: bool) -> None:
    """Allow what an agent wants to do, exactly as it is shown.

    ID is the ask's id or the beginning of it. In a terminal the whole action is shown, and y allows it. Without one,
    --digest names the action that you looked at; another action than that is refused.

    \b
    Example:
      sayso allow 3f2a91bc
      sayso allow 3f2a91bc --digest "$(sayso show 3f2a91bc --json | jq -r .digest)"
    """
    with open_desks(settings()) as desks:
        ask = desks.asks.find(ask_id)
        check_permission(desks, ask)
        if not digest and not _agreed(ask):
            say(tr("Nothing was decided. Deny it: sayso deny {id}", id=ask.id[:8]))
            raise click.exceptions.Exit(NOTHING_DECIDED)
        allowed = allow(desks, ask, digest or ask.digest, AllowScope(scope) if scope else None)
    say(what_happens(allowed))
    if as_json:
        put_json(ask_data(allowed))


def _agreed(ask: Ask) -> bool:
    if not is_interactive():
        raise click.UsageError(
            f"Without a terminal name what you looked at: sayso allow {ask.id[:8]} --digest DIGEST. "
            f"`sayso show {ask.id[:8]}` shows the whole action with its digest."
        )
    put(asked_by(ask))
    return confirmed_by_person(ask)
