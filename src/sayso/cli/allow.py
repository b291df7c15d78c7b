"""`sayso allow`: let an agent do exactly what it asked for."""

from __future__ import annotations

from typing import NoReturn

import click

from sayso.asks.model import Ask
from sayso.cli.action_card import action_card, confirmed_by_person, edit_card
from sayso.cli.asks_in_words import asked_by
from sayso.cli.program import settings
from sayso.cli.settling import Settling, what_happens
from sayso.cli.shared import complete_permission
from sayso.cli.terminal import is_interactive, put, put_json, say
from sayso.cli.texts import tr
from sayso.desks import Desks, open_desks
from sayso.dialects.asks_as_data import ask_data
from sayso.permissions.action import Action, AllowScope
from sayso.permissions.quorum_words import progress

NOTHING_DECIDED = 1
REACHES = ("session", "project", "everywhere")
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
@click.option(
    "--like",
    "rule",
    is_flag=False,
    flag_value="",
    metavar="[RULE]",
    help="Allow from now on what RULE means, too. Without it, rules are proposed.",
)
@click.option(
    "--for",
    "reach",
    type=click.Choice(REACHES),
    help="Where the rule of --like holds: this session, this project, or everywhere.",
)
@click.option("--take-back", "takes_back", is_flag=True, help="Take your yes back, while others have yet to agree.")
@click.option("--json", "as_json", is_flag=True, help="Print the allowed ask as JSON.")
def command(
    ask_id: str,
    digest: str,
    scope: str | None,
    edit: bool,
    input_file: str | None,
    rule: str | None,
    reach: str | None,
    takes_back: bool,
    as_json: bool,
) -> None:
    """Allow what an agent wants to do, exactly as it is shown.

    ID is the ask's id or the beginning of it. In a terminal the whole action is shown, and y allows it. Without one,
    --digest names the action that you looked at; another action than that is refused.

    Where the agent's client takes it, you can change what would be done and allow that: --edit, or --input from a
    script. What is recorded, and done, is the changed action.

    --like also adds a rule, so that you are not asked again for what it means. You see what it would have matched in
    the last 30 days before you say y. Several patterns stand on a line each.

    Where your rules say who has to agree, yours is one yes. It can be taken back until there are enough.

    \b
    Example:
      sayso allow 3f2a91bc
      sayso show 3f2a91bc --json > wanted.json
      sayso allow 3f2a91bc --digest "$(jq -r .digest wanted.json)"
      sayso allow 3f2a91bc --edit
      sayso allow 3f2a91bc --like
      sayso allow 3f2a91bc --like 'Bash(npm test *)' --for project
    """
    _check_options(rule, reach, edit or input_file or scope)
    if edit and (input_file or digest):
        raise click.UsageError(_ONE_WAY)
    with open_desks(settings()) as desks:
        ask = desks.asks.find(ask_id)
        settling = Settling.of_permission(desks, ask)
        if takes_back:
            _take_back(settling, as_json)
            return
        settling.refuse_late_yes()
        if rule is not None:
            allowed = _allowed_like(desks, settling, digest, rule, reach)
        else:
            instead = _instead(desks, ask, edit, input_file)
            if not digest and not _agreed(ask, instead):
                _leave(ask)
            allowed = settling.allow(digest or ask.digest, AllowScope(scope) if scope else None, instead)
    say(what_happens(allowed))
    if rule is not None:
        say(tr("The rule holds from now on. See all of them: sayso rules"))
    if as_json:
        put_json(ask_data(allowed))


def _check_options(rule: str | None, reach: str | None, others: object) -> None:
    if reach and rule is None:
        raise click.UsageError("--for says where the rule of --like holds; give --like as well.")
    if rule is not None and others:
        raise click.UsageError("--like goes with none of --edit, --input and --scope: it allows this once, as it is.")


def _allowed_like(desks: Desks, settling: Settling, digest: str, text: str, reach: str | None) -> Ask:
    from sayso.cli.like_prompts import rule_of_person, rule_of_script  # only for those who make a rule

    ask = settling.ask
    rule = rule_of_script(text, reach) if digest else rule_of_person(desks, ask, text, reach)
    if rule is None:
        _leave(ask)
    return settling.allow_like(digest or ask.digest, rule)


def _leave(ask: Ask) -> NoReturn:
    say(tr("Nothing was decided. Deny it: sayso deny {id}", id=ask.id[:8]))
    raise click.exceptions.Exit(NOTHING_DECIDED)


def _take_back(settling: Settling, as_json: bool) -> None:
    left = settling.take_back()
    say(tr("Your yes is taken back. Agreed so far: {progress}.", progress=progress(left)))
    if as_json:
        put_json(ask_data(left))


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
