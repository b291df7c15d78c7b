"""The agents at work in the terminal inbox, and the key by which a person is away or back."""

from __future__ import annotations

import pytest
from tests.asks.samples import ask, living
from tests.tui.harness import Place

from sayso.asks.desk import AskDesk
from sayso.asks.model import Asker
from sayso.presence import PresenceDesk
from sayso.roster import Roster

pytestmark = pytest.mark.anyio


def agent(session: str) -> Asker:
    """One that lives as long as this test."""
    return living(session=session, project="/home/ada/shop", branch="main")


@pytest.mark.finding("F-70")
async def test_agents_at_work_are_told_apart_and_what_one_waits_for_is_opened(place: Place) -> None:
    roster = Roster(place.store)
    roster.note_gate(agent("of-111111"), "Bash: npm test\x1b[31m")
    async with place.inbox() as anna:
        await anna.press("a")
        await anna.sees("Agents at work", "last: Bash: npm test<U+001B>[31m", "111111")
        await anna.press("enter")
        await anna.sees("claude-code 111111", "/home/ada/shop", "on main")
        await anna.press("escape")
        AskDesk(place.store).hold(ask("Which colour?", asker=agent("of-222222")))
        await anna.sees("waits for you", "222222")
        await anna.press("g", "enter")
        await anna.sees("Red", "Blue")


async def test_a_key_says_away_and_back_and_each_time_how_to_undo_it(place: Place) -> None:
    presence = PresenceDesk(place.store, away_after=1000)
    async with place.inbox() as anna:
        await anna.press("w")
        await anna.sees("you are away", "You are away from now on", "w: back")
        assert presence.absence(place.config.person)
        await anna.press("w")
        await anna.sees("You are back")
        await anna.sees_not("you are away")
        assert presence.absence(place.config.person) is None
