"""Keys: shown, explained, found in the palette, and changed by settings."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.tui.harness import DATABASE, FOUR, NAME, Person, Place, select, until

from sayso.asks.model import State
from sayso.config import load
from sayso.errors import ConfigError
from sayso.records import replace
from sayso.tui.app import SaysoApp
from sayso.tui.bars import KeyBar
from sayso.tui.keys import DEFAULTS, Keys, shown_key
from sayso.tui.texts import Texts

pytestmark = pytest.mark.anyio


async def test_the_help_shows_every_key_and_goes_away_again(place: Place) -> None:
    async with place.inbox(size=(120, 130)) as anna:
        await anna.press("?")
        await anna.sees("Keys", "ask to explain", "ctrl+g", "editor", "[keys]")
        shown = anna.screen()
        for keys in DEFAULTS.values():
            assert all(shown_key(key.keys.split(",")[0]) in shown for key in keys)
        await anna.press("escape")
        await anna.sees_not("ask to explain")
        await anna.press("?", "?")
        await anna.sees_not("ask to explain")


@pytest.mark.parametrize(("key", "where"), [("a", "Agents at work"), ("h", "History"), ("r", "Commands")])
async def test_the_help_begins_with_what_answers_and_with_the_keys_of_where_it_was_opened(
    place: Place, key: str, where: str
) -> None:
    async with place.inbox(size=(80, 24)) as anna:
        await anna.press(key, "?")
        await anna.sees("1-9 chooses an option", "more lines")
        headings = [line.strip("│ ") for line in anna.screen().split("\n")]
        assert where in headings
        assert "Everywhere" not in headings[: headings.index(where)]
        await anna.press("end")
        await anna.sees("[keys]")
        await anna.sees_not("more lines")


async def test_while_typing_help_and_palette_are_still_there(place: Place) -> None:
    place.ask(NAME)
    async with place.inbox() as anna:
        await anna.open()
        await anna.type("?")
        await anna.sees("f1 help", "ctrl+g editor")
        await anna.press("f1")
        await anna.sees("Answering")
        await anna.press("escape")
        await anna.press("ctrl+p")
        await anna.sees("What do you want to do?")


async def test_the_palette_does_what_keys_do(place: Place) -> None:
    held = place.ask(*FOUR)
    async with place.inbox() as anna:
        await anna.open()
        await anna.press("ctrl+p")
        await anna.sees("What do you want to do?")
        await anna.type("reject")
        await until(lambda: "history" not in anna.screen(), anna.screen)
        await anna.press("enter")
        await anna.sees("Reject all 4 questions?")
        await anna.press("enter")
        assert (await place.outcome(held)).state is State.REJECTED


async def test_the_palette_changes_the_colours_and_they_are_remembered(place: Place) -> None:
    async with place.inbox() as anna:
        await anna.press("ctrl+p")
        await anna.sees("What do you want to do?")
        await anna.type("light")
        await anna.sees_not("Colours: dark")
        await anna.sees("Colours: light")
        await anna.press("enter")
        await until(lambda: anna.app.theme == "sayso-light", anna.screen)
    assert SaysoApp(place.config, environ={}).theme == "sayso-light"
    assert SaysoApp(replace(place.config, theme="contrast"), environ={}).theme == "sayso-contrast"
    for unreadable in (b"\xff", b"pink"):
        place.config.theme_file.write_bytes(unreadable)
        assert SaysoApp(place.config, environ={}).theme == "sayso-dark"


async def test_a_changed_key_works_is_shown_and_the_old_one_does_nothing(tmp_path: Path) -> None:
    place = Place(tmp_path, keys="reject=ctrl+r; help=f5")
    place.ask(select())
    async with place.inbox() as anna:
        await anna.sees("ctrl+r reject", "f5 help")
        await anna.press("x")
        await anna.open()
        await anna.press("o")
        await anna.type("x")
        await anna.press("ctrl+r")
        await anna.sees("Reject this question?")
    place.close()


def test_keys_are_set_by_a_table_in_the_settings(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[keys]\nreject = "X"\nsend = ["f10", "ctrl+d"]\n')
    config = load(environ={"HOME": str(tmp_path), "SAYSO_CONFIG": str(file)}, cwd=tmp_path)
    keys = Keys.from_config(config)
    assert keys.shown("reject") == "X"
    assert keys.shown("send") == "f10"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("alt+esc", "alt+esc"),
        ("alt+pgup", "alt+pgup"),
        ("ctrl+pgdn", "ctrl+pgdn"),
        ("+", "+"),
        ("question_mark", "?"),
        ("f12", "f12"),
    ],
)
def test_keys_can_be_named_as_the_help_names_them(given: str, shown: str) -> None:
    assert Keys({"reject": given}).shown("reject") == shown


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"rejct": "x"}, "Did you mean reject?"),
        ({"zzzz": "x"}, "They are accept"),
        ({"reject": "ctrl+bananas"}, "'ctrl+bananas', which is no key"),
        ({"reject": "strg+x"}, "which is no key"),
        ({"reject": "h"}, "the key 'h' would do history and reject"),
    ],
)
def test_a_wrong_key_is_explained(given: dict[str, str], told: str) -> None:
    with pytest.raises(ConfigError, match=r".+") as error:
        Keys(given, "config.toml")
    assert told in str(error.value)
    assert str(error.value).startswith("config.toml: ")


@pytest.mark.parametrize("value", ["7", "[1]", "{reject = 7}", "{reject = []}", '{reject = [""]}'])
def test_a_table_of_keys_that_is_none_is_explained(value: str, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f"keys = {value}\n")
    with pytest.raises(ConfigError, match="keys is"):
        load(environ={"HOME": str(tmp_path), "SAYSO_CONFIG": str(file)}, cwd=tmp_path)


def test_every_key_has_a_text() -> None:
    missing = [key.name for keys in DEFAULTS.values() for key in keys if not hasattr(Texts(), f"do_{key.name}")]
    assert missing == []


async def test_pressed_twice_ctrl_c_quits(place: Place) -> None:
    async with place.inbox() as anna:
        await anna.press("ctrl+c")
        await anna.sees("Press ctrl+c once more to quit.")
        assert anna.app.is_running
        await anna.press("ctrl+c")
        await until(lambda: not anna.app.is_running, anna.screen)


def bar(anna: Person) -> str:
    """The keys at the bottom."""
    return " ".join(" ".join(line.plain for line in anna.app.screen.query_one(KeyBar).render().split()).split())


async def test_at_sixty_columns_the_bottom_names_every_way_on_and_back(place: Place) -> None:
    place.ask(DATABASE)
    async with place.inbox((60, 20)) as anna:
        await anna.sees("enter open")
        assert bar(anna) == (
            "enter open x mark X reject z snooze / filter h history q quit a agents r commands p project ? help"
        )
        await anna.open()
        await anna.sees("1. PostgreSQL", "esc back ? help")
        assert bar(anna).startswith(
            "pgdn read on enter choose r accept recommended o own words tab next x reject a note"
        )
        await anna.press("ctrl+s")
        await anna.sees("enter send")
        assert bar(anna) == "enter send x reject esc back ? help"


async def test_on_the_shortest_line_the_first_key_comes_before_the_way_back(place: Place) -> None:
    place.ask(DATABASE)
    async with place.inbox((24, 8)) as anna:
        await anna.open()
        await until(lambda: bar(anna) == "pgdn read on ? help", lambda: bar(anna))


async def test_q_quits_the_inbox(place: Place) -> None:
    async with place.inbox() as anna:
        await anna.press("q")
        await until(lambda: not anna.app.is_running, lambda: "the end")
    assert anna.app.return_code == 0


async def test_the_palette_begins_with_what_can_be_done_here_and_ends_with_colours(place: Place) -> None:
    place.ask(NAME)
    async with place.inbox() as anna:
        await anna.press("ctrl+p")
        await anna.sees("open")
        assert "Colours" not in anna.screen()
