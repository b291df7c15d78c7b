"""What `sayso show` does, whoever read its options. Imports little: people look often."""

from __future__ import annotations

from sayso.asks.model import Ask, Event
from sayso.cli.asks_in_words import described, event_line
from sayso.cli.program import settings
from sayso.cli.terminal import bold, put, put_json, say
from sayso.cli.texts import tr
from sayso.desks import open_desks

OPTIONS = {"": ("ask_id", str), "--events": ("with_events", True), "--json": ("as_json", True), "--save": ("save", str)}


def run(ask_id: str, with_events: bool = False, as_json: bool = False, save: str | None = None) -> None:
    """Print everything about one ask."""
    with open_desks(settings()) as desks:
        desks.asks.release_the_dead()
        ask = desks.asks.find(ask_id)
        events = desks.asks.events(ask.id) if with_events else []
        if save:
            from sayso.cli.saving import save_files  # few asks have any

            save_files(desks.asks, ask, save)
            return
        has_pictures = not as_json and any(each.is_picture for each in (*ask.pictures(), *ask.attachments()))
        if has_pictures:
            from sayso.cli.terminal_pictures import show_pictures

            show_pictures(desks.asks, ask)
    if as_json:
        from sayso.dialects.asks_as_data import ask_data, event_data

        data = ask_data(ask)
        put_json({**data, "events": [event_data(event) for event in events]} if with_events else data)
    else:
        _put_readable(ask, events)


def _put_readable(ask: Ask, events: list[Event]) -> None:
    put(described(ask))
    if events:
        put("\n".join(["", bold(tr("Events")), *(f"  {event_line(event)}" for event in events)]))
    if ask.state.answerable and ask.wanted is not None:
        say(tr("\nAllow it: sayso allow {id}    Deny it: sayso deny {id}", id=ask.id[:8]))
    elif ask.state.answerable:
        say(tr("\nAnswer it: sayso answer {id}    Turn it down: sayso reject {id}", id=ask.id[:8]))
