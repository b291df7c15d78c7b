"""`sayso show`: everything about one ask. Imports little: people look often."""

from __future__ import annotations

from sayso.asks.model import Ask, Event
from sayso.cli import declared
from sayso.cli.asks_in_words import described, event_line
from sayso.cli.program import settings
from sayso.cli.shared import complete_id, say_what_only_shows
from sayso.cli.terminal import bold, flowing, put, put_json, say
from sayso.cli.texts import tr
from sayso.clock import now_ms
from sayso.desks import open_desks
from sayso.text import iso_time


@declared.reader()
@declared.argument("ask_id", metavar="ID", shell_complete=complete_id)
@declared.option(
    "--events", "with_events", is_flag=True, help="Also what happened to it: when, what, by whom, from where."
)
@declared.option("--json", "as_json", is_flag=True, help="Print it as JSON, every text in full.")
@declared.option("--save", metavar="FOLDER", help="Save its pictures and files there, and print where each is.")
def command(ask_id: str, with_events: bool, as_json: bool, save: str | None) -> None:
    """Show everything about one ask.

    ID is the ask's id or the beginning of it.

    \b
    Example:
      sayso show 3f2a91bc
      sayso show 3f2a91bc --events --json
      sayso show 3f2a91bc --save pictures
    """
    with open_desks(settings(), only_looks=True) as desks:
        say_what_only_shows(desks)
        desks.asks.release_the_dead()
        ask = desks.asks.find(ask_id)
        events = desks.asks.events(ask.id) if with_events else []
        back = next((each.until for each in desks.asks.snoozed(desks.config.person) if each.ask.id == ask.id), None)
        if save:
            from sayso.cli.saving import save_files  # few asks have any

            save_files(desks.asks, ask, save)
            return
        has_pictures = not as_json and any(each.is_picture for each in (*ask.pictures(), *ask.attachments()))
        if has_pictures:
            from sayso.cli.terminal_pictures import show_pictures

            show_pictures(desks, ask)
    if as_json:
        from sayso.dialects.asks_as_data import ask_data, event_data

        data = {**ask_data(ask), "snoozed_until": iso_time(back)}
        put_json({**data, "events": [event_data(event) for event in events]} if with_events else data)
    else:
        _put_readable(ask, events, back)


def _put_readable(ask: Ask, events: list[Event], back: int | None) -> None:
    # What is to be allowed stands in a block of its own, where nothing is moved.
    put(flowing(described(ask)) if ask.wanted is None else described(ask))
    if back is not None:
        from sayso.moments import local, told

        when = told(local(back), local(now_ms()))
        put(tr("You have snoozed it until {when}. Put it back: sayso snooze {id} --end", when=when, id=ask.id[:8]))
    if events:
        put(flowing("\n".join(["", bold(tr("Events")), *(f"  {event_line(event)}" for event in events)])))
    if ask.state.answerable and ask.wanted is not None:
        say(tr("\nAllow it: sayso allow {id}    Deny it: sayso deny {id}", id=ask.id[:8]))
    elif ask.state.answerable:
        say(tr("\nAnswer it: sayso answer {id}    Turn it down: sayso reject {id}", id=ask.id[:8]))
