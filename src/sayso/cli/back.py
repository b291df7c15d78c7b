"""`sayso back`: you are at your terminals again."""

from __future__ import annotations

import click

from sayso.agent_guard import refuse_agents
from sayso.cli.presence_words import presence_data
from sayso.cli.program import settings
from sayso.cli.shared import SURFACE
from sayso.cli.terminal import put_json, say
from sayso.cli.texts import tr, translated
from sayso.config import system_user
from sayso.desks import open_desks
from sayso.text import age


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print what holds now as JSON.")
def command(as_json: bool) -> None:
    """Say that you are back at your terminals.

    Agents' own prompts come there again. A key in the terminal of an agent says the same for that terminal, unless you
    have said sayso away.

    \b
    Example:
      sayso back
    """
    config = settings()
    with open_desks(config) as desks:
        refuse_agents(desks, "say whether a person is there")
        said = desks.presence.come_back(config.person, SURFACE)
        alone = desks.permissions.end_delegation(system_user())
    if as_json:
        put_json(presence_data(said))
    else:
        if alone:
            say(tr("Nobody decides in your place any more."))
        span = translated(age(config.away_after))
        say(tr("You are here. You count as away again {span} after your last key in an agent's terminal.", span=span))
