"""A person at the terminal inbox and agents that ask, for the tests: a real store, real screens, no terminal.

The agents' side opens the store a second time, as another process would.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TypeVar

from tests.asks.samples import never_twice
from textual.events import InputEvent, Key, MouseDown, MouseUp, Paste
from textual.keys import _character_to_key
from textual.pilot import Pilot

from sayso.asks.desk import AskDesk, Held
from sayso.asks.model import Ask, Asker, Kind, NewAsk, Option, Question, State
from sayso.clock import now_ms
from sayso.config import Config, load
from sayso.store import open_store
from sayso.tui.answer import AnswerScreen
from sayso.tui.app import SaysoApp

WAIT = 60.0
SIZE = (80, 24)
READING = 1.0
"""Seconds in which a person has read what is on the screen."""
T = TypeVar("T")


class Place:
    """One machine: a store, the agents that ask, and inboxes that can be opened on it."""

    def __init__(self, folder: Path, clock: Callable[[], int] = now_ms, **settings: str) -> None:
        self.folder, self.clock = folder, clock
        self.ticks = Ticks()
        self.environ = {
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "SAYSO_STATE_DIR": str(folder / "state"),
            "SAYSO_PERSON": "anna",
            **{f"SAYSO_{name.upper()}": value for name, value in settings.items()},
        }
        self.store = open_store(self.config)
        self.desk = AskDesk(self.store, clock=never_twice(clock))

    @property
    def config(self) -> Config:
        return load(environ=self.environ, cwd=self.folder)

    def close(self) -> None:
        self.store.close()

    def ask(
        self,
        *questions: Question,
        title: str = "",
        client: str = "claude-code",
        project: str = "/home/anna/api",
        host: str = "workbench",
        timeout_ms: int | None = None,
    ) -> Held:
        """An agent asks and waits."""
        asker = Asker(client=client, project=project, host=host)
        new = NewAsk(tool="ask_user", questions=questions, asker=asker, title=title, timeout_ms=timeout_ms)
        return self.desk.hold(new)

    def now(self, held: Held) -> Ask:
        """How the ask stands now."""
        return self.desk.get(held.ask.id)

    async def outcome(self, held: Held) -> Ask:
        """The ask once it is no longer pending."""

        def ended() -> Ask | None:
            ask = self.now(held)
            return None if ask.state is State.PENDING else ask

        found = await until(ended, lambda: "the ask to be settled")
        assert found is not None
        return found

    @asynccontextmanager
    async def inbox(
        self,
        size: tuple[int, int] = SIZE,
        environ: Mapping[str, str] | None = None,
        translated: Callable[[str], str] = str,
    ) -> AsyncIterator[Person]:
        """A person who opens the terminal inbox, and quits it at the end."""
        environ = {**self.environ, **(environ or {})}
        app = SaysoApp(self.config, environ=environ, clock=self.clock, ticks=self.ticks, translated=translated)
        async with app.run_test(size=size, notifications=True) as pilot:
            person = Person(app, pilot, self.ticks)
            await until(lambda: app.shared.board.looked or app.shared.board.trouble, person.screen)
            await pilot.pause()
            yield person


class Ticks:
    """The seconds of a clock that stands still until somebody waits."""

    def __init__(self) -> None:
        self._now = 1_000.0

    def __call__(self) -> float:
        return self._now

    def wait(self, seconds: float) -> None:
        self._now += seconds


class Person:
    """Looks at the screen, presses keys, clicks."""

    def __init__(self, app: SaysoApp, pilot: Pilot[int], ticks: Ticks) -> None:
        self.app, self.pilot, self.ticks = app, pilot, ticks

    def screen(self) -> str:
        """What is on the screen, as text."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)

    async def press(self, *keys: str) -> None:
        """Press keys one after the other, each when what is on the screen could be read."""
        await self._press_each((READING, key) for key in keys)

    async def press_after(self, seconds: float, key: str) -> None:
        """Press a key so long after the last one, and wait until it has done what it does."""
        await self._press_each([(seconds, key)])

    async def hold(self, key: str, seconds: float = 1.0) -> None:
        """Hold a key down: it repeats after half a second, then thirty times a second."""
        gaps = [READING, 0.5, *[0.033] * int((seconds - 0.5) / 0.033)]
        await self._press_each((gap, key) for gap in gaps)

    async def _press_each(self, presses: Iterable[tuple[float, str]]) -> None:
        await self.settled()
        for seconds, key in presses:
            self.ticks.wait(seconds)
            self.post(key)
            await self.settled()

    def burst(self, *keys: str) -> None:
        """All at once, without waiting for the screen."""
        for key in keys:
            self.post(key)

    def post(self, key: str) -> None:
        character = key if len(key) == 1 else " " if key == "space" else None
        name = "space" if key == " " else _character_to_key(key) if len(key) == 1 else key
        self._send(Key(name, character))

    def _send(self, event: InputEvent | Paste) -> None:
        event.time = self.ticks()
        self.app.post_message(event)

    async def settled(self) -> None:
        """Wait until all keys have done what they do, and that is on the screen."""
        await self._taken()
        await until(self._calm, self.screen)
        await self.pilot.pause(0)

    async def _taken(self) -> None:
        """Wait until the app has seen all that was sent to it. To ask every widget, as a pause does, takes longer."""
        taken = asyncio.Event()
        if self.app.call_later(taken.set):
            await asyncio.wait_for(taken.wait(), WAIT)

    def _calm(self) -> bool:
        shared = self.app.shared
        return not self.app.is_running or (shared.typing.idle and shared.reflexes.ready is not None)

    async def type(self, text: str) -> None:
        """Type words: characters only, faster than they are drawn."""
        await self.settled()
        self.ticks.wait(READING)
        self.burst(*text)
        await self.settled()

    async def paste(self, text: str) -> None:
        """Paste words, all at once."""
        await self.settled()
        self.ticks.wait(READING)
        self._send(Paste(text))
        await self.settled()

    async def open(self) -> None:
        """Open the ask at the cursor. A key does not count where something else came into view in that very moment:
        then it is pressed again."""
        await self.press("enter")
        with suppress(TimeoutError):
            await asyncio.wait_for(until(lambda: self._has_opened() or self._was_refused(), self.screen), WAIT / 4)
        if not self._has_opened():
            await self.press("enter")
            await until(self._has_opened, self.screen)
        await self.pilot.pause(0)

    def _was_refused(self) -> bool:
        """Whether the person was told that the last key did not count."""
        _, at = self.app.shared.reflexes._told
        return at == self.ticks()

    def _has_opened(self) -> bool:
        return isinstance(self.app.screen, AnswerScreen) and self.app.screen.is_mounted

    async def sees(self, *texts: str) -> None:
        for text in texts:
            await self._sees(text)

    async def _sees(self, text: str) -> None:
        await until(lambda: self._shows(text), lambda: f"{text!r} on\n{self.screen()}")

    def _shows(self, text: str) -> bool:
        """Whether the text stands there, in one line or wrapped."""
        screen = self.screen()
        return text in screen or text in " ".join(screen.replace("▌", " ").split())

    async def sees_not(self, text: str) -> None:
        await until(lambda: text not in self.screen(), lambda: f"{text!r} to go from\n{self.screen()}")

    async def click(self, text: str) -> None:
        """Click the first place where this text stands."""
        await self.sees(text)
        lines = self.screen().split("\n")
        y = next(number for number, line in enumerate(lines) if text in line)
        await self.settled()
        self.ticks.wait(READING)
        x = lines[y].index(text)
        for kind in (MouseDown, MouseUp):
            self._send(kind(None, x, y, 0, 0, 1, False, False, False, screen_x=x, screen_y=y))
        await self.pilot.pause(0)
        await self.settled()


async def until(look: Callable[[], T], what: Callable[[], str]) -> T:
    """What `look` finds as soon as it finds something; an AssertionError when that takes too long."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        if found := look():
            return found
        await asyncio.sleep(0.03)
    raise AssertionError(f"Waited {WAIT:.0f} seconds for {what()}")


def option(option_id: str, label: str, description: str = "", *, recommended: bool = False) -> Option:
    return Option(id=option_id, label=label, description=description, recommended=recommended)


def select(text: str = "Which colour?", *options: Option, question_id: str = "q", required: bool = True) -> Question:
    """A question with one answer among options; red and blue if nothing else is offered."""
    offered = options or (option("r", "Red"), option("b", "Blue"))
    return Question(id=question_id, text=text, kind=Kind.SELECT, options=offered, required=required)


DATABASE = Question(
    id="db",
    title="Database",
    text=(
        "Which **database** should the service use?\n\nThe schema has `jsonb` columns:\n\n"
        "```sql\nCREATE TABLE orders (\n    id bigint PRIMARY KEY,\n    body jsonb NOT NULL\n);\n```"
    ),
    kind=Kind.SELECT,
    options=(
        option("pg", "PostgreSQL", "One server that the team runs already.", recommended=True),
        option("lite", "SQLite", "A file beside the program: no server, one writer at a time."),
        option("duck", "DuckDB"),
    ),
)
REGIONS = Question(
    id="regions",
    title="Regions",
    text="Where should it run?",
    kind=Kind.MULTI_SELECT,
    options=(option("fra", "Frankfurt", recommended=True), option("dub", "Dublin"), option("iad", "Virginia")),
    required=False,
)
DROP = Question(id="drop", title="Clean up", text="May I drop the old table?", kind=Kind.CONFIRM)
NAME = Question(id="name", title="Name", text="What should the service be called?", placeholder="orders-api")
FOUR = (DATABASE, REGIONS, DROP, NAME)
