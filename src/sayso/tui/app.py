"""The terminal inbox as a program: looks at the desk when the bell rings, and shows the screens.

All but the first screen is loaded when it has been drawn: a person who opens the inbox waits for that one only.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from textual import events
from textual.app import App, SystemCommand
from textual.command import CommandPalette, Provider
from textual.content import Content
from textual.geometry import Size
from textual.notifications import SeverityLevel
from textual.screen import Screen

from sayso.asks.crowds import Quiet
from sayso.asks.draft import Draft, from_json, with_known
from sayso.asks.model import Ask
from sayso.asks.truth import Handover, as_it_went_on, handover
from sayso.bridge import from_threads
from sayso.clock import now_ms
from sayso.config import Config
from sayso.desks import Desks
from sayso.errors import ConfigError, NotFound, NotYours, StoreCorrupt, StoreError, StoreTooNew
from sayso.text import one_line
from sayso.tui.bars import NoticeBar
from sayso.tui.inbox import InboxScreen
from sayso.tui.inbox_watcher import InboxWatcher
from sayso.tui.keys import MOVES, shown_key
from sayso.tui.link import SURFACE
from sayso.tui.markdown import load_parser
from sayso.tui.notices import NoticeKind
from sayso.tui.onlooker import Onlooker
from sayso.tui.pasting import keep_pastes_whole
from sayso.tui.programs import give_to_tmux, pager, read
from sayso.tui.reflexes import REST
from sayso.tui.screen import Copy, LookAgain, Open, OpenNear, Read, SaysoScreen, Settled, Trouble
from sayso.tui.shared import Shared
from sayso.tui.signals import Signals, TerminalState, terminal_behind_tmux, terminal_state
from sayso.tui.themes import THEMES, remember_theme, remembered_theme, theme_for
from sayso.tui.typeahead import Passed
from sayso.tui.unsaved import keep_unsaved, losses, unsaved_asks

_WARM_UP_AFTER = 0.2
"""Seconds after which nobody waits for the first screen any more."""
_SETTLED_AFTER = 2.0
"""Seconds after which all that it starts with is there."""
_GRACE = 5.0
"""Seconds in which it leaves in order when it is told to end. Drafts are kept long before."""
_ROUNDS_EVERY = 10.0
"""Seconds between two looks after what no bell tells of: a bell that fell silent, waits for asks that are settled."""
_HANDOVER_SECONDS = 0.5
"""How long an outcome may take to reach its agent before the person is told that it is on its way."""
_FOLLOWED_SECONDS = 60.0
"""How long an outcome on its way is followed."""
_NAMED = 3
"""So many of the asks that something is not saved for are named."""
_TOLD_UNSAVED_FOR = 12.0
"""Seconds in which a person can read what they would lose."""
_TWICE = 2.0
"""Seconds within which the second press of a key counts as the second."""


def run(config: Config, until: int | None = None, translated: Callable[[str], str] = str) -> int:
    """Show the inbox until the person leaves it, or the file `until` has something to read; the exit code. What lower
    layers say is told as `translated` has it."""
    keep_pastes_whole()
    app = SaysoApp(config, translated=translated)

    async def watch(_: object) -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(_SETTLED_AFTER, _look_for_garbage)
        if until is not None:
            loop.add_reader(until, app.exit)

    with _no_log_on_the_screen(), _no_look_for_garbage():
        app.run(mouse=config.terminal_mouse, auto_pilot=watch)
    if app.failure:
        raise app.failure
    if lost := losses(app.shared, app.told_unsaved):
        raise StoreError("\n".join(lost))
    return app.return_code or 0


def _load_the_rest() -> None:
    """What the first screen does not need, before somebody waits for it."""
    from sayso.tui import agents, answer, commands, history  # noqa: F401 - loaded for those who use them

    load_parser()


@contextmanager
def _no_look_for_garbage() -> Iterator[None]:
    """Nearly all that it starts with stays. To look through that takes longer than a key may, at moments of its own
    choice."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _look_for_garbage() -> None:
    """From now on, but only among what has come since."""
    gc.freeze()
    gc.enable()


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


def _palette_commands() -> type[Provider]:
    from sayso.tui.palette_commands import PaletteCommands  # the inbox opens sooner without

    return PaletteCommands


class SaysoApp(App[int], inherit_bindings=False):
    """Shows the screens, hands keys on in order, and tells the person what is new."""

    CSS_PATH = Path(__file__).with_name("app.tcss")
    TITLE = "Sayso"
    ENABLE_COMMAND_PALETTE = True
    COMMANDS = {_palette_commands}  # noqa: RUF012 - Textual has it so
    NOTIFICATION_TIMEOUT = 4
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (60, "-normal"), (100, "-wide")]  # noqa: RUF012 - Textual has it so
    VERTICAL_BREAKPOINTS = [(0, "-short"), (15, "-high")]  # noqa: RUF012

    def __init__(
        self,
        config: Config,
        *,
        environ: Mapping[str, str] = os.environ,
        clock: Callable[[], int] = now_ms,
        ticks: Callable[[], float] = time.monotonic,
        translated: Callable[[str], str] = str,
    ) -> None:
        super().__init__(ansi_color=True if "NO_COLOR" in environ else None)
        # A page that glides redraws it twenty times, which a line over SSH shows late and a held key outruns.
        self.animation_level = "none"
        self.failure: ConfigError | None = None
        self.shared = Shared.build(config, environ, clock, ticks, translated)
        self._watcher = InboxWatcher(self.shared, changed=self._changed, failed=self._failed)
        self.signals = Signals(config, environ, self._write, terminal_behind_tmux)
        self.shared.keys.bind(self, "everywhere")
        self.shared.typing.begin(self, super().on_event)
        self.shared.notices.begin(self.set_timer, self._show_notices)
        self.shared.reflexes.ask_terminal(self._ask_for_echo)
        self._away: bool | None = None
        self._told_size: Size | None = None
        self._onlooker = Onlooker(self.shared.link, config.away_after, ticks, self.set_timer)
        self._interrupted = 0.0
        self.told_unsaved = set[str]()
        """What the person was told would be lost if they quit."""
        self._quiet = Quiet(clock)
        self._looked = asyncio.Event()
        """Set by the next look at the desk, and then replaced."""
        for theme in THEMES.values():
            self.register_theme(theme)
        self.theme = theme_for(remembered_theme(config), environ).name
        self.stylesheet.set_variables(self.get_css_variables())
        self._styles_are_new = True

    def refresh_css(self, animate: bool = True) -> None:
        """Textual has all styles read a second time as it starts, in case the theme came after them. Ours did not."""
        if self._styles_are_new:
            self._styles_are_new = False
            self.stylesheet.update(self, animate=animate)
        else:
            super().refresh_css(animate)

    def get_default_screen(self) -> Screen[None]:
        return InboxScreen(self.shared)

    async def on_mount(self) -> None:
        loop = asyncio.get_running_loop()
        for name in ("SIGTERM", "SIGHUP"):
            with suppress(AttributeError, NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(getattr(signal, name), self._leave)
        self.app_suspend_signal.subscribe(self, lambda _: self._onlooker.covered(), immediate=True)
        self.app_resume_signal.subscribe(self, lambda _: self._come_back())
        self.signals.take_title()
        self.shared.link.heard = from_threads(self._watcher.look_soon)
        self._watcher.look_soon()
        self.run_worker(self._watch(), group="watch")
        self.set_interval(_ROUNDS_EVERY, self._make_rounds)
        self._onlooker.used()
        self.set_timer(_WARM_UP_AFTER, self._warm_up)

    def _come_back(self) -> None:
        """Another program had the terminal, and nothing of ours is on it any more: all of it is drawn again, and can be
        acted on once it has been in view as long as something new must be."""
        self._onlooker.used()
        self.shared.reflexes.present(self.screen, REST)
        self.refresh(layout=True)

    def _warm_up(self) -> None:
        self.run_worker(_load_the_rest, group="warm up", thread=True)

    def _leave(self) -> None:
        """End in order, but send nothing: a closed terminal or a lost line is no answer, so that what was about to be
        sent stays a draft. A terminal that takes no more output must not keep us here for ever."""
        self.shared.board.outgoing.clear()
        limit = threading.Timer(_GRACE, os._exit, (1,))
        limit.daemon = True
        limit.start()
        if self.is_headless or terminal_state() is TerminalState.THERE:
            self.exit()
        else:
            self.run_worker(self._leave_terminal(), group="leave")

    async def _leave_terminal(self) -> None:
        """End without it: nothing can be given back to it, and what is left would never be drawn."""
        for screen in self.screen_stack:
            if isinstance(screen, SaysoScreen):
                await screen.save()
        await asyncio.to_thread(self.shared.link.close)
        os._exit(1)

    async def action_quit(self) -> None:
        """Whoever quits has answered: what is about to be sent is sent now. No other end sends it. What is neither sent
        nor kept is named first; who quits once more leaves it behind."""
        inbox, refused = self.screen_stack[0], list[str]()
        if isinstance(inbox, InboxScreen):
            refused = [*filter(None, [await inbox.end_turning_down()]), *await inbox.send_outgoing()]
        for screen in self.screen_stack:
            if isinstance(screen, SaysoScreen):
                await screen.save()
        await keep_unsaved(self.shared)
        left = unsaved_asks(self.shared)
        if left and (left.keys() - self.told_unsaved or self.shared.reflexes.held):
            self.told_unsaved |= left.keys()
            refused.append(self._told_unsaved(left))
        if refused:
            self.notify("\n".join(refused), severity="warning", timeout=_TOLD_UNSAVED_FOR, markup=False)
        else:
            self.exit()

    def _told_unsaved(self, left: Mapping[str, Ask]) -> str:
        wording = self.shared.wording
        named = [one_line(wording.headline(ask), 40) for ask in left.values()]
        more = [self.shared.texts.like_more.format(n=len(named) - _NAMED)] if len(named) > _NAMED else []
        return self.shared.texts.quit_loses.format(what="; ".join([*named[:_NAMED], *more]))

    async def on_unmount(self) -> None:
        """Say goodbye to the desk; the screens have kept their drafts by now."""
        self.signals.give_title_back()
        await asyncio.to_thread(self.shared.link.close)

    async def on_event(self, event: events.Event) -> None:
        """Keys and what is pasted go through the queue; those that come back up to the app have been through it."""
        if isinstance(
            event, events.Key | events.Paste | events.MouseDown | events.MouseScrollUp | events.MouseScrollDown
        ):
            self._onlooker.used()
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            await self.shared.typing.take(event)
            return
        if isinstance(event, events.MouseDown) and not event.is_forwarded:
            self.shared.reflexes.pressed(f"click {event.x},{event.y}", event.time)
        elif isinstance(event, events.CursorPosition):
            self.shared.reflexes.heard(event.time)
        elif isinstance(event, events.Resize):
            if event.size == self._told_size and self.screen_stack:
                self._come_back()  # Textual has set up the terminal anew, by which some are cleared
            self._told_size = event.size
        await super().on_event(event)

    async def on_key(self, event: events.Key) -> None:
        """In the place of Textual's own: no widget has taken this key, and perhaps nothing does."""
        event.prevent_default()
        if not await self._check_bindings(event.key) and event.is_printable:
            self.shared.reflexes.did_nothing()
            if isinstance(inbox := self.screen_stack[0], InboxScreen):
                inbox.words_came()

    async def on_passed(self, message: Passed) -> None:
        await self.shared.typing.arrive(message)

    # Looking at the desk

    async def _watch(self) -> None:
        try:
            await self._watcher.watch()
        except ConfigError as error:
            self.failure = error
            self.exit(error.exit_code)

    def _changed(self, new: Sequence[Ask]) -> None:
        self._looked.set()
        self._looked = asyncio.Event()
        self.told_unsaved &= unsaved_asks(self.shared).keys()
        if new:
            self._tell_of(new)
        self.signals.title(len(self.shared.board.folded))
        self._show_board()

    def _show_board(self) -> None:
        for screen in self._shown():
            screen.board_changed()

    def _shown(self) -> list[SaysoScreen[Any]]:
        """Our screens that have something on them."""
        ours = [screen for screen in self.screen_stack if isinstance(screen, SaysoScreen)]
        return [screen for screen in ours if screen.is_mounted and screen.alive]

    def on_trouble(self, message: Trouble) -> None:
        self._failed(message.error)

    def _failed(self, error: StoreError) -> None:
        """The store is away: say so everywhere until it is back."""
        board, wording = self.shared.board, self.shared.wording
        board.trouble_since = wording.clock() if board.trouble_since is None else board.trouble_since
        texts = self.shared.texts
        told = texts.damaged if isinstance(error, StoreCorrupt | StoreTooNew) else texts.trouble
        if error is self.shared.link.unwritable:
            told = texts.unwritable
        board.trouble = told.format(when=wording.when(board.trouble_since), error=self.shared.explained(error))
        self._watcher.look_later()
        self._show_board()

    def _make_rounds(self) -> None:
        if not self.is_headless and terminal_state() is TerminalState.GONE:
            self._leave()  # nothing tells us where it is not the one that we belong to
        self.run_worker(self._watcher.release_the_dead(), group="dead", exclusive=True)

    # Telling the person

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """In the place of Textual's toasts, which lie over what is to be read."""
        kind = NoticeKind.DONE if severity == "information" else NoticeKind.ALERT
        told = ": ".join(filter(None, (title, message)))
        seconds = self.NOTIFICATION_TIMEOUT if timeout is None else timeout
        self.shared.notices.tell(kind, Content.from_markup(told).plain if markup else told, seconds)

    def _show_notices(self) -> None:
        for screen in self.screen_stack:
            for bar in screen.query(NoticeBar):
                bar.show_notices()

    def _tell_of(self, new: Sequence[Ask]) -> None:
        if self._away is False and self.shared.config.terminal_notify_when == "away":
            return
        wording, texts = self.shared.wording, self.shared.texts
        crowds = {crowd.name: crowd for crowd in self.shared.board.crowds}
        new = self._quiet.worth_telling(new, crowds.keys())
        if not new:
            return
        newest = max(new, key=lambda ask: (ask.is_permission or ask.asker.crowd not in crowds, ask.created_at))
        who = {"client": wording.client(newest), "project": wording.project(newest)}
        title = texts.told_one.format(**who) if len(new) == 1 else texts.told_many.format(n=len(new))
        if len(crowds) == 1 and all(ask.asker.crowd in crowds and not ask.is_permission for ask in new):
            (crowd,) = crowds.values()
            title = texts.told_crowd.format(many=wording.how_many(crowd), **who)
        body = wording.headline(newest)
        self.run_worker(partial(self.signals.tell, f"Sayso: {title}", body), group="tell", thread=True)

    def on_look_again(self, message: LookAgain) -> None:
        self._watcher.look_soon()

    def on_settled(self, message: Settled) -> None:
        self.run_worker(self._follow(message.ask, message.done), group="handover")

    async def _follow(self, settled: Ask, done: str) -> None:
        """Say what was done once it is known whether the agent has it; and where that takes longer, when it has."""
        wording, seen = self.shared.wording, await self._delivered(settled, _HANDOVER_SECONDS)
        self._tell_done(seen, wording.told(seen, done))
        if not seen.state.answerable and handover(seen) is Handover.ON_ITS_WAY:
            seen = await self._delivered(seen, _FOLLOWED_SECONDS)
            if handover(seen) in (Handover.RECEIVED, Handover.NO_EFFECT):
                self._tell_done(seen, wording.heard(seen))

    def _tell_done(self, ask: Ask, told: str) -> None:
        """Name the ask where another is open: of that one nothing was done."""
        from sayso.tui.settling import SettlingScreen

        others = [each for each in self.screen_stack if isinstance(each, SettlingScreen) and each.ask.id != ask.id]
        if others:
            told = f"{told} ({one_line(self.shared.wording.headline(ask), 40)})"
        kind = NoticeKind.ELSEWHERE if others else NoticeKind.DONE
        self.shared.notices.tell(kind, told, self.NOTIFICATION_TIMEOUT)

    async def _delivered(self, settled: Ask, seconds: float) -> Ask:
        """The ask as soon as it is no longer on its way to an agent that waits, or as it is after so many seconds."""
        ask = settled
        with suppress(TimeoutError, StoreError, NotFound):
            async with asyncio.timeout(seconds):
                while handover(ask) is Handover.ON_ITS_WAY:
                    looked = self._looked
                    now = await self.shared.link.do(lambda desk: desk.get(settled.id))
                    ask = as_it_went_on(settled, now)
                    if handover(ask) is Handover.ON_ITS_WAY:
                        await looked.wait()
        return ask

    def on_app_focus(self, event: events.AppFocus) -> None:
        self._away = False
        self._onlooker.used()
        self._watcher.look_soon()  # what was entered elsewhere meanwhile rings nothing

    def on_app_blur(self, event: events.AppBlur) -> None:
        self._away = True
        self._onlooker.lost_focus()

    def _write(self, data: str) -> None:
        if self._driver is not None and not self.is_headless:
            self._driver.write(data)

    def _ask_for_echo(self) -> bool:
        """Have the terminal tell where its cursor is: it does so when it has drawn all that was written before, and
        what was typed until then comes before its reply, however slow the line is."""
        self._write("\x1b[6n")
        return self._driver is not None and not self.is_headless

    # Going from screen to screen

    def on_open(self, message: Open) -> None:
        self.run_worker(self._open(message.ask), group="open", exclusive=True)

    async def _open(self, ask: Ask) -> None:
        """Show the ask with what was entered for it before, in place of one that is open already."""
        from sayso.tui.answer import AnswerScreen
        from sayso.tui.settling import SettlingScreen

        self.shared.board.outgoing.pop(ask.id, None)  # what was about to be sent is a draft again
        with self.shared.typing.held():
            try:
                draft = await self._draft(ask)
            except StoreError as error:
                self.post_message(Trouble(error))
                return
            screen = AnswerScreen(self.shared, ask, draft)
            if isinstance(self.screen, SettlingScreen):
                await self.screen.save()
                await self.switch_screen(screen)
            else:
                await self.push_screen(screen)

    async def _draft(self, ask: Ask) -> Draft:
        """What was entered for it before, with those of its files that are still there."""
        person, unsaved = self.shared.config.person, self.shared.board.unsaved.get(ask.id)
        body = unsaved.body if unsaved else await self.shared.link.do(lambda desk: desk.draft(ask.id, person))
        draft = from_json(ask, body)
        if not draft.has_files:
            return draft
        return with_known(draft, await self.shared.link.do(lambda desk: desk.added(ask.id, person)))

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
            self.run_worker(partial(give_to_tmux, message.text), group="copy", exit_on_error=False, thread=True)
        self.notify(self.shared.texts.copied, markup=False)

    def on_read(self, message: Read) -> None:
        program = pager(self.shared.environ)
        try:
            code = read(self, program.words, message.text)
        except OSError as error:
            self.notify(program.not_started(self.shared.texts, error), severity="warning", markup=False)
        else:
            if code:
                told = self.shared.texts.program_failed.format(program=program.words[0], code=code)
                self.notify(told, severity="warning", markup=False)
            else:
                message.opened()

    def action_help(self) -> None:
        from sayso.tui.dialogs import HelpScreen

        context = self.screen.context if isinstance(self.screen, SaysoScreen) else ""
        self.push_screen(HelpScreen(self.shared, context))

    def action_history(self) -> None:
        from sayso.tui.history import HistoryScreen

        self.push_screen(HistoryScreen(self.shared))

    def action_commands(self) -> None:
        from sayso.tui.commands import CommandsScreen

        self.push_screen(CommandsScreen(self.shared))

    def action_agents(self) -> None:
        from sayso.tui.agents import AgentsScreen

        self.push_screen(AgentsScreen(self.shared))

    def action_away(self) -> None:
        """Say that the person is away, or back; but not because of one letter among many that were pasted."""
        self.run_worker(self._switch_presence(), group="presence")

    async def _switch_presence(self) -> None:
        if not await self.shared.reflexes.alone():
            return
        person, was_away = self.shared.config.person, self.shared.board.absence is not None

        def switch(desks: Desks) -> None:
            from sayso.agent_guard import refuse_agents  # a person who only looks has no use for it

            refuse_agents(desks, "say whether a person is there")
            (desks.presence.come_back if was_away else desks.presence.go_away)(person, SURFACE)

        try:
            await self.shared.link.with_desks(switch)
        except StoreError as error:
            self._failed(error)
        except NotYours as error:
            self.notify(self.shared.explained(error), severity="warning", markup=False)
        else:
            told = self.shared.texts.now_back if was_away else self.shared.texts.now_away
            self.notify(told.format(key=self.shared.keys.shown("away")), markup=False)
        self._watcher.look_soon()

    async def action_interrupt(self) -> None:
        """Copy what is selected with the mouse; pressed twice without a selection, quit."""
        if selected := self.screen.get_selected_text():
            self.on_copy(Copy(selected))
        elif time.monotonic() - self._interrupted < _TWICE:
            await self.action_quit()
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
        told = set[str]()
        for active in screen.active_bindings.values():
            binding = active.binding
            # A permission takes its own key and no way around it.
            offered = binding.id and binding.id != "allow" and hasattr(texts, f"do_{binding.id}")
            if offered and active.enabled and binding.id not in told:
                told.add(str(binding.id))
                node, action = active.node, binding.action
                yield SystemCommand(
                    getattr(texts, f"do_{binding.id}"),
                    shown_key(binding.key),
                    lambda node=node, action=action: node.run_action(action),
                    discover=binding.id not in MOVES,
                )
        for name in ("auto", *THEMES):
            theme = texts.palette_theme.format(theme=getattr(texts, f"theme_{name}"))
            yield SystemCommand(theme, "", partial(self._choose_theme, name))

    def _choose_theme(self, name: str) -> None:
        self.theme = theme_for(name, self.shared.environ).name
        remember_theme(self.shared.config, name)
