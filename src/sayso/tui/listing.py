"""The list of the inbox: what is on it and in which order, what filters and folds leave out, what is marked, and beside
it the ask at the cursor. Nothing is settled here.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.timer import Timer
from textual.widgets import Input

from sayso.asks.crowds import Crowd, Entry, by_crowd, fold
from sayso.asks.model import Ask
from sayso.asks.quorum import has_agreed
from sayso.text import one_line
from sayso.tui.asklist import AskList
from sayso.tui.bars import TextLine, TopBar
from sayso.tui.markdown import Block
from sayso.tui.outgoing import HeldAnswer
from sayso.tui.outline import copy_text, crowd_preview, preview, whole_text
from sayso.tui.prose import Pane, Prose
from sayso.tui.reflexes import REST
from sayso.tui.rows import Rows
from sayso.tui.screen import Copy, Open, Read, SaysoScreen
from sayso.tui.shared import Shared

_MOST_OF_FILTER = 16
"""Characters of a filter that are told on the line at the bottom."""
_PREVIEW_AFTER = 0.05
"""Seconds the cursor must rest before the preview follows: holding a key down must not cost a preview per row."""


class ListingScreen(SaysoScreen[None]):
    """The list of asks, a filter, and beside the list, where there is room, the ask at the cursor."""

    NEED_A_ROW = frozenset({"open"})

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared, "inbox")
        self._project: str | None = None
        self._newest_first = True
        self._previewing: Timer | None = None
        self._listed: Sequence[Ask] = ()
        self._unfolded: set[str] = set()
        """The agents with many asks open that are shown one by one."""
        self._searched: dict[str, str] = {}
        """The words of each ask in which a filter is looked for, while one is typed."""
        self._shows_snoozed = False
        self._marked: set[str] = set()
        """The asks that are marked to be rejected together, also those that a filter hides."""
        self._on_ask, self._can_fold = False, False
        self._looked_at = ""
        """The ask of which it is known whether all is in view."""
        self._came_by_itself = ""
        """The ask that is at the cursor because another went from there, and not because of what the person did."""
        self._in_place_of = ""
        """That other ask."""

    def body(self) -> ComposeResult:
        yield Input(placeholder=self.shared.texts.filter_hint, id="filter", compact=True)
        yield TextLine(id="empty")
        with Horizontal(id="inbox"):
            yield AskList(self.shared, since=lambda ask: ask.created_at, marks=self._marks)
            with Pane(id="beside", can_focus=False):
                yield Prose(id="preview")

    def on_mount(self) -> None:
        self.query_one(AskList).focus()
        self.board_changed()

    def on_screen_resume(self) -> None:
        """What has come to the cursor while something else was in front is as new to the person as if they had looked
        on, and a key may still be meant for what they have left there."""
        self.shared.board.newest = None
        self.board_changed()
        self.shared.reflexes.present(self, REST if self._came_by_itself else 0)

    @property
    def asks(self) -> Sequence[Ask]:
        """The asks as they are listed here, those that are folded away last."""
        shown = [entry for entry in self.query_one(AskList).items if isinstance(entry, Ask)]
        known = {ask.id for ask in shown}
        return [*shown, *(ask for ask in self._listed if ask.id not in known)]

    # Showing

    def board_changed(self) -> None:
        super().board_changed()
        board, texts = self.shared.board, self.shared.texts
        self._shows_snoozed &= bool(board.snoozed)
        asks = self._wanted(self._all)
        board.own.difference_update(ask.id for ask in self._all)  # what was put off has come back
        if gone := self._marked - {ask.id for ask in self._all}:
            self._mark(self._marked - gone)
        self._show(asks)
        empty = self.query_one("#empty", TextLine)
        filtered = texts.empty_filtered.format(key=self.shared.keys.shown("back"))
        nothing = (
            texts.empty_but_snoozed.format(key=self.shared.keys.shown("snoozed")) if board.snoozed else texts.empty
        )
        empty.show(texts.loading if not board.looked else filtered if self._all else nothing)
        empty.display = not asks
        self.show_whether_empty(not asks)
        self._preview_soon()

    @property
    def _all(self) -> Sequence[Ask]:
        """All that can be listed: what is open, or what the person has put off."""
        board = self.shared.board
        return [each.ask for each in board.snoozed] if self._shows_snoozed else board.asks

    def _rearrange(self) -> None:
        """The same because of what the person did: they expect another ask at the cursor."""
        self.board_changed()
        self._came_by_itself = ""

    def _show(self, asks: Sequence[Ask]) -> None:
        """Show these. A key that was meant for the ask at the cursor is not for another that came in its place."""
        self._listed = asks
        rows = self.query_one(AskList)
        before, was_first = rows.item, rows.cursor == 0
        rows.show_unfolded(*self._laid_out(asks))
        if isinstance(before, Ask) and not was_first:
            self._follow(before)
        after = rows.item
        if before and (after is None or before.id != after.id):
            self.forget_warning()
        if before and after and before.id != after.id:
            self._came_by_itself, self._in_place_of = after.id, before.id
            if self.is_active:  # else it is new to the person when what is in front of it is gone
                self.shared.reflexes.present(self, REST)
        self._offer()

    def _laid_out(self, asks: Sequence[Ask]) -> tuple[list[Entry], dict[str, Crowd]]:
        """What is listed, and which of the asks are part of a crowd that is open."""
        groups, entries, unfolded = by_crowd(asks), list[Entry](), dict[str, Crowd]()
        for entry in fold(asks, groups):
            entries.append(entry)
            if isinstance(entry, Crowd) and entry.id in self._unfolded:
                entries += groups[entry.name]
                unfolded |= {ask.id: entry for ask in groups[entry.name]}
        return entries, unfolded

    def _follow(self, ask: Ask) -> None:
        """Where the ask at the cursor has been folded away, the cursor is on the row that stands for it."""
        rows = self.query_one(AskList)
        places = {entry.name if isinstance(entry, Crowd) else entry.id: at for at, entry in enumerate(rows.items)}
        if ask.id not in places and ask.asker.crowd in places:
            rows.move_to(places[ask.asker.crowd])

    def _offer(self) -> None:
        """The keys that do something for what is at the cursor now."""
        rows = self.query_one(AskList)
        before = self._on_ask, self._can_fold
        self._on_ask = rows.ask is not None and rows.ask.id not in self.shared.board.under_way
        self._can_fold = rows.crowd is not None and rows.crowd.id in self._unfolded
        self.tell_keys_otherwise()
        if before != (self._on_ask, self._can_fold):
            self.refresh_bindings()

    def special(self) -> str:
        """What the list leaves out, and what is new above what is shown of it."""
        texts = self.shared.texts
        is_out_of_sight = self.query_one(AskList).scroll_offset.y or self.shared.board.newest in self._hidden
        newest = super().special() if is_out_of_sight else ""
        project = (
            texts.only_project.format(project=self._project.rpartition("/")[2]) if self._project is not None else ""
        )
        order = "" if self._newest_first else texts.oldest_first
        marked = self._of_the_marked(texts.how_many_marked) if self._marked else ""
        snoozed = self.how_many_snoozed()
        if self._shows_snoozed and snoozed:
            snoozed = texts.only_snoozed.format(n=len(self.shared.board.snoozed))
        return " · ".join(part for part in (newest, marked, snoozed, project, order) if part)

    @property
    def _hidden(self) -> list[Ask]:
        """What the filters leave out."""
        listed = {ask.id for ask in self._listed}
        return [ask for ask in self._all if ask.id not in listed] if self._is_filtered else []

    @property
    def _told_hidden(self) -> str:
        """How much that is, and by which filter: a person may have forgotten it."""
        texts, hidden = self.shared.texts, self._hidden
        if not hidden:
            return ""
        words = one_line(self.query_one("#filter", Input).value, _MOST_OF_FILTER)
        project = one_line((self._project or "").rpartition("/")[2], _MOST_OF_FILTER)
        by = texts.by_filter.format(words=words) if words else texts.only_project.format(project=project)
        told = texts.hidden_permissions if any(ask.is_permission for ask in hidden) else texts.hidden
        return told.format(n=len(hidden), filter=by)

    @property
    def _back_shows_all(self) -> bool:
        """Whether the next press of that key takes the filters away, and not the marks, or folds."""
        return self.query_one("#filter").has_focus or not (self._marked or self._can_fold)

    def names_now(self) -> dict[str, str]:
        texts, told = self.shared.texts, super().names_now()
        if self._marked:
            told["reject"] = self._of_the_marked(texts.reject_marked)
            told["snooze"] = self._of_the_marked(texts.snooze_marked)
        elif (ask := self.query_one(AskList).ask) and ask.is_permission:
            told["reject"] = texts.deny_why
        if self._told_hidden and self._back_shows_all:
            told["back"] = texts.show.format(what=self._told_hidden)
        if crowd := self._crowd_to_mark:
            told["mark_all"] = texts.mark_crowd.format(n=crowd.size)
        if self._shows_snoozed:
            wake = self._of_the_marked(texts.wake_marked) if self._marked else texts.wake_it
            told |= {"snooze": wake, "snoozed": texts.do_back}
        return told

    def _of_the_marked(self, text: str) -> str:
        """A text with how many asks are marked, and how many of them a filter hides."""
        hidden = len(self._marked & {ask.id for ask in self._hidden})
        counted = self.shared.texts.of_them_hidden.format(n=hidden) if hidden else ""
        return text.format(n=len(self._marked), hidden=counted)

    @property
    def _crowd_to_mark(self) -> Crowd | None:
        """The many asks that the row at the cursor stands for, where no filter says which are meant."""
        item = self.query_one(AskList).item
        if not isinstance(item, Crowd) or self._is_filtered or item.newest.id in self.shared.board.under_way:
            return None
        return item

    def tick(self) -> None:
        self.query_one(AskList).tick()

    def _wanted(self, asks: Sequence[Ask]) -> list[Ask]:
        """Those that fit the filters: first the ones whose agents wait, in each part in the order of their age."""
        words = self.query_one("#filter", Input).value.lower().split()
        fitting = asks if self._project is None else [ask for ask in asks if ask.asker.project == self._project]
        for word in words:
            fitting = [ask for ask in fitting if word in self._words_of(ask)]
        ordered = fitting[::-1] if self._newest_first else fitting
        return sorted(ordered, key=lambda ask: not ask.attended)

    def _words_of(self, ask: Ask) -> str:
        """What a filter is looked for in."""
        told = self._searched.get(ask.id)
        if told is None:
            who = (ask.asker.project, ask.asker.client, ask.asker.host, ask.title)
            told = " ".join((*who, *[question.text for question in ask.questions])).lower()
            self._searched[ask.id] = told
        return told

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "back":
                return self._is_filtered or self._can_fold or self._shows_snoozed or bool(self._marked)
            case "fold":
                return self._can_fold
            case "reject" | "snooze":
                return self._on_ask or bool(self._marked)
            case "mark_all":
                return bool(self._listed and (self._is_filtered or self._marked)) or self._crowd_to_mark is not None
            case "snoozed":
                return bool(self.shared.board.snoozed)
            case "mark_row" | "copy" | "whole":
                return self._on_ask
            case "filter":
                return bool(self._all) or not self.shared.board.looked
            case "order":
                return bool(self._all)
            case "project":
                return self._project is not None or not self.has_class("-empty")
        return super().check_action(action, parameters)

    def _marks(self, ask: Entry) -> list[str]:
        board, texts = self.shared.board, self.shared.texts
        if isinstance(ask, Crowd):
            begun = by_crowd([each for each in self._listed if each.id in board.drafts] if board.drafts else [])
            draft = [texts.stands_draft] if ask.name in begun else []
            marked = sum(each.id in self._marked for each in self._folded_in(ask)) if self._marked else 0
            draft += [texts.how_many_marked.format(n=marked, hidden="")] if marked else []
            return [*draft, self.shared.wording.crowd_standing(ask)]
        marks = [texts.stands_marked] if ask.id in self._marked else []
        if going := board.outgoing.get(ask.id):
            return [*marks, texts.stands_outgoing.format(answer=self._told(going))]
        marks += [texts.stands_new] if ask.id not in board.seen else []
        if ask.id in board.drafts:
            marks.append(texts.stands_draft)
        if self._shows_snoozed:
            back = [each.until for each in board.snoozed if each.ask.id == ask.id]
            marks += [texts.stands_snoozed.format(when=self.shared.wording.when(until)) for until in back]
        return [*marks, *self._own_yes(ask), self.shared.wording.standing(ask)]

    def _told(self, going: HeldAnswer) -> str:
        return one_line(self.shared.wording.option(going.ask.questions[0], going.chosen), 24)

    def _has_agreed(self, ask: Ask) -> bool:
        return has_agreed(ask, self.shared.settler.known_as)

    def _own_yes(self, ask: Ask) -> list[str]:
        """That the person has agreed, and who has to as well."""
        if not self._has_agreed(ask):
            return []
        from sayso.permissions.quorum_words import still_awaited  # the inbox opens sooner without

        texts = self.shared.texts
        return [texts.stands_agreed, still_awaited(ask, texts.agreeing).rstrip(".")]

    @on(Rows.Moved)
    def _moved(self) -> None:
        self.moved()

    def moved(self) -> None:
        """The person has gone to another row."""
        self._came_by_itself = ""
        self.forget_warning()
        self._offer()
        self._preview_soon()

    def _tell_keys(self) -> None:
        """Say at the bottom what the keys do for what is at the cursor, where that is not always the same."""

    # Beside the list

    def _preview_soon(self) -> None:
        if self._previewing:
            self._previewing.stop()
        self._previewing = self.set_timer(_PREVIEW_AFTER, self._preview)

    def _preview(self) -> None:
        if self.alive:
            item = self.query_one(AskList).item
            if self.has_class("-wide"):
                self.query_one("#preview", Prose).show(self._previewed(item) if item else ())
                if not item or item.id != self._looked_at:  # else somebody may have read on in it
                    self.query_one("#beside").scroll_home(animate=False)
            self.call_after_refresh(self._look, item)

    def _look(self, item: Entry | None) -> None:
        """What is at the cursor has been drawn, and the ask beside the list."""

    def _previewed(self, entry: Entry) -> Sequence[Block]:
        if isinstance(entry, Ask):
            return preview(self.shared, entry)
        return crowd_preview(self.shared, entry, by_crowd(self._listed)[entry.name])

    # Doing

    @on(Rows.Clicked)
    def action_open(self) -> None:
        if self.query_one(AskList).item and self.meant():
            self._open_at_cursor()

    def _open_at_cursor(self) -> None:
        match self.query_one(AskList).item:
            case Ask() as ask:
                self._came_by_itself = ""  # they are about to read it
                self.post_message(Open(ask))
            case Crowd() as crowd:
                self._unfolded ^= {crowd.id}
                self._rearrange()

    def action_fold(self) -> None:
        """Tell the asks of this agent as one again."""
        if crowd := self.query_one(AskList).crowd:
            self._unfolded.discard(crowd.id)
            self._rearrange()

    def action_filter(self) -> None:
        field = self.query_one("#filter", Input)
        field.add_class("-open")
        field.focus()

    @on(Input.Changed, "#filter")
    def _filter(self) -> None:
        """What is looked for is at the cursor, the first of it; without words the cursor stays on its ask."""
        self._rearrange()
        if self.query_one("#filter", Input).value.strip():
            self.query_one(AskList).action_first()
        self.refresh()  # with the letter: the list by itself would be drawn one frame after it

    @on(Input.Submitted, "#filter")
    def _open_found(self) -> None:
        """Open the first, also where it has just come there: nothing is decided by that."""
        self._leave_filter()
        self._open_at_cursor()

    def _leave_filter(self) -> None:
        field = self.query_one("#filter", Input)
        field.set_class(bool(field.value), "-open")
        self._searched = {}
        self.query_one(AskList).focus()

    @property
    def _is_filtered(self) -> bool:
        return self._project is not None or self.query_one("#filter").has_class("-open")

    def action_back(self) -> None:
        """Take the marks away, or fold what is open at the cursor; else take the filters away."""
        if self._marked and not self.query_one("#filter").has_focus:
            self._mark(set())
            return
        if self._can_fold and not self.query_one("#filter").has_focus:
            self.action_fold()
            return
        if self._shows_snoozed and not self._is_filtered:
            self.action_snoozed()
            return
        self._project = None
        self.query_one("#filter", Input).value = ""
        self._leave_filter()
        self._rearrange()
        self.refresh_bindings()

    def action_project(self) -> None:
        """Only the project of the ask at the cursor, or all again."""
        item = self.query_one(AskList).item
        ask = item.newest if isinstance(item, Crowd) else item
        self._project = ask.asker.project if ask and self._project is None else None
        self._rearrange()
        self.refresh_bindings()

    def action_order(self) -> None:
        self._newest_first = not self._newest_first
        self._rearrange()

    def action_snoozed(self) -> None:
        """What the person has put off in the place of what is open, or the other way round."""
        self._shows_snoozed = not self._shows_snoozed
        self._mark(set())
        self._rearrange()
        self.query_one(AskList).move_to(0)

    def action_copy(self) -> None:
        if ask := self.query_one(AskList).ask:
            self.post_message(Copy(copy_text(self.shared, ask, ())))

    def action_whole(self) -> None:
        if ask := self.query_one(AskList).ask:
            self.post_message(Read(whole_text(self.shared, ask)))

    # Marking

    @property
    def _marked_asks(self) -> list[Ask]:
        """As they are listed, those that a filter hides last."""
        listed = [*self.asks, *self._all]
        return [*{ask.id: ask for ask in listed if ask.id in self._marked}.values()]

    def action_mark_row(self) -> None:
        """Mark the ask at the cursor, or no longer."""
        if ask := self.query_one(AskList).ask:
            self._mark(self._marked ^ {ask.id})

    def action_mark_all(self) -> None:
        """Mark every ask that is listed here, also those that are folded, which are counted; or none, where all are
        marked. Without a filter, at the row of an agent with many: those alone."""
        crowd = self._crowd_to_mark
        listed = {ask.id for ask in (self._folded_in(crowd) if crowd else self._listed)}
        self._mark(self._marked - listed if listed <= self._marked else self._marked | listed)
        rows = {entry.id for entry in self.query_one(AskList).items if isinstance(entry, Ask)}
        if folded := len(self._marked & listed - rows):
            self.warn(self.shared.texts.marked_folded.format(n=len(self._marked), folded=folded))

    def _folded_in(self, crowd: Crowd) -> Sequence[Ask]:
        return by_crowd(self._listed).get(crowd.name, [])

    def _mark(self, ask_ids: set[str]) -> None:
        self._marked = ask_ids
        top = self.query_one_optional(TopBar)
        if top is None:
            return  # it was closed while something was done to those that were marked
        self.forget_warning()
        self.tick()
        top.tell(self.shared.board, self.special())
        self.tell_keys_otherwise()
        self._tell_keys()
        self.refresh_bindings()
