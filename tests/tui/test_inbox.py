"""The inbox: what it lists, how it is filtered, and that what is new never gets in the way."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.asks.samples import FakeClock
from tests.tui.harness import DROP, FOUR, NAME, Place, select, until
from tests.tui.test_permissions import wanted

from sayso.asks.draft import Draft, to_json
from sayso.asks.model import Asker, NewAsk, State
from sayso.records import replace
from sayso.tui.answer import AnswerScreen
from sayso.tui.inbox import InboxScreen
from sayso.tui.screen import LookAgain

pytestmark = pytest.mark.anyio


async def test_each_ask_is_listed_with_where_it_comes_from_and_how_it_stands(place: Place) -> None:
    place.ask(*FOUR, client="codex", project="/srv/shop", host="buildbox")
    place.ask(NAME, title="Before the release", timeout_ms=300_000)
    async with place.inbox() as anna:
        await anna.sees("Which database should the service use?", "shop · codex · 4 questions · buildbox", "waiting")
        await anna.sees("Before the release", "api · claude-code · 1 question · workbench", "4m left", "2 waiting")


async def test_an_empty_inbox_says_so(place: Place) -> None:
    async with place.inbox() as anna:
        await anna.sees("No questions. They appear here the moment an agent asks.", "nobody is waiting")


async def test_a_new_ask_appears_by_itself_marked_as_new(place: Place) -> None:
    async with place.inbox() as anna:
        place.ask(NAME)
        await anna.sees("What should the service be called?", "new · waiting", "1 waiting")


async def test_a_new_ask_takes_neither_the_focus_nor_the_text_of_a_half_typed_answer(place: Place) -> None:
    place.ask(NAME)
    async with place.inbox() as anna:
        await anna.open()
        await anna.type("bil")
        place.ask(select("Something urgent?"))
        await anna.sees("new: Something urgent?", "2 waiting")
        await anna.type("ling")
        await anna.sees("billing", "What should the service be called?")
        assert isinstance(anna.app.screen, AnswerScreen)


async def test_the_cursor_stays_on_its_ask_while_others_come_and_go(place: Place) -> None:
    first = place.ask(select("First?"))
    second = place.ask(select("Second?"))
    async with place.inbox() as anna:
        await anna.press("down")
        await anna.sees("> First?")
        place.ask(select("Third?"))
        await anna.sees("Third?", "> First?")
        place.desk.cancel(second.ask.id, anna.app.shared.settler)
        await anna.sees_not("Second?")
        await anna.sees("> First?")
        await anna.open()
        assert isinstance(anna.app.screen, AnswerScreen)
        assert anna.app.screen.ask.id == first.ask.id


async def test_the_cursor_stays_on_its_ask_however_long_it_was_left_alone(tmp_path: Path) -> None:
    clock = FakeClock()
    place = Place(tmp_path, clock)
    place.ask(select("First?"))
    async with place.inbox() as anna:
        await anna.sees("> First?")
        clock.forward(60_000)
        place.ask(select("Second?"))
        await anna.sees("  Second?", "> First?")
        await anna.press("up")
        clock.forward(60_000)
        place.ask(select("Third?"))
        await anna.sees("  Third?", "> Second?")
    place.close()


async def test_what_is_new_above_a_scrolled_list_is_told_in_the_top_line(place: Place) -> None:
    for number in range(30):
        place.ask(select(f"Number {number:02}?"))
    async with place.inbox() as anna:
        await anna.press("end")
        await anna.sees("> Number 00?")
        place.ask(select("Something urgent?"))
        await anna.sees("new: Something urgent?", "> Number 00?")


async def test_asks_nobody_waits_for_stand_below_the_others(place: Place) -> None:
    place.ask(select("Waited for?"))
    asker = Asker(client="aider", project="/home/anna/notes", host="workbench")
    place.desk.leave(NewAsk(tool="ask_user", questions=(NAME,), asker=asker))
    async with place.inbox() as anna:
        await anna.sees("agent at work", "1 waiting · 1 left open")
        screen = anna.screen()
        assert screen.index("Waited for?") < screen.index("What should the service be called?")


async def test_the_death_of_an_agent_shows_within_moments(place: Place) -> None:
    held = place.ask(NAME)
    async with place.inbox() as anna:
        await anna.sees("waiting")
        place.store.bell().close()
        await anna.sees("agent not waiting")
        assert place.now(held).wait is None


NOISY = Asker(client="noisy", project="/home/anna/loop", host="workbench", pid=7, started="1")


def make_noise(place: Place, count: int) -> None:
    for number in range(count):
        place.desk.leave(NewAsk(tool="ask_user", questions=(select(f"Noise {number}?"),), asker=NOISY))


@pytest.mark.finding("F-34")
async def test_an_agent_with_many_open_is_one_row_that_opens_and_folds(place: Place) -> None:
    place.ask(select("An honest question?"))
    make_noise(place, 30)
    place.desk.hold(NewAsk(tool="approve", title="Bash: rm", questions=(DROP,), asker=NOISY, bound=True))
    async with place.inbox((60, 20)) as anna:
        # What it wants to do is never folded away.
        await anna.sees("> Bash: rm", "loop · noisy", "An honest question?", "Sayso  2 waiting · 30 from noisy")
        await anna.press("down", "down")
        await anna.sees("> [+] 30 questions · Noise 29?")
        await anna.sees_not("reject")
        assert "Noise 28?" not in anna.screen()
        drafted = place.desk.inbox(of=NOISY)[0]
        place.desk.keep_draft(drafted.id, "anna", to_json(drafted, Draft(reason="Why so many?")))
        anna.app.post_message(LookAgain())
        await anna.sees("draft · agent at work")
        await anna.press("enter")
        await anna.sees("> [-] 30 questions", "  Noise 29?", "left fold")
        await anna.press("down")
        await anna.sees(">   Noise 29?", "reject")
        place.desk.leave(NewAsk(tool="ask_user", questions=(select("Noise 30?"),), asker=NOISY))
        await anna.sees("[-] 31 questions", ">   Noise 29?", "31 from noisy")
        await anna.press("left")
        await anna.sees("> [+] 31 questions", "An honest question?")
        assert "Noise 29?" not in anna.screen()
        await anna.press("enter", "escape")
        await anna.sees("> [+] 31 questions", "An honest question?")
        await anna.press("up")
        await anna.sees("> An honest question?")
        await anna.open()
        await anna.press("[")
        await anna.sees("May I drop the old table?")


@pytest.mark.finding("F-34")
async def test_the_cursor_stays_with_an_ask_that_is_folded_away(place: Place) -> None:
    make_noise(place, 5)
    place.ask(select("An honest question?"))
    async with place.inbox() as anna:
        await anna.press("down", "down")
        await anna.sees("> Noise 3?", "1 waiting · 5 left open")
        place.desk.leave(NewAsk(tool="ask_user", questions=(select("Noise 5?"),), asker=NOISY))
        await anna.sees("> [+] 6 questions · Noise 5?", "1 waiting · 6 from noisy")
        first = place.desk.inbox(of=NOISY)[0]
        place.desk.cancel(first.id, anna.app.shared.settler)
        await anna.sees("> Noise", "5 left open")


@pytest.mark.finding("F-34")
async def test_an_agent_with_many_open_rings_once_in_a_while(tmp_path: Path) -> None:
    clock = FakeClock()
    place = Place(tmp_path, clock, terminal_notify_when="always")
    make_noise(place, 5)
    told: list[tuple[str, str]] = []
    async with place.inbox() as anna:
        anna.app.signals.tell = lambda title, body: told.append((title, body))  # type: ignore[method-assign]

        async def asks(number: int, *, rings: int) -> None:
            clock.forward(1)
            place.desk.leave(NewAsk(tool="ask_user", questions=(select(f"Noise {number}?"),), asker=NOISY))
            await anna.sees(f"Noise {number}?")
            await until(lambda: len(told) == rings, lambda: f"{rings} in {told}")

        await asks(5, rings=1)
        assert told[0] == ("Sayso: noisy in loop has 6 questions open", "Noise 5?")
        await asks(6, rings=1)
        await asks(7, rings=1)
        clock.forward(1)
        place.ask(select("An honest question?"))
        await until(lambda: len(told) == 2, lambda: str(told))
        assert told[1] == ("Sayso: claude-code in api asks", "An honest question?")
        clock.forward(60_000)
        await asks(8, rings=3)
    place.close()


async def test_words_filter_the_list_and_escape_takes_them_away(place: Place) -> None:
    place.ask(select("Which colour?"), project="/srv/shop")
    place.ask(DROP, project="/srv/api", client="codex")
    async with place.inbox() as anna:
        await anna.press("/")
        await anna.type("CODEX drop")
        await anna.sees_not("Which colour?")
        await anna.sees("May I drop")
        await anna.press("down", "/")
        await anna.type(" zzz")
        await anna.sees("Nothing here matches the filter.")
        await anna.press("escape")
        await anna.sees("Which colour?", "May I drop")


async def test_what_a_forgotten_filter_hides_is_told_with_the_key_that_shows_it(place: Place) -> None:
    place.ask(select("Which colour?"))
    async with place.inbox(size=(60, 20)) as anna:
        await anna.press("/")
        await anna.type("colour")
        await anna.press("down")
        await anna.sees_not("hidden")
        place.ask(select("Which shape?"))
        await anna.sees('esc show 1 hidden by the filter "colour"', "new: Which shape?")
        wanted(place)
        await anna.sees('esc show 2 hidden by the filter "colour", permissions too')
        await anna.press("x")
        await anna.sees('2 hidden by the filter "colour", permissions too')
        await anna.press("escape", "escape")
        await anna.sees("Which shape?", "Allow Bash: git push --force?")
        await anna.sees_not("hidden")
        await anna.press("p")
        place.ask(NAME, project="/home/anna/shop")
        await anna.sees("esc show 1 hidden by project api")


async def test_what_a_filter_finds_is_opened_at_once(place: Place) -> None:
    place.ask(select("Which colour?"))
    place.ask(DROP)
    async with place.inbox() as anna:
        await anna.press("/")
        await anna.type("colour")
        await anna.sees_not("May I drop")
        await anna.open()
        await anna.sees("1. Red")


async def test_one_key_shows_only_the_project_at_the_cursor_and_all_again(place: Place) -> None:
    place.ask(select("Which colour?"), project="/srv/shop")
    place.ask(DROP, project="/srv/api")
    async with place.inbox() as anna:
        await anna.press("p")
        await anna.sees_not("Which colour?")
        await anna.sees("May I drop", "project api")
        await anna.press("p")
        await anna.sees("Which colour?")


async def test_the_order_can_be_turned_round(place: Place) -> None:
    place.ask(select("First?"))
    place.ask(select("Second?"))
    async with place.inbox() as anna:
        await anna.sees("First?")
        assert anna.screen().index("Second?") < anna.screen().index("First?")
        await anna.press("o")
        await anna.sees("oldest first")
        assert anna.screen().index("First?") < anna.screen().index("Second?")


async def test_an_ask_can_be_rejected_from_the_list(place: Place) -> None:
    held = place.ask(select())
    async with place.inbox() as anna:
        await anna.press("X")
        await anna.sees("Reject this question?")
        await anna.type("not now")
        await anna.press("enter")
        ended = await place.outcome(held)
        await anna.sees("Rejected. Waiting for claude-code to fetch it.")
    assert ended.state is State.REJECTED
    assert ended.outcome is not None
    assert ended.outcome.reason == "not now"


async def test_a_thousand_asks_are_listed_and_scrolled_through(place: Place) -> None:
    asker = Asker(client="claude-code", project="/home/anna/api", host="workbench")
    new = NewAsk(tool="ask_user", questions=(NAME,), asker=asker)
    for number in range(1000):
        place.desk.leave(replace(new, title=f"Ask {number:04}"))
    async with place.inbox() as anna:
        await anna.sees("1000 left open", "> Ask 0999")
        await anna.press("end")
        await anna.sees("> Ask 0000")
        await anna.press("pageup", "home")
        await anna.sees("> Ask 0999")


async def test_the_preview_beside_the_list_follows_the_cursor_where_there_is_room(place: Place) -> None:
    place.ask(*FOUR)
    place.ask(select("Which colour?"))
    async with place.inbox(size=(120, 40)) as anna:
        await anna.sees("1 Red")
        await anna.press("down")
        await anna.sees("CREATE TABLE orders", "- PostgreSQL (recommended)")
        await anna.pilot.resize_terminal(70, 24)
        await anna.sees_not("CREATE TABLE orders")


async def test_this_process_shows_as_a_place_where_asks_are_seen_until_it_ends(place: Place) -> None:
    async with place.inbox() as anna:
        await until(lambda: place.desk.open_surfaces(), anna.screen)
        (surface,) = place.desk.open_surfaces()
        assert (surface.person, surface.surface) == ("anna", "terminal")
        assert isinstance(anna.app.screen, InboxScreen)
    assert place.desk.open_surfaces() == []


@pytest.mark.finding("F-70")
async def test_agents_of_the_same_name_in_one_project_have_rows_that_differ(place: Place) -> None:
    for session in ("0199-aaaaaa", "0199-bbbbbb"):
        asker = Asker(client="codex", project="/home/anna/api", session=session, branch=f"fix-{session[-1]}")
        place.desk.hold(NewAsk(tool="ask_user", questions=(NAME,), asker=asker))
    asker = Asker(client="codex", project="/home/anna/api", session="0199-cccccc", branch="fix-a")
    place.desk.hold(NewAsk(tool="ask_user", questions=(DROP,), asker=asker))
    place.ask(select("From a lone agent?"))
    async with place.inbox(size=(60, 20)) as anna:
        await anna.sees("codex · on fix-b · session bbbbbb")
        await anna.sees("codex · session aaaaaa · on fix-a", "Clean up:  y Yes  n No · api · session cccccc")
        await anna.sees("claude-code · 1 question")


@pytest.mark.finding("F-70")
async def test_beside_the_preview_and_in_the_opened_ask_agents_of_the_same_name_differ(place: Place) -> None:
    for session in ("0199-aaaaaa", "0199-bbbbbb"):
        asker = Asker(client="claude-code", project="/home/anna/shop", host="pc", session=session)
        place.desk.hold(NewAsk(tool="ask_user", questions=(NAME,), asker=asker))
    async with place.inbox(size=(100, 30)) as anna:
        await anna.sees("shop · session aaaaaa", "shop · session bbbbbb", "on pc · session bbbbbb")
        await anna.press("enter")
        await anna.sees("shop · claude-code · pc · session bbbbbb")


async def test_enter_in_the_filter_opens_the_first_that_is_left_wherever_the_cursor_was(place: Place) -> None:
    for text in ("Rename c?", "Other?", "Rename b?", "Rename a?"):
        place.ask(select(text))
    async with place.inbox() as anna:
        await anna.press("end", "/")
        await anna.type("rename")
        await anna.sees("> Rename a?", "enter open the first")
        await anna.press("enter")
        await anna.sees("choose one", "Rename a?")
        assert "Rename c?" not in anna.screen()
