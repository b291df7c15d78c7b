"""What all screens have in common: the bars around them, the desk, and the board they show."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from textual import on
from textual.app import ComposeResult
from textual.message import Message
from textual.screen import ModalScreen, Screen, ScreenResultType

from sayso.asks.desk import AskDesk
from sayso.asks.model import Ask
from sayso.errors import StoreError
from sayso.tui.bars import Foot, KeyBar, NoticeBar, TextLine, TopBar
from sayso.tui.notices import NoticeKind
from sayso.tui.prose import Pane, page
from sayso.tui.shared import Shared

T = TypeVar("T")


class Trouble(Message):
    """The store could not be reached."""

    def __init__(self, error: StoreError) -> None:
        super().__init__()
        self.error = error


class Open(Message):
    """The person wants to answer this ask."""

    def __init__(self, ask: Ask) -> None:
        super().__init__()
        self.ask = ask


class LookAgain(Message):
    """Something was changed of which nothing rings."""


class Settled(Message):
    """An ask was settled here; `done` names the text for how."""

    def __init__(self, ask: Ask, done: str) -> None:
        super().__init__()
        self.ask, self.done = ask, done


class OpenNear(Message):
    """The person wants to go to the ask that is this many rows further down the inbox."""

    def __init__(self, ask_id: str, distance: int) -> None:
        super().__init__()
        self.ask_id, self.distance = ask_id, distance


class Copy(Message):
    """The person wants this text on the clipboard."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Read(Message):
    """The person wants to read this whole text in their pager."""

    def __init__(self, text: str, opened: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self.text, self.opened = text, opened


_SHARE_OF_A_DIALOG = 0.9
"""Of the height of a screen, as the styles have it."""


class Dialog(ModalScreen[ScreenResultType]):
    """A box over a screen, and below it lines that take room from it."""

    @on(Foot.Resized)
    def _leave_room(self) -> None:
        below = self.query_one(Foot).size.height
        share = 1 if self.has_class("-short") else _SHARE_OF_A_DIALOG
        most = int((self.size.height - below) * share)
        self.query_one("#dialog").styles.max_height = max(most, 1) if below else None


class SaysoScreen(Screen[ScreenResultType]):
    """A screen with its keys, a line at the top, the keys at the bottom, and the board between them."""

    AUTO_FOCUS = ""
    NEED_A_ROW: frozenset[str] = frozenset()
    """Actions on the row at the cursor: they are not offered while the list is empty."""

    def __init__(self, shared: Shared, context: str) -> None:
        super().__init__()
        self.shared, self.context = shared, context
        shared.keys.bind(self, context)

    def compose(self) -> ComposeResult:
        yield TopBar(self.shared)
        yield TextLine(id="trouble")
        yield from self.body()
        yield NoticeBar(self.shared.notices)
        yield KeyBar(self.shared)

    def body(self) -> ComposeResult:
        yield from ()

    @property
    def alive(self) -> bool:
        """Whether there is still something to show things on: work that was waited for may outlive its screen."""
        return self.is_attached and self.app.is_running and self.display

    def board_changed(self) -> None:
        """Show what is known now. Never touches what the person is entering."""
        board = self.shared.board
        self.query_one(TopBar).tell(board, self.special())
        trouble = self.query_one("#trouble", TextLine)
        trouble.show(board.trouble)
        trouble.display = bool(board.trouble)

    def special(self) -> str:
        """What stands at the right of the top line: here, that somebody asks something new."""
        newest = self.shared.board.unseen
        return self.shared.texts.newest.format(headline=self.shared.wording.headline(newest)) if newest else ""

    def how_many_snoozed(self) -> str:
        snoozed = self.shared.board.snoozed
        return self.shared.texts.how_many_snoozed.format(n=len(snoozed)) if snoozed else ""

    async def save(self) -> None:
        """Keep what the person has entered and not sent."""

    def tick(self) -> None:
        """Time has passed: show what reads differently now."""

    def on_screen_resume(self) -> None:
        """While it was not seen nothing of it kept pace with the time."""
        self.query_one(KeyBar).visible = True
        self.tick()

    def on_screen_suspend(self) -> None:
        """Under a dialog, keys that do not work now would stand below those that do."""
        self.query_one(KeyBar).visible = False
        self.forget_warning()

    def show_whether_empty(self, empty: bool) -> None:
        if empty != self.has_class("-empty"):
            self.set_class(empty, "-empty")
            self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what makes sense now is offered."""
        if action in ("read_up", "read_down") and (pane := self._pane):
            return bool(pane.below if action == "read_down" else round(pane.scroll_y))
        return action not in self.NEED_A_ROW or not self.has_class("-empty")

    # Reading what stands beside a list

    @property
    def _pane(self) -> Pane | None:
        return self.query_one_optional(Pane) if self.is_mounted else None

    @on(Pane.Turned)
    def _tell_what_is_below(self) -> None:
        self.tell_keys_otherwise()
        self.refresh_bindings()

    def tell_keys_otherwise(self) -> None:
        """Have the line at the bottom say of keys what they do just now."""
        self.query_one(KeyBar).rename(self.names_now())

    def names_now(self) -> dict[str, str]:
        """What is said of keys for which there is more to say than always."""
        texts, below = self.shared.texts, self._pane.below if self._pane else 0
        return {"read_down": texts.one_line_below if below == 1 else texts.lines_below.format(n=below)} if below else {}

    def action_read_up(self) -> None:
        if self._pane:
            page(self._pane, -1)

    def action_read_down(self) -> None:
        if self._pane:
            page(self._pane, 1)

    async def do(self, work: Callable[[AskDesk], T]) -> T:
        """Have the desk do something. When the store is away, the banner says so too."""
        return await self._told_of_trouble(self.shared.link.do(work))

    async def enter_at_desk(self, work: Callable[[AskDesk], T]) -> T:
        """The same for what a person has entered and not sent, which no agent may."""
        return await self._told_of_trouble(self.shared.link.enter(work))

    async def settle(self, ask: Ask, work: Callable[[AskDesk], Ask]) -> Ask:
        """The same for settling an ask, which no agent does that may not."""
        return await self._told_of_trouble(self.shared.link.settle_ask(ask, self.shared.settler, work))

    async def _told_of_trouble(self, doing: Awaitable[T]) -> T:
        try:
            return await doing
        except StoreError as error:
            self.app.post_message(Trouble(error))
            raise

    def meant(self) -> bool:
        """Whether the key or click at work was meant for what is in view; where it was not, say so."""
        return self.shared.reflexes.deliberate() or self._remind()

    async def meant_alone(self) -> bool:
        """The same, once it is known what else came with it."""
        return await self.shared.reflexes.alone() or self._remind()

    def apart(self) -> bool:
        """Whether it is a key by itself, which is enough for what settles nothing."""
        return self.shared.reflexes.apart() or self._remind()

    async def opens_dialog(self) -> bool:
        """Whether the key at work was meant to open a dialog: words that were meant for elsewhere must not, for those
        after it would go into its field, and be confirmed there."""
        with self.shared.typing.held():
            return self.apart() and await self.meant_alone()

    def seen(self) -> bool:
        """Whether it came when all of that could be read, which is enough for what can be taken back at once."""
        return self.shared.reflexes.seen() or self._remind()

    def _remind(self) -> bool:
        self.shared.reflexes.refuse()
        if self.shared.reflexes.is_news():
            self.warn(self.shared.texts.too_soon)
        return False

    def say(self, text: str) -> None:
        """A short notice of what was done."""
        self._notice(NoticeKind.DONE, text)

    def warn(self, text: str) -> None:
        """Say why a key did nothing, until it would do something."""
        self._notice(NoticeKind.KEY, text)

    def alert(self, text: str) -> None:
        """Say what the person must not miss: that something they have decided did not come about."""
        self._notice(NoticeKind.ALERT, text)

    def _notice(self, kind: NoticeKind, text: str) -> None:
        self.shared.notices.tell(kind, text, self.app.NOTIFICATION_TIMEOUT)

    def forget_warning(self) -> None:
        """Things stand differently now: what was said of a key does not hold any more."""
        self.shared.notices.forget(NoticeKind.KEY)
