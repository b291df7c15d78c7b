"""The history: what ended, how, by whom and where; to search, to read again, to copy."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.timer import Timer
from textual.widgets import Input

from sayso.asks.crowds import Entry
from sayso.asks.desk import AskDesk
from sayso.asks.model import Ask, State
from sayso.errors import StoreError
from sayso.permissions.verdict import Decision, verdict_of
from sayso.tui.asklist import AskList
from sayso.tui.bars import TextLine
from sayso.tui.markdown import Block
from sayso.tui.outline import copy_text, record, whole_text
from sayso.tui.prose import Pane, Prose
from sayso.tui.rows import Rows
from sayso.tui.screen import Copy, Open, Read, SaysoScreen
from sayso.tui.shared import Shared

_PAGE = 100
_MOST_PAGES = 20
"""Pages looked through at one go for asks of the wanted outcome."""
_SEARCH_AFTER = 0.2
_READ_AFTER = 0.05
_FIRST_OUTCOMES: tuple[State | Decision, ...] = (State.ANSWERED, State.REJECTED, Decision.ALLOWED, Decision.DENIED)
_OUTCOMES: Sequence[State | Decision | None] = (
    None,
    *_FIRST_OUTCOMES,
    *(end for end in (*State, *Decision) if end not in _FIRST_OUTCOMES and end is not State.PENDING),
)
"""What `f` goes through: those first that are looked for most. A permission is allowed or denied, never answered."""


def _end(ask: Ask) -> State | Decision:
    verdict = verdict_of(ask)
    return verdict.decision if verdict else ask.state


class HistoryScreen(SaysoScreen[None]):
    """A list of what ended, newest first, and the record of the one at the cursor."""

    NEED_A_ROW = frozenset({"open", "copy", "whole"})

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared, "history")
        self._asks: list[Ask] = []
        self._more: Ask | None = None
        self._project: str | None = None
        self._outcome: State | Decision | None = None
        self._looked = False
        self._looking: Timer | None = None
        self._reading: Timer | None = None

    def body(self) -> ComposeResult:
        yield Input(placeholder=self.shared.texts.history_hint, id="filter", compact=True)
        yield TextLine(id="empty")
        with Horizontal(id="inbox"):
            yield AskList(self.shared, since=lambda ask: ask.ended_at or 0, marks=self._marks)
            with Pane(id="beside"):
                yield Prose(id="preview")

    def on_mount(self) -> None:
        self.query_one(AskList).focus()
        self.board_changed()
        self._look()

    # Looking

    def board_changed(self) -> None:
        super().board_changed()
        if self._looked and not self.shared.board.trouble:
            self._look_soon(lambda: self._look(len(self._asks)))

    def special(self) -> str:
        texts = self.shared.texts
        outcome = self.shared.wording.end(self._outcome) if self._outcome else ""
        project = texts.only_project.format(project=self._project.rpartition("/")[2]) if self._project else ""
        return " · ".join(part for part in (super().special(), texts.history_title, project, outcome) if part)

    @on(Input.Changed, "#filter")
    def _search_soon(self) -> None:
        self._look_soon(self._look)

    def _look_soon(self, look: Callable[[], None]) -> None:
        if self._looking:
            self._looking.stop()
        self._looking = self.set_timer(_SEARCH_AFTER, look)

    def _look(self, least: int = 0) -> None:
        """Show the newest that fit, as many as there is a page for, or were there before."""
        if self.alive:
            self.run_worker(self._find(None, max(least, _PAGE)), group="search", exclusive=True)

    async def _find(self, after: Ask | None, least: int = _PAGE) -> None:
        """The first ones, or those after this ask."""
        try:
            found, more = await self.do(lambda desk: self._read_on(desk, after, least))
        except StoreError:
            return
        if not self.alive:
            return
        self._looked = True
        self._asks = [*self._asks, *found] if after else found
        self._more = more
        self._show()

    def _read_on(self, desk: AskDesk, after: Ask | None, least: int) -> tuple[list[Ask], Ask | None]:
        """What fits, and where to go on. Bounded: the rest is read when it is scrolled to."""
        found: list[Ask] = []
        search, project = self._words, self._project
        for _ in range(_MOST_PAGES + least // _PAGE):
            page = desk.history(project=project, search=search, before=after, most=_PAGE)
            found += [ask for ask in page if self._outcome in (None, _end(ask))]
            after = page[-1] if len(page) == _PAGE else None
            if after is None or len(found) >= least:
                break
        return found, after

    @property
    def _words(self) -> str:
        return self.query_one("#filter", Input).value.strip()

    # Showing

    def tick(self) -> None:
        self.query_one(AskList).tick()

    def _show(self) -> None:
        texts = self.shared.texts
        self.query_one(AskList).show(self._asks)
        empty = self.query_one("#empty", TextLine)
        filtered = self._words or self._project or self._outcome
        empty.show(texts.history_none if filtered else texts.history_empty)
        empty.display = not self._asks
        self.show_whether_empty(not self._asks)
        self._read_soon()

    def _marks(self, ask: Entry) -> Sequence[str]:
        assert isinstance(ask, Ask)  # what has ended is told one by one
        return [self.shared.wording.settled_by(ask)]

    @on(Rows.Moved)
    def _moved(self) -> None:
        if self._more and self.query_one(AskList).cursor >= len(self._asks) - 10:
            after, self._more = self._more, None
            self.run_worker(self._find(after), group="more", exclusive=True)
        self._read_soon()

    def _read_soon(self) -> None:
        if self._reading:
            self._reading.stop()
        self._reading = self.set_timer(_READ_AFTER, lambda: self.run_worker(self._read(), group="read", exclusive=True))

    async def _read(self) -> None:
        ask = self.query_one(AskList).ask if self.alive else None
        if ask is None:
            return
        try:
            events = await self.do(lambda desk: desk.events(ask.id))
        except StoreError:
            return
        if self.alive:
            self._tell(record(self.shared, ask, events))

    def _tell(self, blocks: Sequence[Block]) -> None:
        self.query_one("#preview", Prose).show(blocks)
        self.query_one("#beside").scroll_home(animate=False)

    # Doing

    @on(Rows.Clicked)
    def action_open(self) -> None:
        """Read the record on a small screen; answer what can still be answered."""
        ask = self.query_one(AskList).ask
        if ask and self.has_class("-reading") and ask.state.answerable:
            self.post_message(Open(ask))
        elif ask:
            self.add_class("-reading")
            self.query_one("#beside").focus()

    def action_back(self) -> None:
        """Out of the record, out of the search, out of the history."""
        if self.has_class("-reading"):
            self.remove_class("-reading")
            self.query_one(AskList).focus()
        elif self.query_one("#filter").has_focus:
            self.query_one(AskList).focus()
        else:
            self.dismiss(None)

    def action_search(self) -> None:
        self.remove_class("-reading")
        self.query_one("#filter").focus()

    @on(Input.Submitted, "#filter")
    def _searched(self) -> None:
        self.query_one(AskList).focus()

    def action_outcome(self) -> None:
        """Only the next kind of outcome."""
        self._outcome = _OUTCOMES[(_OUTCOMES.index(self._outcome) + 1) % len(_OUTCOMES)]
        self.board_changed()
        self._search_soon()

    def action_project(self) -> None:
        ask = self.query_one(AskList).ask
        self._project = ask.asker.project if ask and self._project is None else None
        self.board_changed()
        self._search_soon()

    def action_copy(self) -> None:
        if ask := self.query_one(AskList).ask:
            self.post_message(Copy(copy_text(self.shared, ask, ask.outcome.answers if ask.outcome else ())))

    def action_whole(self) -> None:
        if ask := self.query_one(AskList).ask:
            self.post_message(Read(whole_text(self.shared, ask)))
