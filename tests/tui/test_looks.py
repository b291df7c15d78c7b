"""How it looks: golden screens at three sizes, themes, no colours, another language.

A golden screen that differs is written beside the old one as `<name>.new`; look at it, and move it over if it is right.
"""

from __future__ import annotations

import pkgutil
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
import textual.widgets
from tests.asks.samples import FakeClock
from tests.operations.works import Works
from tests.tui.harness import FOUR, NAME, Person, Place, select, until
from textual.widget import Widget

import sayso.tui
from sayso.asks.model import Answer, Asker, NewAsk, Settler
from sayso.config import THEME_NAMES
from sayso.tui.themes import THEMES, theme_for

pytestmark = pytest.mark.anyio

GOLDEN = Path(__file__).with_name("golden")
SIZES = [(120, 40), (80, 24), (40, 20)]
BEN = Settler(person="ben", surface="browser")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeClock]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield FakeClock()
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def busy(tmp_path: Path, clock: FakeClock) -> Iterator[Place]:
    """A place where four agents ask and two asks have ended, at times that do not change."""
    place = Place(tmp_path, clock)
    place.environ["XDG_CONFIG_HOME"] = "/home/anna/.config"
    ended = place.ask(select("Merge the *fix* before the release?"), project="/home/anna/shop", client="codex")
    place.desk.answer(ended.ask.id, [Answer(question="q", chosen=("r",), note="but squash it")], BEN)
    place.desk.delivered(ended)
    clock.forward(60_000)
    refused = place.ask(NAME, project="/home/anna/notes")
    place.desk.reject(refused.ask.id, "Names come last.", BEN)
    asker = Asker(client="aider", project="/home/anna/notes", host="laptop")
    place.desk.leave(NewAsk(tool="ask_user", questions=(NAME,), asker=asker, title="Loose ends"))
    clock.forward(3_600_000)
    place.ask(select("Which colour should the **button** have?"), client="opencode", project="/srv/www", host="web1")
    clock.forward(150_000)
    place.ask(*FOUR, client="claude-code", project="/home/anna/src/api", host="buildbox")
    clock.forward(8_000)
    place.ask(
        select("Ship it *now*?"), client="codex", project="/home/anna/shop", title="Release 2.4", timeout_ms=300_000
    )
    clock.forward(42_000)
    yield place
    place.close()


async def compare(anna: Person, name: str, size: tuple[int, int]) -> None:
    """The screen is the golden one, once it has come to rest."""
    file = GOLDEN / f"{name}-{size[0]}x{size[1]}.txt"
    wanted = file.read_text(encoding="utf-8").rstrip("\n") if file.exists() else None
    try:
        await until(lambda: anna.screen().rstrip("\n") == wanted, lambda: "the golden screen")
    except AssertionError:
        GOLDEN.mkdir(exist_ok=True)
        new = file.with_suffix(".txt.new")
        new.write_text(anna.screen().rstrip("\n") + "\n", encoding="utf-8")
        raise AssertionError(f"{new} is not {file.name}:\n{anna.screen()}") from None


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_inbox_the_help_and_the_history_look_right(busy: Place, size: tuple[int, int]) -> None:
    async with busy.inbox(size=size) as anna:
        await anna.press("down")
        await compare(anna, "inbox", size)
        await anna.press("?")
        await compare(anna, "help", size)
        await anna.press("escape", "h")
        await anna.sees("rejected by")
        await anna.press("end")
        await compare(anna, "history", size)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_every_step_of_answering_looks_right(busy: Place, size: tuple[int, int]) -> None:
    async with busy.inbox(size=size) as anna:
        await anna.press("down")
        await anna.open()
        await anna.press("space")
        await compare(anna, "options", size)
        await anna.press("x")
        await anna.type("not before Monday")
        await compare(anna, "reject", size)
        await anna.press("escape", "tab", "2", "o")
        await anna.type("Tokyo, 東京")
        await anna.press("escape", "a")
        await anna.type("latency matters")
        await compare(anna, "words", size)
        await anna.press("escape", "tab", "y", "ctrl+s")
        await compare(anna, "review", size)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_an_ask_that_was_answered_elsewhere_looks_right_in_german_too(busy: Place, size: tuple[int, int]) -> None:
    async with busy.inbox(size=size, environ={"LANG": "de_DE.UTF-8"}) as anna:
        await anna.press("down")
        await anna.open()
        await compare(anna, "german", size)
        (ask,) = [ask for ask in busy.desk.inbox() if len(ask.questions) == 4]
        busy.desk.reject(ask.id, "", BEN)
        await anna.sees("Schon abgelehnt")
        await compare(anna, "settled", size)


@pytest.fixture
def at_work(busy: Place, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """The same place with commands: one that runs, one that failed, a sequence that went well."""
    for module in ("sayso.detached", "sayso.operations.reader"):
        monkeypatch.setattr(f"{module}.this_host", lambda: "buildbox")
    works = Works(busy.store, busy.config.operations_dir, clock)
    done = works.run(tool="release")
    works.end(works.step(done, 1, "make", "dist"))
    clock.forward(72_300)
    works.end(done)
    failed = works.run("cargo", "test", "--all-features", tool="cargo_test", printed="running 214 tests\n")
    works.print(failed, "error: test failed, to rerun pass `--lib`\n", "stderr")
    clock.forward(8_400)
    works.end(failed, 101)
    works.run(
        "npm", "run", "build", printed="".join(f"[{number}/240] Compiling 東京 {number}\n" for number in range(90))
    )
    clock.forward(63_000)
    yield busy
    works.tidy()


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_commands_their_output_and_the_question_before_stopping_look_right(
    at_work: Place, size: tuple[int, int]
) -> None:
    async with at_work.inbox(size=size) as anna:
        await anna.press("r")
        await anna.sees("npm run build")
        await compare(anna, "commands", size)
        await anna.press("enter")
        await compare(anna, "output", size)
        await anna.press("x")
        await compare(anna, "stop", size)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_a_command_that_failed_looks_right_in_german_too(at_work: Place, size: tuple[int, int]) -> None:
    async with at_work.inbox(size=size, environ={"LANG": "de_DE.UTF-8"}) as anna:
        await anna.press("r")
        await anna.sees("cargo test")
        await anna.press("down", "enter", "s")
        await compare(anna, "befehl", size)


async def test_resizing_keeps_everything_in_reach(busy: Place) -> None:
    async with busy.inbox(size=(120, 40)) as anna:
        await anna.press("down")
        await anna.open()
        for size in ((40, 12), (200, 60), (24, 8), (80, 24)):
            await anna.pilot.resize_terminal(*size)
            await anna.press("down", "up")
            await anna.sees("1. Postgre")
        await anna.press("2")
        await anna.sees("Where should it run?")


@pytest.mark.parametrize("name", ["dark", "light", "contrast", "terminal", "nord", "paper"])
async def test_every_theme_can_show_every_screen(busy: Place, name: str) -> None:
    busy.environ["SAYSO_THEME"] = name
    async with busy.inbox() as anna:
        assert anna.app.current_theme.name == f"sayso-{name}"
        await anna.press("down")
        await anna.open()
        await anna.sees("CREATE TABLE orders")
        await anna.press("ctrl+s")
        await anna.sees("(needs an answer)")


ON_EVERY_GROUND = ("foreground", "muted", "mark", "primary", "secondary", "warning", "error", "success")
IN_CODE = ("code", "code-keyword", "code-string", "code-number", "code-comment", "code-name")


@pytest.mark.parametrize("name", [name for name, theme in THEMES.items() if not theme.ansi])
def test_every_text_of_a_theme_stands_out_from_its_ground(name: str) -> None:
    """WCAG AA: 4.5 to 1."""
    theme = THEMES[name]
    colours = {**vars(theme), **theme.variables}
    pairs = [(text, ground) for text in ON_EVERY_GROUND for ground in ("background", "surface", "panel")]
    pairs += [(text, "code-background") for text in IN_CODE]
    pairs += [("cursor-foreground", "cursor-background"), ("background", "error")]
    contrasts = {pair: contrast(colours[pair[0]], colours[pair[1]]) for pair in pairs}
    assert {pair: found for pair, found in contrasts.items() if found < 4.5} == {}


def contrast(text: str, ground: str) -> float:
    light, dark = sorted((luminance(text), luminance(ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_there_are_twelve_themes_and_the_settings_know_them_all() -> None:
    assert tuple(THEMES) == THEME_NAMES
    assert len(THEMES) == 12


async def test_without_colours_none_are_used_and_the_cursor_still_shows(
    busy: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with busy.inbox(environ={"NO_COLOR": "1"}) as anna:
        await anna.sees("> Release 2.4")
        background = anna.app.screen.background_colors[1]
        strips = anna.app.screen._compositor.render_strips()
        for line_filter in anna.app._filters:
            if line_filter.enabled:
                strips = [strip.apply_filter(line_filter, background) for strip in strips]
        styles = [segment.style for strip in strips for segment in strip if segment.style]
        coloured = [style for style in styles if any(c and not c.is_default for c in (style.color, style.bgcolor))]
        assert coloured == []
        assert any(style.reverse for style in styles)


@pytest.mark.parametrize(
    ("setting", "environ", "theme"),
    [
        ("auto", {}, "dark"),
        ("auto", {"COLORFGBG": "0;15"}, "light"),
        ("auto", {"COLORFGBG": "15;0"}, "dark"),
        ("contrast", {"COLORFGBG": "0;15"}, "contrast"),
        ("light", {"NO_COLOR": "1"}, "terminal"),
    ],
)
def test_the_theme_follows_the_settings_and_the_terminal(setting: str, environ: dict[str, str], theme: str) -> None:
    assert theme_for(setting, environ) == THEMES[theme]


def test_no_widget_is_called_like_one_of_textual() -> None:
    """Its styles would hold for ours as well."""
    for found in (*pkgutil.iter_modules(sayso.tui.__path__, "sayso.tui."), *_modules_of_textual()):
        import_module(found.name)
    kinds = list(_below(Widget))
    ours = {kind.__name__ for kind in kinds if kind.__module__.startswith("sayso.")}
    assert ours & {kind.__name__ for kind in kinds if kind.__module__.startswith("textual.")} == set()


def _modules_of_textual() -> Iterator[pkgutil.ModuleInfo]:
    yield from (
        found for found in pkgutil.iter_modules(textual.__path__, "textual.") if found.name == "textual.command"
    )
    yield from pkgutil.iter_modules(textual.widgets.__path__, "textual.widgets.")


def _below(kind: type[Widget]) -> Iterator[type[Widget]]:
    for below in kind.__subclasses__():
        yield below
        yield from _below(below)
