"""The inbox: every ask that can be answered, whoever asks and wherever."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeGuard

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.events import Key
from textual.timer import Timer
from textual.widgets import Input

from sayso.asks.crowds import Crowd, Entry, by_crowd, fold
from sayso.asks.desk import AskDesk
from sayso.asks.draft import answers, to_json
from sayso.asks.model import Ask
from sayso.asks.quorum import has_agreed
from sayso.errors import AlreadySettled, InvalidInput, NotFound, NotYours, StoreError
from sayso.records import replace
from sayso.text import one_line
from sayso.tui.asklist import AskList
from sayso.tui.bars import KeyBar, TextLine, TopBar
from sayso.tui.markdown import Block
from sayso.tui.one_key import is_told_beside, keys_for, shown_keys
from sayso.tui.outgoing import SECONDS_TO_UNDO, HeldAnswer
from sayso.tui.outline import copy_text, crowd_preview, preview, whole_text
from sayso.tui.prose import Pane, Prose
from sayso.tui.reflexes import REST, WORD
from sayso.tui.rows import Rows
from sayso.tui.screen import Copy, LookAgain, Open, Read, SaysoScreen, Settled, Trouble
from sayso.tui.shared import Shared

if TYPE_CHECKING:
    from sayso.asks.snoozing import Snoozed
    from sayso.desks import Desks
    from sayso.permissions.desk import PermissionDesk

_SNOOZED_FOR = 3_600_000
"""Milliseconds for which one key puts an ask off."""
_MOST_OF_FILTER = 16
"""Characters of a filter that are told on the line at the bottom."""
_PREVIEW_AFTER = 0.05
"""Seconds the cursor must rest before the preview follows: holding a key down must not cost a preview per row."""


class InboxScreen(SaysoScreen[None]):
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
        self._readable: Ask | None = None
        """The permission, or the short question, of which everything is in view: it can be decided here."""
        self._looked_at = ""
        """The ask of which it is known whether all is in view."""
        self._answered_at = float("-inf")
        """When the key came that last answered a row."""
        self._came_by_itself = ""
        """The ask that is at the cursor because another went from there, and not because of anything the person did."""

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
        self.shared.reflexes.present(self, REST if self._came_by_itself else 0)
        self.shared.board.newest = None
        self._rearrange()

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
        if board.looked and not board.trouble:
            for going in [going for going in board.outgoing.values() if not board.find(going.ask.id)]:
                self.run_worker(self._see_whether_overtaken(going), group="overtaken")

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
        if self.is_current and before and after and before.id != after.id:
            self._came_by_itself = after.id
            if self.is_active:  # else it is new to the person when the dialog before it is gone
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
        self._on_ask = rows.ask is not None
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
        marked = texts.how_many_marked.format(n=len(self._marked)) if self._marked else ""
        told = texts.only_snoozed if self._shows_snoozed else texts.how_many_snoozed
        snoozed = told.format(n=len(self.shared.board.snoozed)) if self.shared.board.snoozed else ""
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
            case "allow" | "deny":
                ask = self._readable
                return ask is not None and ask.wanted is not None and (action == "deny" or not self._has_agreed(ask))
            case "undo":
                return bool(self.shared.board.outgoing)
            case "back":
                return self._is_filtered or self._can_fold or self._shows_snoozed or bool(self._marked)
            case "fold":
                return self._can_fold
            case "reject":
                return self._on_ask or bool(self._marked)
            case "mark_all":
                return (self._is_filtered or bool(self._marked)) and self._has_asks
            case "snooze":
                return self._on_ask or bool(self._marked)
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

    @property
    def _has_asks(self) -> bool:
        """Whether an ask has a row of its own."""
        return any(isinstance(entry, Ask) for entry in self.query_one(AskList).items)

    def _marks(self, ask: Entry) -> list[str]:
        board, texts = self.shared.board, self.shared.texts
        if isinstance(ask, Crowd):
            begun = by_crowd([each for each in self._listed if each.id in board.drafts] if board.drafts else [])
            draft = [texts.stands_draft] if ask.name in begun else []
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
        self._came_by_itself = ""
        self._forget_readable()
        self._tell_keys()
        self._offer()
        self._preview_soon()

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
        """Offer to decide what all of is in view; a key that was meant for another is not for it."""
        if not self.alive:
            return
        before, self._readable = self._readable, item if self._shows_whole(item) else None
        self._looked_at = item.id if item else ""
        if self.is_active and self._readable and (before is None or before.id != self._readable.id):
            self.shared.reflexes.present(self, 0)
        if (before and (before.id, before.version)) != (self._readable and (self._readable.id, self._readable.version)):
            self.refresh_bindings()
        self._tell_keys()

    def _shows_whole(self, item: Entry | None) -> TypeGuard[Ask]:
        if not self.is_current or not isinstance(item, Ask) or not item.state.answerable:
            return False
        if item.wanted is None:
            in_row = self.query_one(AskList).tells_choices
            return bool(keys_for(item)) and (in_row or (is_told_beside(item) and self._fits_beside))
        from sayso.permissions.action import action_of
        from sayso.tui.action_card import is_whole

        return self._fits_beside and is_whole(action_of(item))

    @property
    def _fits_beside(self) -> bool:
        room = self.query_one("#beside").scrollable_content_region.size
        needed = self.query_one("#preview", Prose).get_content_height(room, room, room.width)
        return self.has_class("-wide") and needed <= room.height

    def _tell_keys(self) -> None:
        """Begin the line at the bottom with what is about to be sent, or with the keys that answer what is in view."""
        texts, bar = self.shared.texts, self.query_one(KeyBar)
        bar.withhold({"allow"} if self._readable and not self._takes_answers(self._readable) else set())
        hidden = [("", self._told_hidden)] if self._told_hidden and not self._back_shows_all else []
        if self.query_one("#filter").has_focus:
            found = bool(self.query_one(AskList).items)
            bar.lead([("enter", texts.open_found), ("down", texts.to_found)] if found else [])
        elif going := self._going:
            room = bar.room_to_lead - len(texts.sent_in.format(answer="", n=going.seconds))
            answer = Content(self._told_from_here(going)).truncate(max(room, 1), ellipsis=True)
            bar.lead([("", texts.sent_in.format(answer=answer.plain, n=going.seconds))])
        elif self._readable and keys_for(self._readable) and self._takes_answers(self._readable):
            bar.lead([*hidden, (shown_keys(self._readable), texts.answers_it)])
        else:
            bar.lead(hidden)

    def _takes_answers(self, ask: Ask) -> bool:
        """Whether a key on its row answers it: not while words are typed elsewhere, or were for it."""
        board = self.shared.board
        begun = ask.id in board.drafts and ask.id not in board.outgoing
        return self.query_one(AskList).has_focus and not begun

    def on_descendant_focus(self) -> None:
        self._tell_keys()

    def on_descendant_blur(self) -> None:
        self._tell_keys()

    @property
    def _going(self) -> HeldAnswer | None:
        """The answer that can be taken back: the one at the cursor, or else the last."""
        outgoing, item = self.shared.board.outgoing, self.query_one(AskList).item
        return (outgoing.get(item.id) if item else None) or next(reversed(outgoing.values()), None)

    def _told_from_here(self, going: HeldAnswer) -> str:
        """The answer, with its question where that is not the one at the cursor."""
        item = self.query_one(AskList).item
        return self._told(going) if item and item.id == going.ask.id else self._told_with_question(going)

    def _told_with_question(self, going: HeldAnswer) -> str:
        return f"{self._told(going)} ({one_line(self.shared.wording.headline(going.ask), 40)})"

    def _told(self, going: HeldAnswer) -> str:
        return one_line(self.shared.wording.option(going.ask.questions[0], going.chosen), 24)

    def _previewed(self, entry: Entry) -> Sequence[Block]:
        if isinstance(entry, Ask):
            return preview(self.shared, entry)
        return crowd_preview(self.shared, entry, by_crowd(self._listed)[entry.name])

    def _forget_readable(self) -> None:
        if self._readable:
            self._readable = None
            self.refresh_bindings()
            self._tell_keys()

    def on_resize(self) -> None:
        self._forget_readable()
        self._preview_soon()

    # Doing

    @on(Rows.Clicked)
    def action_open(self) -> None:
        if self.query_one(AskList).item and self.meant():
            self._open_at_cursor()

    def _open_at_cursor(self) -> None:
        match self.query_one(AskList).item:
            case Ask() as ask:
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

    def on_key(self, event: Key) -> None:
        if event.key == "down" and self.query_one("#filter").has_focus:
            event.stop()
            self._leave_filter()
        elif self._readable and self.query_one(AskList).has_focus:
            chosen = keys_for(self._readable).get(event.character or "")
            if chosen is not None:
                event.stop()
                self._answer_by_key(chosen)
                return
        if self.query_one(AskList).has_focus and (why_not := self._why_not_by(event)):
            event.stop()
            self.warn(why_not)

    def _why_not_by(self, key: Key) -> str:
        """What is said of a key that would answer or decide the ask at the cursor if it did that from here."""
        texts, ask, opens = self.shared.texts, self.query_one(AskList).ask, self.shared.keys.shown("open")
        if ask is None or ask.id != self._looked_at:
            return ""
        if self._readable is None:
            told = key.character in keys_for(ask) or (ask.wanted is not None and self._decides(key, "allow", "deny"))
            return texts.not_all_here.format(key=opens) if told else ""
        agreed = self._has_agreed(ask) and self._decides(key, "allow")
        return texts.agreed_before.format(key=opens) if agreed else ""

    def _decides(self, key: Key, *names: str) -> bool:
        return any(each.name in names and key.key in each.keys.split(",") for each in self.shared.keys.of("inbox"))

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

    def action_copy(self) -> None:
        if ask := self.query_one(AskList).ask:
            self.post_message(Copy(copy_text(self.shared, ask, ())))

    def action_whole(self) -> None:
        if ask := self.query_one(AskList).ask:
            self.post_message(Read(whole_text(self.shared, ask)))

    # Answering a short question that is all in view

    def _answer_by_key(self, chosen: str) -> None:
        """A key that is held down answers nothing: what its first press has answered is taken back."""
        board = self.shared.board
        if self._readable and self.shared.reflexes.held and (going := board.outgoing.get(self._readable.id)):
            self._take_back(going)
        ask = self._decidable()
        if not self._shows_whole(ask):
            return
        going = HeldAnswer(ask=ask, chosen=chosen, seconds=SECONDS_TO_UNDO)
        self._answered_at = self.shared.reflexes.at
        self.run_worker(self._hold_back(going), group="settle")

    async def _hold_back(self, going: HeldAnswer) -> None:
        """Send it in a while. Until then it is a draft: whatever ends this program, nothing is lost."""
        with self.shared.typing.held():
            if not await self.meant_alone() or await self._was_begun(going.ask):
                return
            self._go_out(going)
            await self._keep(going.ask, to_json(going.ask, going.draft))

    async def _was_begun(self, ask: Ask) -> bool:
        """Whether the person has entered something for it, perhaps elsewhere, of which nothing rings; they are told."""
        board, person = self.shared.board, self.shared.config.person
        if ask.id in board.outgoing:
            return False
        with suppress(StoreError):
            begun = await self.do(lambda desk: desk.draft(ask.id, person)) or board.unsaved.get(ask.id)
            (board.drafts.add if begun else board.drafts.discard)(ask.id)
        if ask.id in board.drafts:
            self._outgoing_changed()
            self.warn(self.shared.texts.draft_first.format(key=self.shared.keys.shown("open")))
        return ask.id in board.drafts

    def _go_out(self, going: HeldAnswer) -> None:
        outgoing = self.shared.board.outgoing
        outgoing.pop(going.ask.id, None)
        outgoing[going.ask.id] = going
        self._outgoing_changed()
        self.set_timer(1.0, partial(self._second_passed, going))

    def _second_passed(self, going: HeldAnswer) -> None:
        outgoing, ask_id = self.shared.board.outgoing, going.ask.id
        if outgoing.get(ask_id) is not going:
            return
        if going.seconds <= 1:
            self.run_worker(self._send(outgoing.pop(ask_id)), group="settle")
            self._outgoing_changed()
            return
        later = replace(going, seconds=going.seconds - 1)
        outgoing[ask_id] = later
        self._tell_keys()
        self.set_timer(1.0, partial(self._second_passed, later))

    def _outgoing_changed(self) -> None:
        self.tick()
        self._tell_keys()
        self.refresh_bindings()

    def action_undo(self) -> None:
        """Take back what was answered at the cursor, or else what was answered last."""
        if going := self._going:
            self._take_back(going)
            self.say(self.shared.texts.taken_back.format(answer=self._told_with_question(going)))

    def words_came(self) -> None:
        """A letter that does nothing came right after a key has answered: both are of words for another window."""
        going = next(reversed(self.shared.board.outgoing.values()), None)
        if going and self.shared.reflexes.at - self._answered_at < WORD:
            self._take_back(going)
            self.warn(self.shared.texts.words_came.format(answer=self._told_with_question(going)))

    def _take_back(self, going: HeldAnswer) -> None:
        del self.shared.board.outgoing[going.ask.id]
        self._outgoing_changed()
        self.run_worker(self._keep(going.ask, ""), group="settle")

    async def _keep(self, ask: Ask, body: str) -> None:
        board, person = self.shared.board, self.shared.config.person
        try:
            await self.enter_at_desk(lambda desk: desk.keep_draft(ask.id, person, body))
        except StoreError:
            board.unsaved[ask.id] = body
        except NotYours as error:
            self.warn(self.shared.explained(error))
        if not body:
            board.drafts.discard(ask.id)

    async def _see_whether_overtaken(self, going: HeldAnswer) -> None:
        """Where somebody else was first, say so at once."""
        outgoing, ask_id = self.shared.board.outgoing, going.ask.id
        with suppress(NotFound, StoreError):
            now = await self.do(lambda desk: desk.get(ask_id))
            if not now.state.answerable and ask_id in outgoing:
                del outgoing[ask_id]
                self._outgoing_changed()
                self.warn(self.shared.texts.not_sent.format(error=self.shared.wording.truth(now)))

    async def _send(self, going: HeldAnswer) -> None:
        self.shared.board.drafts.add(going.ask.id)  # as which it stays where it cannot be sent
        await self._turn(going.ask, self._answering(going), "sent")

    def _answering(self, going: HeldAnswer) -> Callable[[AskDesk], Ask]:
        ask, settler = going.ask, self.shared.settler

        def work(desk: AskDesk) -> Ask:
            settled = desk.answer(ask.id, answers(ask, going.draft), settler)
            desk.keep_draft(ask.id, settler.person, "")
            return settled

        return work

    async def send_outgoing(self) -> None:
        """Send now what is about to be sent. What cannot be sent is still a draft."""
        outgoing = self.shared.board.outgoing
        while outgoing:
            _, going = outgoing.popitem()
            with suppress(AlreadySettled, NotFound, NotYours, InvalidInput, StoreError):
                await self.shared.link.settle_ask(going.ask, self.shared.settler, self._answering(going))

    # Deciding about a permission that is all in view beside the list

    def action_allow(self) -> None:
        if ask := self._decidable():
            self._forget_readable()
            self.run_worker(self._allow(ask), group="settle")

    async def _allow(self, ask: Ask) -> None:
        with self.shared.typing.held():
            if await self._was_begun(ask):
                self._preview_soon()
                return
            await self._settle(ask, lambda desk: _permissions(desk).allow(ask.id, ask.digest, self.shared.settler))

    def action_deny(self) -> None:
        if ask := self._decidable():
            self._decide(ask, lambda desk: _permissions(desk).deny(ask.id, self.shared.settler))

    def _decidable(self) -> Ask | None:
        """The permission at the cursor, if the key at work was pressed by somebody who has seen all of it."""
        ask, item = self._readable, self.query_one(AskList).item
        if ask is None or item is None or item.id != ask.id:
            return None
        if not self.shared.reflexes.rested():
            self._remind()
            return None
        return ask if self.meant() and not self._is_unexpected(ask) else None

    def _is_unexpected(self, ask: Ask) -> bool:
        """Whether the key at work may have been meant for another ask, which was here before: it takes a second one."""
        unexpected, self._came_by_itself = self._came_by_itself == ask.id, ""
        if unexpected:
            self.not_taken(self.shared.texts.row_changed)
        return unexpected

    def _decide(self, ask: Ask, work: Callable[[AskDesk], Ask]) -> None:
        self._forget_readable()
        self.run_worker(self._settle(ask, work), group="settle")

    async def _settle(self, ask: Ask, work: Callable[[AskDesk], Ask]) -> None:
        with self.shared.typing.held():
            if await self.meant_alone():
                await self._turn_now(ask, work, "sent")

    async def _turn_now(self, ask: Ask, work: Callable[[AskDesk], Ask], done: str) -> None:
        """Settle it, with the next one at the cursor as the person expects."""
        if await self._turn(ask, work, done):
            self._came_by_itself = ""

    async def _turn(self, ask: Ask, work: Callable[[AskDesk], Ask], done: str) -> Ask | None:
        """Settle it and say so; `done` names the text for it. None where it cannot be settled."""
        try:
            settled = await self.settle(ask, work)
        except (AlreadySettled, NotFound, NotYours, InvalidInput, StoreError) as error:
            self.warn(self.shared.texts.not_sent.format(error=self.shared.explained(error)))
            self._preview_soon()
            return None
        if not settled.state.answerable:
            self.shared.board.settle(ask.id)
        self.board_changed()
        self.app.post_message(Settled(settled, done))
        return settled

    # Putting off

    def action_snoozed(self) -> None:
        """What the person has put off in the place of what is open, or the other way round."""
        self._shows_snoozed = not self._shows_snoozed
        self._mark(set())
        self._rearrange()
        self.query_one(AskList).move_to(0)

    def action_snooze(self) -> None:
        """Put off what is marked, or else what is at the cursor, for a while; what was put off comes back."""
        ask = self.query_one(AskList).ask
        asks = self._marked_asks or ([ask] if ask else [])
        if asks and self.meant():
            self.run_worker(self._snooze(asks), group="snooze")

    async def _snooze(self, asks: Sequence[Ask]) -> None:
        if not await self.meant_alone():
            return
        person, texts, back = self.shared.config.person, self.shared.texts, self._shows_snoozed
        done: list[Snoozed] = []
        until = self.shared.wording.clock() + _SNOOZED_FOR

        def work(desks: Desks) -> None:
            from sayso.agent_guard import refuse_agents

            refuse_agents(desks, "put off what a person is asked")
            for ask in asks:
                if back:
                    desks.asks.wake(ask.id, person)
                else:
                    done.append(desks.asks.snooze(ask.id, person, until))

        try:
            await self.shared.link.with_desks(work)
        except StoreError as error:
            self.app.post_message(Trouble(error))
        except (AlreadySettled, NotFound, NotYours, InvalidInput) as error:
            self.warn(texts.not_snoozed.format(error=self.shared.explained(error)))
        if done:
            when, key = self.shared.wording.when(done[-1].until), self.shared.keys.shown("snoozed")
            self.say(texts.snoozed.format(when=when, key=key))
        self._mark(set())
        self.app.post_message(LookAgain())

    # Rejecting one, or several at once

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
        """Mark every ask that has a row here; or none, where all are marked."""
        listed = {entry.id for entry in self.query_one(AskList).items if isinstance(entry, Ask)}
        self._mark(self._marked - listed if listed <= self._marked else self._marked | listed)

    def _mark(self, ask_ids: set[str]) -> None:
        self._marked = ask_ids
        top = self.query_one_optional(TopBar)
        if top is None:
            return  # it was closed while something was done to those that were marked
        self.tick()
        top.tell(self.shared.board, self.special())
        self.tell_keys_otherwise()
        self._tell_keys()
        self.refresh_bindings()

    def names_now(self) -> dict[str, str]:
        texts, told = self.shared.texts, super().names_now()
        if self._marked:
            told["reject"] = texts.reject_marked.format(n=len(self._marked))
        elif (ask := self.query_one(AskList).ask) and ask.is_permission:
            told["reject"] = texts.deny_why
        if self._told_hidden and self._back_shows_all:
            told["back"] = texts.show.format(what=self._told_hidden)
        if self._shows_snoozed:
            told |= {"snooze": texts.wake_it, "snoozed": texts.do_back}
        return told

    def action_reject(self) -> None:
        """Reject all that are marked; without marks, the one at the cursor."""
        marked, ask = self._marked_asks, self.query_one(AskList).ask
        if marked and self.meant():
            self.run_worker(self._reject_marked(marked), group="reject", exclusive=True)
        elif ask and self.meant():
            self.run_worker(self._reject(ask), group="reject", exclusive=True)

    async def _reject_marked(self, asks: Sequence[Ask]) -> None:
        from sayso.tui.dialogs import ask_for_rejection_of_all, of_kinds
        from sayso.tui.settling import turned_down

        said, texts, done = await ask_for_rejection_of_all(self, asks), self.shared.texts, list[Ask]()
        for ask in asks if said.confirmed else ():
            try:
                await self.settle(ask, partial(turned_down, ask=ask, why=said.text, by=self.shared.settler))
            except (AlreadySettled, NotFound, NotYours, InvalidInput, StoreError) as error:
                self.warn(texts.not_sent.format(error=self.shared.explained(error)))
            else:
                self.shared.board.settle(ask.id)
                done.append(ask)
        if done:
            told = of_kinds(done, texts.rejected_many, texts.denied_many, texts.turned_down_many)
            self.say(told.format(n=len(done)))
            self._rearrange()

    async def _reject(self, ask: Ask) -> None:
        from sayso.tui.dialogs import ask_for_rejection
        from sayso.tui.settling import turned_down

        said = await ask_for_rejection(self, ask, "")
        if said.confirmed:
            await self._turn_now(ask, lambda desk: turned_down(desk, ask, said.text, self.shared.settler), "rejected")


def _permissions(desk: AskDesk) -> PermissionDesk:
    from sayso.permissions.desk import PermissionDesk  # the inbox opens sooner without

    return PermissionDesk(desk)
