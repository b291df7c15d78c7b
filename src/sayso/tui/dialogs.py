"""Small questions of ours to the person, over a screen: why a no, what is unclear, if it is meant. And the help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.style import Style

from sayso.asks.model import Ask
from sayso.config import user_file
from sayso.text import one_line
from sayso.tui.bars import Foot, KeyBar, NoticeBar, TextLine
from sayso.tui.field import TextField
from sayso.tui.keys import shown_key
from sayso.tui.markdown import Block
from sayso.tui.notices import NoticeKind
from sayso.tui.prose import Pane, Prose
from sayso.tui.screen import Dialog, SaysoScreen
from sayso.tui.shared import Shared
from sayso.tui.texts import Texts

_KEY_WIDTH = 14
_NORMAL, _HIGH = 60, 15
"""Columns and lines from which on a dialog leaves something of the screen around it."""
_LEAST_FIELD = 4
_ROWS_BESIDE, _ROWS_BESIDE_IN_SHORT = 13, 9
"""What a dialog needs for all else than what it is about, with a field of its least height."""
_CONTEXTS = ("everywhere", "inbox", "answer", "field", "history", "commands", "agents", "lists", "pages")


@dataclass(frozen=True, kw_only=True)
class DialogReply:
    """What was typed, and whether the person meant it."""

    text: str
    confirmed: bool


class ReasonDialog(Dialog[DialogReply]):
    """One field, confirmed by the key that is done with a field."""

    AUTO_FOCUS = ""

    def __init__(
        self, shared: Shared, *, title: str, about: str, hint: str, text: str, typed: Callable[[str], object]
    ) -> None:
        super().__init__()
        self._shared, self._typed = shared, typed
        self._title, self._about, self._hint, self._text = title, about, hint, text
        self._opened_in = shared.reflexes.run
        shared.keys.bind(self, "dialog")

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield TextLine(id="title")
            yield TextLine(id="about")
            yield TextField(self._shared.keys, id="reason")
            yield TextLine(id="confirm")
        with Foot():
            yield NoticeBar(self._shared.notices)

    def on_mount(self) -> None:
        self.query_one("#title", TextLine).show(Content.styled(self._title, "bold"))
        self.query_one("#about", TextLine).show(self._about)
        self.query_one("#about").display = bool(self._about)
        self.query_one("#confirm", TextLine).show(self._ways_out())
        field = self.query_one(TextField)
        field.placeholder = Content(self._hint)
        field.put(self._text)
        field.focus()
        self._shared.reflexes.present(self, 0)

    def on_resize(self) -> None:
        self._make_room()

    @on(Foot.Resized)
    def _make_room(self) -> None:
        """What is typed, and how to confirm it, stay on the screen: what is named gives way."""
        grown = max(self.query_one(TextField).outer_size.height - _LEAST_FIELD, 0)
        self.query_one("#about").styles.max_height = max(_rows_to_name(self) - grown, 1)

    def _ways_out(self) -> Content:
        """How to confirm and how not to, to be pressed or clicked."""
        texts, keys = self._shared.texts, self._shared.keys
        confirm = Content(texts.confirm.format(key=keys.shown("done")))
        back = Content(texts.go_back.format(key=keys.shown("back")))
        newline = Content(f"{keys.shown('newline')} {texts.do_newline}")
        clicks = ((confirm, "screen.confirm"), (back, "screen.back"))
        ways = [way.stylize(Style.from_meta({"@click": click})) for way, click in clicks]
        return Content(" · ").join([*ways, newline])

    @on(TextField.Changed)
    def _note(self) -> None:
        if not self._came_amid_typing:
            self._typed(self.query_one(TextField).text)
        self.call_after_refresh(self._make_room)

    @on(TextField.Done)
    def action_confirm(self) -> None:
        if _meant(self, self._shared, self._opened_in):
            self.dismiss(DialogReply(text=self.query_one(TextField).text.strip(), confirmed=True))

    def action_back(self) -> None:
        text = self._text if self._came_amid_typing else self.query_one(TextField).text
        self.dismiss(DialogReply(text=text, confirmed=False))

    @property
    def _came_amid_typing(self) -> bool:
        """Whether nobody has paused since the key that opened it: what is typed may be meant for elsewhere."""
        return self._shared.reflexes.run == self._opened_in


def _meant(dialog: ModalScreen[Any], shared: Shared, opened_in: int) -> bool:
    """Whether the key at work was meant for the dialog, which it is not in one go with the key that opened it; where it
    was not, say so."""
    meant = shared.reflexes.deliberate() and shared.reflexes.run != opened_in
    if not meant and shared.reflexes.is_news():
        shared.notices.tell(NoticeKind.KEY, shared.texts.too_soon, dialog.app.NOTIFICATION_TIMEOUT)
    return meant


def of_kinds(asks: Sequence[Ask], of_questions: str, of_permissions: str, of_both: str) -> str:
    """The words for questions, for permissions, or for both together."""
    kinds = {ask.is_permission for ask in asks}
    return of_both if len(kinds) > 1 else of_permissions if True in kinds else of_questions


def _whether_to_reject(texts: Texts, ask: Ask) -> str:
    whole = texts.reject_one if len(ask.questions) == 1 else texts.reject_all.format(n=len(ask.questions))
    return texts.deny_one if ask.is_permission else whole


async def ask_for_rejection(
    screen: SaysoScreen[None], ask: Ask, begun: str, typed: Callable[[str], object] = str
) -> DialogReply:
    """Why all of an ask is rejected; `typed` hears of each word. To be awaited in a worker."""
    shared = screen.shared
    dialog = ReasonDialog(
        shared,
        title=_whether_to_reject(shared.texts, ask),
        about=shared.wording.headline(ask),
        hint=shared.texts.reject_hint,
        text=begun,
        typed=typed,
    )
    return await screen.app.push_screen_wait(dialog)


async def ask_for_rejection_of_all(screen: SaysoScreen[None], asks: Sequence[Ask]) -> DialogReply:
    """Why these are rejected, each named. To be awaited in a worker."""
    texts, wording = screen.shared.texts, screen.shared.wording
    most = _rows_to_name(screen)
    most -= len(asks) > most  # for the line that counts the others
    named = [_on_one_line(screen, f"- {wording.headline(ask)}") for ask in asks[:most]]
    titles = texts.reject_these, texts.deny_these, texts.no_to_these
    left = [texts.like_more.format(n=len(asks) - most)] if len(asks) > most else []
    dialog = ReasonDialog(
        screen.shared,
        title=_whether_to_reject(texts, asks[0]) if len(asks) == 1 else of_kinds(asks, *titles).format(n=len(asks)),
        about="\n".join([*named, *left]),
        hint=texts.reject_hint,
        text="",
        typed=str,
    )
    return await screen.app.push_screen_wait(dialog)


def _rows_to_name(screen: Screen[Any]) -> int:
    """How many lines a dialog over this screen has for what it is about."""
    height = screen.size.height - sum(foot.size.height for foot in screen.query(Foot))
    return max(height - _ROWS_BESIDE_IN_SHORT if height < _HIGH else height * 9 // 10 - _ROWS_BESIDE, 1)


def _on_one_line(screen: Screen[Any], text: str) -> str:
    """As much of it as a line of a dialog over this screen has room for."""
    width = screen.size.width
    room = width - 4 if width < _NORMAL else min(width * 8 // 10, 90) - 6
    return Content(one_line(text, 200)).truncate(room, ellipsis=True).plain


async def ask_what_is_unclear(
    screen: SaysoScreen[None], ask: Ask, place: int, begun: str, typed: Callable[[str], object]
) -> DialogReply:
    """What the agent should explain about one question; `typed` hears of each word. To be awaited in a worker."""
    texts = screen.shared.texts
    dialog = ReasonDialog(
        screen.shared,
        title=texts.deny_to_explain if ask.is_permission else texts.elaborate_title.format(n=place + 1),
        about=texts.deny_to_explain_about if ask.is_permission else texts.elaborate_about,
        hint=texts.elaborate_hint,
        text=begun,
        typed=typed,
    )
    return await screen.app.push_screen_wait(dialog)


class SureDialog(Dialog[bool]):
    """Whether the person means it."""

    AUTO_FOCUS = ""

    def __init__(self, shared: Shared, *, title: str, about: str) -> None:
        super().__init__()
        self._shared, self._title, self._about = shared, title, about
        self._opened_in = shared.reflexes.run
        shared.keys.bind(self, "sure")

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield TextLine(id="title")
            yield TextLine(id="about")
            yield TextLine(id="confirm")
        with Foot():
            yield NoticeBar(self._shared.notices)

    def on_mount(self) -> None:
        texts, keys = self._shared.texts, self._shared.keys
        self.query_one("#title", TextLine).show(Content.styled(self._title, "bold"))
        self.query_one("#about", TextLine).show(self._about)
        confirm = Content(texts.confirm.format(key=keys.shown("confirm")))
        back = Content(texts.go_back.format(key=keys.shown("back")))
        clicks = ((confirm, "screen.confirm"), (back, "screen.back"))
        ways = [way.stylize(Style.from_meta({"@click": click})) for way, click in clicks]
        self.query_one("#confirm", TextLine).show(Content(" · ").join(ways))
        self._shared.reflexes.present(self, 0)

    def action_confirm(self) -> None:
        if _meant(self, self._shared, self._opened_in):
            self.dismiss(True)

    def action_back(self) -> None:
        self.dismiss(False)


async def ask_whether(screen: SaysoScreen[None], *, title: str, about: str) -> bool:
    """Whether the person means it. To be awaited in a worker."""
    return await screen.app.push_screen_wait(SureDialog(screen.shared, title=title, about=about))


class HelpScreen(Dialog[None]):
    """Every key and what it does, those first that work where it was opened."""

    def __init__(self, shared: Shared, first: str) -> None:
        super().__init__()
        self._shared = shared
        shared.keys.bind(self, "dialog", "helping")
        self._first = first

    def compose(self) -> ComposeResult:
        with Pane(id="dialog"):
            yield Prose(id="help")
        with Foot():
            yield NoticeBar(self._shared.notices)
            yield KeyBar(self._shared)

    def on_mount(self) -> None:
        self.query_one("#help", Prose).show(self._blocks())

    @on(Pane.Turned)
    def _tell_what_is_below(self) -> None:
        below, texts = self.query_one(Pane).below, self._shared.texts
        told = texts.one_line_below if below == 1 else texts.lines_below.format(n=below)
        self.query_one(KeyBar).lead([(self._shared.keys.shown("page_down"), told)] if below else [])

    def _blocks(self) -> list[Block]:
        texts = self._shared.texts
        file = self._shared.config.sources.get("keys") or str(user_file(self._shared.environ))
        return [
            Block(content=Content.styled(texts.help_title, "bold")),
            Block(content=Content(texts.help_fixed)),
            *(
                block
                for context in sorted(_CONTEXTS, key=lambda context: context != self._first)
                for block in self._section(context)
            ),
            Block(content=Content(texts.help_rebind.format(file=file))),
        ]

    def _section(self, context: str) -> list[Block]:
        texts, keys = self._shared.texts, self._shared.keys.of(context)
        title = getattr(texts, f"help_{context}", None)
        heading = [Block(content=Content.styled(title, "bold $primary"))] if title else []
        return [*heading, *(self._key(key.keys, getattr(texts, f"do_{key.name}")) for key in keys)]

    def _key(self, keys: str, text: str) -> Block:
        shown = " ".join(shown_key(key) for key in keys.split(","))
        content = Content.assemble((f"{shown:<{_KEY_WIDTH}}", "$mark"), " ", text)
        return Block(content=content, first="  ", rest="      ", tight=True)

    def action_back(self) -> None:
        self.dismiss(None)
