"""How presence is told at the command line: in a line for people, as data for scripts."""

from __future__ import annotations

from typing import Any

from sayso.cli.terminal import say
from sayso.cli.texts import tr
from sayso.clock import now_ms
from sayso.config import Config
from sayso.desks import Desks
from sayso.presence import Whereabouts
from sayso.text import iso_time


def say_absence(config: Config, desks: Desks) -> None:
    """Remind the person that they have said they are away, if that is so."""
    if said := desks.presence.absence(config.person):
        say(f"{absence_line(said)} {tr('Say that you are here again: sayso back')}")


def absence_line(said: Whereabouts) -> str:
    from sayso.moments import local, told  # most look while they are there

    now = local(now_ms())
    since = told(local(said.since), now)
    if said.until is None:
        return tr("You are away since {since}, until you are back.", since=since)
    return tr("You are away since {since}, until {until}.", since=since, until=told(local(said.until), now))


def presence_data(said: Whereabouts) -> dict[str, Any]:
    return {"away": said.away, "since": iso_time(said.since), "until": iso_time(said.until)}
