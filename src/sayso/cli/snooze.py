"""`sayso snooze`: put an ask off, so that it is not in your inbox for a while."""

from __future__ import annotations

from datetime import datetime

import click

from sayso.agent_guard import refuse_agents
from sayso.cli.program import settings
from sayso.cli.shared import complete_id
from sayso.cli.snoozed import snoozed_data
from sayso.cli.terminal import put_json, say
from sayso.cli.texts import tr
from sayso.clock import now_ms
from sayso.desks import Desks, open_desks
from sayso.moments import local, milliseconds, moment, told


@click.command()
@click.argument("ask_id", metavar="ID", shell_complete=complete_id)
@click.argument("when", metavar="[WHEN]", default="1h")
@click.option("--end", is_flag=True, help="Put it back into your inbox now.")
@click.option("--json", "as_json", is_flag=True, help="Print the ask, with when it comes back, as JSON.")
def command(ask_id: str, when: str, end: bool, as_json: bool) -> None:
    """Put an ask off: it is not in your inbox until WHEN.

    ID is the ask's id or the beginning of it. WHEN is a while (20m, 1h), a time (18:00), or a day (tomorrow, monday),
    which means 8:00 in the morning. Without it, an hour.

    It is put off for you alone, in the terminal and in the browser. Its agent is told nothing, and waits on if it
    waits. It comes back earlier when there is news of it, and five minutes before its agent stops waiting.

    \b
    Example:
      sayso snooze 3f2a91bc
      sayso snooze 3f2a91bc tomorrow
      sayso snooze 3f2a91bc --end
    """
    config = settings()
    until = _moment(when)
    with open_desks(config) as desks:
        refuse_agents(desks, "put off what a person is asked")
        ask = desks.asks.find(ask_id)
        if end:
            _end(desks, ask.id)
            return
        snoozed = desks.asks.snooze(ask.id, config.person, until)
    if as_json:
        put_json(snoozed_data(snoozed))
        return
    shown = told(local(snoozed.until), local(now_ms()))
    if snoozed.until < until:
        say(tr("Snoozed until {until}, because its agent stops waiting five minutes later.", until=shown))
    else:
        say(tr("Snoozed until {until}. Its agent is told nothing.", until=shown))


def _end(desks: Desks, ask_id: str) -> None:
    if desks.asks.wake(ask_id, desks.config.person):
        say(tr("It is back in your inbox."))
    else:
        say(tr("It was not snoozed."))


def _moment(when: str) -> int:
    try:
        return milliseconds(moment(when, datetime.now()))
    except ValueError as error:
        raise click.BadParameter(
            tr("{given} is not a moment to come. It takes {allowed}.", given=repr(when), allowed=tr(str(error))),
            param_hint="WHEN",
        ) from error
