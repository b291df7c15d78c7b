"""Calm and quick: what is done for an ask, a key or a minute does not grow with what is there. Counted, never timed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.asks.samples import FakeClock
from tests.tui.harness import NAME, Person, Place, select, until
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.events import Key
from textual.screen import Screen

from sayso.asks.desk import AskDesk
from sayso.asks.model import Ask, Asker, NewAsk, State, Wait
from sayso.records import replace
from sayso.tui.asklist import AskList
from sayso.tui.texts import Texts
from sayso.tui.themes import THEMES
from sayso.tui.wording import Wording

pytestmark = pytest.mark.anyio

MANY = 200
VISIBLE = 11
"""Rows that a screen of 24 lines shows."""
SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def crowded(tmp_path: Path, clock: FakeClock) -> Iterator[Place]:
    """A place with many more asks than a screen shows, all of the same minute."""
    place = Place(tmp_path, clock)
    new = NewAsk(tool="ask_user", questions=(NAME,), asker=Asker(client="aider", project="/srv/api", host="h"))
    for number in range(MANY):
        place.desk.leave(replace(new, title=f"Ask {number:04}"))
    yield place
    place.close()


class Work:
    """Counts what is done: rows drawn, layouts, and asks read from the desk."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rows: list[int] = []
        self.layouts = 0
        self.asks_read = 0
        row, layout, inbox, get = AskList.row, Screen._refresh_layout, AskDesk.inbox, AskDesk.get

        def counted_row(listed: AskList, index: int, width: int):  # type: ignore[no-untyped-def]
            self.rows.append(index)
            return row(listed, index, width)

        def counted_layout(*args, **kwargs) -> None:  # type: ignore[no-untyped-def]
            self.layouts += 1
            layout(*args, **kwargs)

        def counted_inbox(*args, **kwargs) -> list[Ask]:  # type: ignore[no-untyped-def]
            found = inbox(*args, **kwargs)
            self.asks_read += len(found)
            return found

        def counted_get(*args, **kwargs) -> Ask:  # type: ignore[no-untyped-def]
            self.asks_read += 1
            return get(*args, **kwargs)

        monkeypatch.setattr(AskList, "row", counted_row)
        monkeypatch.setattr(Screen, "_refresh_layout", counted_layout)
        monkeypatch.setattr(AskDesk, "inbox", counted_inbox)
        monkeypatch.setattr(AskDesk, "get", counted_get)

    def forget(self) -> None:
        self.rows, self.asks_read, self.layouts = [], 0, 0


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    return Work(monkeypatch)


async def at_rest(anna: Person) -> None:
    """Until all that was to be drawn is drawn."""
    await anna.pilot.pause()
    await until(lambda: not anna.app.screen._dirty_widgets and not anna.app.screen._layout_required, anna.screen)


async def test_a_new_ask_is_looked_up_and_drawn_alone_however_many_there_are(crowded: Place, work: Work) -> None:
    async with crowded.inbox() as anna:
        await anna.sees("> Ask 0199")
        await at_rest(anna)
        work.forget()
        crowded.ask(select("Something new?"))
        await anna.sees("Something new?", "> Ask 0199")
        assert work.asks_read == 1
        assert len(work.rows) <= 2
        assert work.layouts == 0


async def test_a_key_draws_the_rows_it_changes_and_lays_nothing_out(crowded: Place, work: Work) -> None:
    async with crowded.inbox() as anna:
        await anna.press("down")
        await at_rest(anna)
        work.forget()
        for _ in range(VISIBLE * 2):
            await anna.press("down")
        await anna.sees("> Ask 0176")
        # At each key the row that is left and the one that is reached; each row is seen once with and once without.
        assert len(work.rows) <= 2 * VISIBLE * 2 + VISIBLE
        assert work.layouts == 0


async def test_rows_are_not_drawn_again_because_a_filter_is_begun(crowded: Place, work: Work) -> None:
    async with crowded.inbox() as anna:
        await anna.sees("> Ask 0199")
        await at_rest(anna)
        work.forget()
        await anna.press("/")
        await anna.sees("filter: words in")
        await until(lambda: work.rows, anna.screen)
        await at_rest(anna)
        assert work.rows == [0], "only the row at the cursor looks different while the list has no focus"


async def test_rows_are_drawn_in_the_colours_of_another_theme_at_once(crowded: Place, work: Work) -> None:
    async with crowded.inbox() as anna:
        await anna.sees("> Ask 0199")
        await at_rest(anna)
        work.forget()
        anna.app.theme = next(theme.name for theme in THEMES.values() if theme.name != anna.app.theme)
        await at_rest(anna)
        assert set(work.rows) >= set(range(VISIBLE - 1))


async def test_ages_are_drawn_when_they_read_differently_and_only_where_they_are_seen(
    crowded: Place, work: Work, clock: FakeClock
) -> None:
    async with crowded.inbox() as anna:
        await anna.sees("> Ask 0199", "now")
        await at_rest(anna)
        work.forget()
        clock.forward(MINUTE // 2)
        anna.app.query_one(AskList).tick()
        await at_rest(anna)
        assert work.rows == []
        clock.forward(MINUTE)
        anna.app.query_one(AskList).tick()
        await anna.sees_not("now")
        assert sorted(work.rows) == list(range(VISIBLE))


def woken_by(node: DOMNode) -> list[float]:
    """The seconds of each timer that runs for this node."""
    running = [timer for timer in node._timers if timer._active.is_set() and timer._task and not timer._task.done()]
    return [timer._interval for timer in running]


async def test_nothing_wakes_an_inbox_that_is_left_alone_more_often_than_every_ten_seconds(crowded: Place) -> None:
    async with crowded.inbox() as anna:
        await anna.sees("> Ask 0199")
        nodes = [anna.app, anna.app.screen, *anna.app.screen.walk_children(with_self=False)]
        timers = await until(lambda: _calm([each for node in nodes for each in woken_by(node)]), anna.screen)
        # The rounds, the next age that reads differently, and the time when nobody counts as being here any more.
        assert len(timers) <= 3


def _calm(timers: list[float]) -> list[float]:
    return timers if timers and min(timers) >= 10 else []


async def test_the_styles_are_read_once_at_the_start(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Stylesheet] = []
    reparse = Stylesheet.reparse

    def counted(sheet: Stylesheet) -> None:
        read.append(sheet)
        reparse(sheet)

    monkeypatch.setattr(Stylesheet, "reparse", counted)
    place.environ["SAYSO_THEME"] = "light"
    async with place.inbox() as anna:
        await anna.sees("No questions.")
        assert read == []
        assert anna.app.screen.styles.background.hex == "#FFFFFF"
        anna.app.theme = "sayso-contrast"
        await until(lambda: anna.app.screen.styles.background.hex == "#000000", anna.screen)


def test_the_first_screen_loads_nothing_that_only_others_need() -> None:
    later = ("sayso.tui.answer", "sayso.tui.history", "sayso.tui.commands", "sayso.operations.reader", "markdown_it")
    code = f"import sys, sayso.tui.app; print([name for name in {later} if name in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert told.stdout.strip() == "[]"


async def test_keys_that_wait_for_something_that_does_not_end_are_handed_on_in_the_end(place: Place) -> None:
    place.ask(select("First?"))
    place.ask(select("Second?"))
    async with place.inbox() as anna:
        await anna.sees("> Second?")
        with anna.app.shared.typing.held():
            anna.app.post_message(Key("down", None))
            await anna.sees("> First?")


async def test_who_asks_and_how_it_stands_follows_an_answer_from_elsewhere_at_once(place: Place) -> None:
    held = place.ask(NAME)
    async with place.inbox() as anna:
        await anna.open()
        await anna.sees("now · waiting")
        place.desk.cancel(held.ask.id, anna.app.shared.settler)
        await anna.sees_not("now · waiting")


# What is offered


async def test_only_keys_that_do_something_are_shown(place: Place) -> None:
    async with place.inbox() as anna:
        await anna.sees("h history", "q quit")
        for nothing in ("enter open", "X reject", "/ filter", "p project", "esc back"):
            assert nothing not in anna.screen()
        place.ask(select("Which colour?"))
        await anna.sees("enter open", "X reject", "/ filter")
        await anna.press("/")
        await anna.type("zzz")
        await anna.sees("esc shows all again", "esc show 1 hidden")
        assert "/ filter" not in anna.screen()
        await anna.press("escape", "X")
        await anna.sees("enter confirms")
        assert "h history" not in anna.screen()
        await anna.press("escape")
        await anna.sees("h history")


async def test_the_way_back_and_the_way_to_say_no_are_shown_on_a_small_screen_too(place: Place) -> None:
    place.ask(select())
    async with place.inbox(size=(60, 20)) as anna:
        await anna.open()
        await anna.sees("enter choose", "x reject", "esc back", "? help")


# How long words hold


@pytest.mark.parametrize("passed", [0, 1, 59_999, MINUTE, 61_500, HOUR - 1, HOUR, 90 * MINUTE, DAY - 1, DAY, 3 * DAY])
def test_an_age_reads_the_same_until_it_is_said_to_change(passed: int) -> None:
    clock = FakeClock()
    wording, since = Wording(texts=Texts(), clock=clock), clock()
    clock.forward(passed)
    before, lasts = wording.age(since), wording.age_lasts(since)
    clock.forward(lasts - 1)
    assert wording.age(since) == before
    clock.forward(1)
    assert wording.age(since) != before


@pytest.mark.parametrize("left", [SECOND, 1_001, 59_999, MINUTE, 61_500, HOUR, 90 * MINUTE, DAY, 3 * DAY + 5])
def test_the_time_left_reads_the_same_until_it_is_said_to_change(left: int) -> None:
    clock = FakeClock()
    wording, ask = Wording(texts=Texts(), clock=clock), waiting(clock() + left)
    before, lasts = wording.standing(ask), wording.standing_lasts(ask)
    assert lasts is not None
    clock.forward(lasts - 1)
    assert wording.standing(ask) == before
    clock.forward(1)
    assert wording.standing(ask) != before


def test_a_wait_that_is_over_or_endless_reads_the_same_for_ever() -> None:
    clock = FakeClock()
    wording = Wording(texts=Texts(), clock=clock)
    assert wording.standing(waiting(clock() + 999)) == "0s left"
    assert wording.standing_lasts(waiting(clock() + 999)) is None
    assert wording.standing_lasts(waiting(None)) is None


def waiting(until: int | None) -> Ask:
    asker = Asker(client="codex", project="/p", host="h")
    wait = Wait(id="w", process="1-a", since=0, until=until)
    return Ask(
        id="a",
        call_id="c",
        tool="ask_user",
        title="",
        questions=(NAME,),
        asker=asker,
        timeout_ms=None,
        state=State.PENDING,
        created_at=0,
        changed_at=0,
        wait=wait,
    )
