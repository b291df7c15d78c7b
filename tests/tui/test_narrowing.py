"""Many options are narrowed by typing; numbers keep their meaning, and typing chooses nothing."""

from __future__ import annotations

import pytest
from tests.tui.harness import Place, option, select

from sayso.asks.model import Kind, State
from sayso.records import replace

pytestmark = pytest.mark.anyio

CITIES = ["Oslo", "Rome", "Bern", "Wien", "Riga", "Kyiv", "Bonn", "Graz", "Lyon", "Turin", "Torino", "Tours"]
MANY = select("Which city?", *(option(name.lower(), name, f"In {name}") for name in CITIES))


async def test_typing_narrows_many_options_and_the_cursor_is_on_the_first_found(place: Place) -> None:
    held = place.ask(MANY)
    async with place.inbox((60, 20)) as anna:
        await anna.open()
        await anna.sees("/ narrows the 12 options", "/ filter")
        await anna.press("/")
        await anna.type("tor")
        await anna.sees("Torino")
        await anna.sees_not("Turin")
        await anna.press("enter")
        assert place.now(held).state is State.PENDING, "the key that ends the typing chooses nothing"
        await anna.press("enter")
        await anna.sees("Check your answers", "Torino")
        await anna.press("enter")
        ended = await place.outcome(held)
    assert ended.outcome is not None
    assert ended.outcome.answers[0].chosen == ("torino",)


async def test_a_number_means_the_same_option_or_nothing_while_options_are_narrowed(place: Place) -> None:
    place.ask(replace(MANY, kind=Kind.MULTI_SELECT))
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("/")
        await anna.type("o")
        await anna.press("down")
        await anna.sees("[ ] 7. Bonn")
        assert "Wien" not in anna.screen()
        await anna.press("4")
        assert "[x]" not in anna.screen().replace("[x] Question", "")
        await anna.press("7")
        await anna.sees("[x] 7. Bonn")
        await anna.press("escape")
        await anna.sees("[ ] 4. Wien", "[x] 7. Bonn")
        await anna.press("escape")
        await anna.sees("> Which city?")


async def test_nothing_is_chosen_where_no_option_has_the_words(place: Place) -> None:
    held = place.ask(MANY)
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("/")
        await anna.type("zzz")
        await anna.sees_not("Oslo")
        await anna.press("enter", "escape")
        await anna.sees("1. Oslo")
    assert place.now(held).state is State.PENDING


async def test_few_options_offer_no_filter(place: Place) -> None:
    place.ask(select())
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("1. Red")
        assert "filter" not in anna.screen()


async def test_the_fields_that_filter_name_the_keys_that_lead_out_of_them(place: Place) -> None:
    place.ask(MANY)
    async with place.inbox((60, 20)) as anna:
        await anna.press("/")
        await anna.type("ci")
        await anna.sees("enter open the first", "down to the list")
        await anna.type("xx")
        await anna.sees_not("open the first")
        await anna.press("backspace", "backspace")
        await anna.press_after(0.1, "enter")  # it only opens, so nobody has to wait
        await anna.sees("/ narrows the 12 options")
        await anna.press("/")
        await anna.sees("enter to the options")
        await anna.press("enter")
        await anna.sees_not("enter to the options")


async def test_the_field_for_own_words_is_seen_at_once_below_many_options(place: Place) -> None:
    place.ask(select("Which city?", *(option(f"c{number}", f"City {number}") for number in range(30))))
    async with place.inbox((60, 20)) as anna:
        await anna.open()
        await anna.press("G", "enter")
        await anna.sees("Your own answer.", "Other: my own words")
        await anna.type("Ghent")
        await anna.sees("Ghent", "Other: my own words")


async def test_what_an_option_would_look_like_follows_the_cursor(place: Place) -> None:
    shown = {name: "\n".join(f"{name} line {number}" for number in range(120)) for name in ("Rows", "Cards")}
    options = [
        replace(option("r", "Rows"), preview=shown["Rows"]),
        replace(option("c", "Cards", recommended=True), preview=shown["Cards"]),
        option("n", "Neither"),
    ]
    place.ask(select("Which layout?", *options))
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("Which layout?", "Cards line 0")
        assert "Rows line" not in anna.screen()
        await anna.press("up")
        await anna.sees("Rows line 0")
        await anna.press("pagedown")
        await anna.sees("Rows line 12")
        await anna.press("down", "down")
        await anna.sees("Which layout?")
        await anna.sees_not("line 0")
