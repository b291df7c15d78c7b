"""The terminal inbox as a program: looks at the desk when the bell rings, and shows the screens."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from textual import events
from textual.app import App, SystemCommand
from textual.command import CommandPalette
from textual.screen import Screen

from sayso.asks.desk import Desk, now_ms
from sayso.asks.model import Ask
from sayso.config import Config
from sayso.errors import ConfigError, StoreError
from sayso.tui import draft as drafts
from sayso.tui.answer import AnswerScreen
from sayso.tui.dialogs import HelpScreen
from sayso.tui.draft import Draft
from sayso.tui.history import HistoryScreen
from sayso.tui.inbox import InboxScreen
from sayso.tui.keys import shown_key
from sayso.tui.programs import give_to_tmux, pager, read, terminal_behind_tmux
from sayso.tui.screen import Copy, Open, OpenNear, Read, SaysoScreen, Trouble
from sayso.tui.settling import SettlingScreen
from sayso.tui.shared import Shared
from sayso.tui.signals import Signals
from sayso.tui.themes import THEMES, theme_for

_PAGE = 500
_QUIET = 0.05
"""Seconds between two looks at the desk at least: many rings at once are one."""
_TWICE = 2.0
"""Seconds within which the second press of a key counts as the second."""


def run(config: Config) -> int:
    """Show the inbox until the person leaves it; the exit code."""
    app = SaysoApp(config)
    with _no_log_on_the_screen():
        app.run(mouse=config.terminal_mouse)
    if app.failure:
        raise app.failure
    return app.return_code or 0


@contextmanager
def _no_log_on_the_screen() -> Iterator[None]:
    """The screen is drawn on stderr: what is logged there meanwhile would end up in the middle of it."""
    logger = logging.getLogger("sayso")
    on_screen = [handler for handler in logger.handlers if type(handler) is logging.StreamHandler]
    for handler in on_screen:
        logger.removeHandler(handler)
    try:
        yield
    finally:
        for handler in on_screen:
            logger.addHandler(handler)


class SaysoApp(App[int], inherit_bindings=False):
    """Owns the board: nothing else asks the desk what there is."""

    CSS_PATH = "app.tcss"
    TITLE = "Sayso"
    ENABLE_COMMAND_PALETTE = True
    NOTIFICATION_TIMEOUT = 4

    def __init__(
        self, config: Config, *, environ: Mapping[str, str] = os.environ, clock: Callable[[], int] = now_ms
    ) -> None:
        super().__init__(ansi_color=True if "NO_COLOR" in environ else None)
        self._home: asyncio.AbstractEventLoop | None = None
        self._rung = asyncio.Event()
        self.failure: ConfigError | None = None
        self.shared = Shared.build(config, environ, self._heard, clock)
        self.signals = Signals(config, environ, self._write, terminal_behind_tmux)
        self.shared.keys.bind(self, "everywhere")
        self._away: bool | None = None
        self._trouble_since: int | None = None
        self._interrupted = 0.0
        for theme in THEMES.values():
            self.register_theme(theme)
        self.theme = theme_for(config.theme, environ).name

    def get_default_screen(self) -> Screen[None]:
        return InboxScreen(self.shared)

    async def on_mount(self) -> None:
        self._home = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            with suppress(NotImplementedError, RuntimeError, ValueError):
                self._home.add_signal_handler(number, self.exit)
        self.signals.take_title()
        self.run_worker(self._watch(), group="watch")
        self.set_interval(1.0, self._second)
        self._rung.set()

    async def on_unmount(self) -> None:
        """Keep every draft, and say goodbye to the desk."""
        for screen in self.screen_stack:
            if isinstance(screen, SettlingScreen):
                await screen.save()
        self.signals.give_title_back()
        await asyncio.to_thread(self.shared.link.close)

    # Looking at the desk

    def _heard(self) -> None:
        """In the bell's thread."""
        if self._home:
            with suppress(RuntimeError):
                self._home.call_soon_threadsafe(self._rung.set)

    async def _watch(self) -> None:
        """Endless until the app ends: look after each ring, and not more often than a screen can follow."""
        while True:
            await self._rung.wait()
            self._rung.clear()
            await self._look()
            await asyncio.sleep(_QUIET)

    async def _look(self) -> None:
        board = self.shared.board
        try:
            asks = await self.shared.link.do(_all_asks)
            new = [ask for ask in asks if ask.id not in {known.id for known in board.asks}]
            board.drafts |= await self._with_drafts(new)
        except StoreError as error:
            self.on_trouble(Trouble(error))
            return
        except ConfigError as error:
            self.failure = error
            self.exit(error.exit_code)
            return
        first, board.looked = not board.looked, True
        board.asks, board.trouble, self._trouble_since = asks, "", None
        if first:
            board.seen |= {ask.id for ask in asks}
        elif new:
            self._tell_of(new)
        self.signals.title(len(asks))
        self._show_board()

    async def _with_drafts(self, asks: list[Ask]) -> set[str]:
        person = self.shared.config.person
        return await self.shared.link.do(lambda desk: {ask.id for ask in asks if desk.draft(ask.id, person)})

    def _show_board(self) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, SaysoScreen) and screen.is_mounted:
                screen.board_changed()

    def on_trouble(self, message: Trouble) -> None:
        """The store is away: say so everywhere until it is back."""
        if self._trouble_since is None:
            self._trouble_since = self.shared.wording.clock()
        when = self.shared.wording.when(self._trouble_since)
        self.shared.board.trouble = self.shared.texts.trouble.format(when=when, error=message.error)
        self._show_board()

    def _second(self) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, SaysoScreen) and screen.is_mounted:
                screen.tick()
        if self.shared.board.trouble:
            self._rung.set()
        else:
            self.run_worker(self._release_the_dead(), group="dead", exclusive=True)

    async def _release_the_dead(self) -> None:
        try:
            await self.shared.link.do(Desk.release_the_dead)
        except StoreError as error:
            self.post_message(Trouble(error))

    # Telling the person

    def _tell_of(self, new: list[Ask]) -> None:
        wording, texts = self.shared.wording, self.shared.texts
        newest = max(new, key=lambda ask: ask.created_at)
        self.shared.board.newest = texts.newest.format(headline=wording.headline(newest))
        if self._away is False and self.shared.config.terminal_notify_when == "away":
            return
        who = {"client": wording.client(newest), "project": wording.project(newest)}
        title = texts.told_one.format(**who) if len(new) == 1 else texts.told_many.format(n=len(new))
        body = wording.headline(newest)
        self.run_worker(asyncio.to_thread(self.signals.tell, f"Sayso: {title}", body), group="tell")

    def on_app_focus(self, event: events.AppFocus) -> None:
        self._away = False

    def on_app_blur(self, event: events.AppBlur) -> None:
        self._away = True

    def _write(self, data: str) -> None:
        if self._driver is not None and not self.is_headless:
            self._driver.write(data)

    # Going from screen to screen

    def on_open(self, message: Open) -> None:
        self.run_worker(self._open(message.ask), group="open", exclusive=True)

    async def _open(self, ask: Ask) -> None:
        """Show the ask with what was entered for it before, in place of one that is open already."""
        try:
            draft = self.shared.board.unsaved.get(ask.id) or await self._draft(ask)
        except StoreError as error:
            self.post_message(Trouble(error))
            return
        if isinstance(self.screen, SettlingScreen):
            await self.screen.save()
            await self.switch_screen(AnswerScreen(self.shared, ask, draft))
        else:
            await self.push_screen(AnswerScreen(self.shared, ask, draft))

    async def _draft(self, ask: Ask) -> Draft:
        person = self.shared.config.person
        return drafts.from_json(ask, await self.shared.link.do(lambda desk: desk.draft(ask.id, person)))

    def on_open_near(self, message: OpenNear) -> None:
        inbox = self.screen_stack[0]
        asks = list(inbox.asks) if isinstance(inbox, InboxScreen) else []
        places = [place for place, ask in enumerate(asks) if ask.id == message.ask_id]
        others = [ask for ask in asks if ask.id != message.ask_id]
        if not others:
            self.notify(self.shared.texts.no_other_ask, markup=False)
        else:
            place = places[0] + message.distance if places else 0
            self.run_worker(self._open(asks[place % len(asks)]), group="open", exclusive=True)

    def on_copy(self, message: Copy) -> None:
        self.copy_to_clipboard(message.text)
        if self.shared.environ.get("TMUX"):
            self.run_worker(asyncio.to_thread(give_to_tmux, message.text), group="copy", exit_on_error=False)
        self.notify(self.shared.texts.copied, markup=False)

    def on_read(self, message: Read) -> None:
        command = pager(self.shared.environ)
        try:
            read(self, command, message.text)
        except OSError as error:
            told = self.shared.texts.no_program.format(program=command[0], error=error.strerror)
            self.notify(told, severity="warning", markup=False)

    def action_help(self) -> None:
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.shared))

    def action_history(self) -> None:
        self.push_screen(HistoryScreen(self.shared))

    def action_interrupt(self) -> None:
        """Copy what is selected with the mouse; pressed twice without a selection, quit."""
        if selected := self.screen.get_selected_text():
            self.on_copy(Copy(selected))
        elif time.monotonic() - self._interrupted < _TWICE:
            self.exit()
        else:
            self._interrupted = time.monotonic()
            key = self.shared.keys.shown("interrupt")
            self.notify(self.shared.texts.quit_again.format(key=key), markup=False)

    # The command palette

    def action_command_palette(self) -> None:
        if not any(isinstance(screen, CommandPalette) for screen in self.screen_stack):
            self.push_screen(CommandPalette(placeholder=self.shared.texts.palette_hint, id="--command-palette"))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        texts = self.shared.texts
        for active in screen.active_bindings.values():
            binding = active.binding
            if binding.id and active.enabled and hasattr(texts, f"do_{binding.id}"):
                node, action = active.node, binding.action
                yield SystemCommand(
                    getattr(texts, f"do_{binding.id}"),
                    shown_key(binding.key),
                    lambda node=node, action=action: node.run_action(action),
                )
        for name in THEMES:
            told = texts.palette_theme.format(theme=getattr(texts, f"theme_{name}"))
            yield SystemCommand(told, "", lambda name=name: setattr(self, "theme", THEMES[name].name))


def _all_asks(desk: Desk) -> list[Ask]:
    """Every ask that can be answered, oldest first."""
    asks = desk.inbox(most=_PAGE)
    while asks and len(asks) % _PAGE == 0:
        page = desk.inbox(after=asks[-1], most=_PAGE)
        if not page:
            break
        asks += page
    return asks
