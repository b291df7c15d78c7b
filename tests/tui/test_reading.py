"""Texts longer than their place are read by keys, to their last line, whatever came before the screen was drawn."""

from __future__ import annotations

import pytest
from tests.tui.harness import NAME, Place, select, until
from tests.tui.test_permissions import shell, wanted

from sayso.asks.model import Ask, State
from sayso.records import replace
from sayso.tui.markdown import Block
from sayso.tui.outline import preview
from sayso.tui.shared import Shared
from sayso.tui.step import Step

pytestmark = pytest.mark.anyio
MANY_LINES = shell("\n".join(f"echo {number}" for number in range(90)))
LONG = "\n\n".join(f"Paragraph {number}." for number in range(60))


async def test_a_burst_of_pages_ends_in_no_dead_end(place: Place) -> None:
    held = wanted(place, MANY_LINES)
    async with place.inbox((60, 20)) as anna:
        await anna.open()
        await anna.sees("more lines")
        await anna.settled()
        anna.burst(*["pagedown"] * 40)
        await anna.settled()
        for _ in range(40):
            if "more line" not in anna.screen():
                break
            await anna.press("pagedown")
        await anna.sees("echo 89", "y allow")
        await anna.press("y")
        assert (await place.outcome(held)).state is State.ANSWERED


async def test_after_a_jump_to_the_end_a_page_leads_to_the_first_line_that_was_not_in_view(place: Place) -> None:
    wanted(place, MANY_LINES)
    async with place.inbox((60, 20)) as anna:
        await anna.open()
        await anna.sees("more lines")
        reading = anna.app.screen.query_one("#reading")
        reading.scroll_end(animate=False, immediate=True)
        await anna.sees("echo 89", "more lines")
        await anna.press("pagedown")
        await anna.sees_not("echo 89")
        assert reading.scroll_y < reading.max_scroll_y / 2


async def test_what_was_measured_before_its_place_was_laid_out_is_looked_at_again(place: Place) -> None:
    place.ask(replace(NAME, text="\n\n".join(f"Paragraph {number}." for number in range(4))))
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("Paragraph 3.")
        step = anna.app.screen.query_one(Step)
        step._seen, step.unseen = 0, 5
        step.query_one("#reading").styles.max_height = 2
        await until(lambda: step.unseen == 0, anna.screen)
        await anna.sees("Paragraph 3.")


async def test_the_preview_is_read_by_keys_and_says_how_much_is_below(place: Place) -> None:
    place.ask(replace(NAME, text=LONG))
    async with place.inbox((120, 24)) as anna:
        await anna.sees("Paragraph 1.", "J ", "more lines")
        assert "Paragraph 59." not in anna.screen()
        await anna.press("K")
        assert "Paragraph 1." in anna.screen()
        for _ in range(20):
            if "more line" not in anna.screen():
                break
            await anna.press("J")
        await anna.sees("Paragraph 59.")
        assert "more line" not in anna.screen()
        await anna.press("K")
        await anna.sees("more line")
        await anna.press("ctrl+d")
        await anna.sees_not("more line")


async def test_who_reads_on_in_the_preview_stays_there_when_something_else_is_asked(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = list[str]()

    def counted(shared: Shared, ask: Ask) -> list[Block]:
        drawn.append(ask.id)
        return preview(shared, ask)

    monkeypatch.setattr("sayso.tui.listing.preview", counted)
    place.ask(replace(NAME, text=LONG))
    async with place.inbox((120, 24)) as anna:
        await anna.sees("Paragraph 1.", "more lines")
        await anna.press("J")
        await anna.sees_not("Paragraph 1.")
        before = len(drawn)
        place.ask(select("Another?"))
        await anna.sees("Another?")
        await until(lambda: len(drawn) > before, anna.screen)
        await anna.press("x")
        await anna.sees("1 marked")
        assert "Paragraph 1." not in anna.screen()


async def test_a_preview_that_is_all_in_view_offers_no_reading_on(place: Place) -> None:
    place.ask(select())
    async with place.inbox((120, 24)) as anna:
        await anna.sees("1-2 answer")
        assert "more line" not in anna.screen()
        await anna.press("J", "K")
        await until(lambda: "1-2 answer" in anna.screen(), anna.screen)


async def test_what_a_question_is_called_is_shown_before_it_can_be_answered(place: Place) -> None:
    place.ask(replace(select("Go ahead?"), title="Deletes the data of production"))
    async with place.inbox((120, 24)) as anna:
        await anna.sees("Go ahead?", "Deletes the data of production")
        await anna.open()
        await anna.sees("Go ahead?", "Deletes the data of production")
