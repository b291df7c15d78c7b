"""What `sayso web` shows in a terminal: the link always, a code for the phone where a phone could open it."""

from __future__ import annotations

import pytest
from tests.e2e.stdio.harness import Place
from tests.e2e.terminal.harness import Terminal, terminal

BLOCKS = "█▀▄"
NETWORK = "sayso web --host 0.0.0.0 --port 0"


def shows_code(screen: Terminal) -> bool:
    return any(block in screen.screen() for block in BLOCKS)


@pytest.mark.finding("F-59")
def test_no_code_is_drawn_for_an_address_that_only_this_machine_has(place: Place) -> None:
    with terminal(place, (100, 50)) as anna:
        anna.start("sayso web --port 0")
        anna.sees(
            "/sign-in?link=",
            "To answer from your phone: sayso web --tunnel tailscale, or --host 0.0.0.0 in your own network",
        )
        assert not shows_code(anna)


@pytest.mark.finding("F-59")
def test_a_code_is_drawn_for_an_address_that_a_phone_can_open(place: Place) -> None:
    with terminal(place, (100, 50)) as anna:
        anna.start(NETWORK)
        anna.sees("/sign-in?link=", "█")


@pytest.mark.finding("F-69")
def test_a_code_never_pushes_the_link_off_the_screen(place: Place) -> None:
    with terminal(place, (60, 20)) as anna:
        anna.start(NETWORK)
        anna.sees("For a code to scan with your phone, make this window")
        assert "/sign-in?link=" in "".join(anna.screen().split())
        assert not shows_code(anna)
