"""`sayso away`: you are not at your terminals; what agents ask waits in the inbox, and you are notified at once."""

from __future__ import annotations

from datetime import datetime

import click

from sayso.agent_guard import refuse_agents
from sayso.cli.presence_words import absence_line, presence_data
from sayso.cli.program import settings
from sayso.cli.shared import SURFACE
from sayso.cli.terminal import put_json, say
from sayso.cli.texts import tr
from sayso.config import system_user
from sayso.desks import Desks, open_desks
from sayso.errors import InvalidInput, Problem
from sayso.moments import milliseconds, moment
from sayso.text import quoted, spelt_out


@click.command()
@click.option("--until", metavar="WHEN", help="Come back by yourself then: 18:00, 2h, tomorrow, monday, a date.")
@click.option("--delegate", metavar="NAME", help="Let NAME decide in your place until then, where rules name you.")
@click.option("--json", "as_json", is_flag=True, help="Print what holds now as JSON.")
def command(until: str | None, delegate: str | None, as_json: bool) -> None:
    """Say that you are away: what agents ask waits in the inbox.

    You are notified of it at once. Clients that can ask in one place only ask in the inbox while you are away, and in
    their own terminal while you are there. It holds until you say sayso back, or until WHEN. Answering from your phone
    does not end it.

    With --delegate, NAME's yes counts in your place where a rule names you as an approver, until then or until you say
    sayso back.

    \b
    Example:
      sayso away
      sayso away --until 18:00
      sayso away --until monday
      sayso away --until monday --delegate bo
    """
    config = settings()
    end = _moment(until) if until is not None else None
    if delegate is not None and end is None:
        raise click.UsageError(tr("--delegate takes --until: say how long {name} decides for you.", name=delegate))
    with open_desks(config) as desks:
        refuse_agents(desks, "say whether a person is there")
        if delegate is not None and end is not None:
            _check_delegate(desks, delegate)
            desks.permissions.delegate(system_user(), delegate, end)
        said = desks.presence.go_away(config.person, SURFACE, end)
    if as_json:
        put_json(presence_data(said))
    else:
        say(absence_line(said))
        if delegate:
            who = {"name": spelt_out(delegate), "you": system_user()}
            say(tr("{name} decides in your place, where rules name {you}.", **who))
        say(tr("Say that you are here again: sayso back"))


def _check_delegate(desks: Desks, name: str) -> None:
    """A name that nobody has would let nobody decide. Others of a shared store may be unknown to it so far."""
    users = [user for user in desks.accounts.users() if user.revoked_at is None]
    people = {system_user(), *(called for user in users for called in (user.name, user.account) if called)}
    if name in people:
        return
    if desks.config.store:
        say(tr("Nobody called {name} has signed in here so far. Is the name right?", name=quoted(name)))
        return
    text = tr("nobody here is called {name}; `sayso user list` shows who can sign in.", name=quoted(name))
    raise InvalidInput([Problem(path="--delegate", text=text)])


def _moment(until: str) -> int:
    try:
        return milliseconds(moment(until, datetime.now()))
    except ValueError as error:
        raise click.BadParameter(
            tr("{given} is not a moment to come. It takes {allowed}.", given=repr(until), allowed=tr(str(error))),
            param_hint="--until",
        ) from error
