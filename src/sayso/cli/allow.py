"""`sayso allow`: let an agent do exactly what it asked for."""

from __future__ import annotations

import click

from sayso.asks.model import Ask
from sayso.cli.action_card import action_card, confirmed_by_person, edit_card
from sayso.cli.asks_in_words import asked_by
from sayso.cli.program import settings
from sayso.cli.settling import allow, check_permission, what_happens
from sayso.cli.shared import complete_permission
from sayso.cli.terminal import is_interactive, put, put_json, say
from sayso.cli.texts import tr
from sayso.desks import Desks, open_desks
from sayso.dialects.asks_as_data import ask_data
from sayso.permissions.action import Action, AllowScope

NOTHING_DECIDED = 1
_ONE_WAY = "--edit goes neither with --input nor with --digest: you look at what you have edited, and say y."


@click.command()
@click.argument("ask_id", metavar="ID", shell_complete=complete_permission)
@click.option("--digest", default="", metavar="DIGEST", help="What you looked at, as `sayso show` named it.")
@click.option(
    "--scope",
    type=click.Choice([scope.value for scope in AllowScope]),
    help="How far it goes; without it, as far as the agent asked for.",
)
@click.option("--edit", is_flag=True, help="Change it in your editor first; then you see all of it again.")
@click.option(
    "--input",
    "input_file",
    metavar="FILE",
    help="Allow it with the input in FILE instead, as JSON. With - it is read from standard input.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the allowed ask as JSON.")
def command(ask_id: str, digest: str, scope: str | None, edit: bool, input_file: str | None, as_json: bool) -> None:
    """Allow what an agent wants to do, exactly as it is shown.

    ID is the ask's id or the beginning of it. In a terminal the whole action is shown, and y allows it. Without one,
    --digest names the action that you looked at; another action than that is refused.

    Where the agent's client takes it, you can change what would be done and allow that: --edit, or --input from a
    script. What is recorded, and done, is the changed action.

    \b
    Example:
      sayso allow 3f2a91bc
      sayso show 3f2a91bc --json > wanted.json
      sayso allow 3f2a91bc --digest "$(jq -r .digest wanted.json)"
      sayso allow 3f2a91bc --edit
    """
    if edit and (input_file or digest):
        raise click.UsageError(_ONE_WAY)
    with open_desks(settings()) as desks:
        ask = desks.asks.find(ask_id)
        check_permission(desks, ask)
        instead = _instead(desks, ask, edit, input_file)
        if not digest and not _agreed(ask, instead):
            say(tr("Nothing was decided. Deny it: sayso deny {id}", id=ask.id[:8]))
            raise click.exceptions.Exit(NOTHING_DECIDED)
        allowed = allow(desks, ask, digest or ask.digest, AllowScope(scope) if scope else None, instead)
    say(what_happens(allowed))
    if as_json:
        put_json(ask_data(allowed))


def _instead(desks: Desks, ask: Ask, edit: bool, input_file: str | None) -> Action | None:
    """What is to be allowed in the place of what the agent wants, if anything is."""
    if not edit and input_file is None:
        return None
    from sayso.cli.action_editing import edited_by_person, with_input  # only for those who change something

    return edited_by_person(desks, ask) if input_file is None else with_input(ask, input_file)


def _agreed(ask: Ask, instead: Action | None) -> bool:
    if not is_interactive():
        raise click.UsageError(
            f"Without a terminal name what you looked at: sayso allow {ask.id[:8]} --digest DIGEST. "
            f"`sayso show {ask.id[:8]}` shows the whole action with its digest."
        )
    put(asked_by(ask))
    return confirmed_by_person(edit_card(ask, instead) if instead else action_card(ask))
