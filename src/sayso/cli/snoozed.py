"""What a person has put off, as `sayso list` tells it. Imports little: people look often."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sayso.cli.terminal import say
from sayso.cli.texts import tr
from sayso.clock import now_ms
from sayso.desks import Desks
from sayso.text import iso_time

if TYPE_CHECKING:
    from sayso.asks.snoozing import Snoozed


def say_snoozed(desks: Desks) -> None:
    """How many there are, and how to see them."""
    if put_off := desks.asks.snoozed(desks.config.person):
        say(tr("{n} snoozed: sayso list --snoozed", n=len(put_off)))


def seconds_to_next(desks: Desks) -> float:
    """How long until the next one is back; endless where there is none."""
    put_off = desks.asks.snoozed(desks.config.person)
    return max(put_off[0].until - now_ms(), 0) / 1000 if put_off else float("inf")


def snoozed_data(snoozed: Snoozed) -> dict[str, Any]:
    from sayso.dialects.asks_as_data import ask_data

    return {**ask_data(snoozed.ask), "snoozed_until": iso_time(snoozed.until)}
