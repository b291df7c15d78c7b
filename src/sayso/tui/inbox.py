"""The inbox: every ask that can be answered, whoever asks and wherever, and what is settled from its row."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeGuard

from textual import on
from textual.content import Content
from textual.events import Key

from sayso.asks.crowds import Entry
from sayso.asks.desk import AskDesk
from sayso.asks.draft import answers, to_json
from sayso.asks.model import Ask
from sayso.errors import AlreadySettled, InvalidInput, NotFound, NotYours, SaysoError, StoreError
from sayso.records import replace
from sayso.text import one_line
from sayso.tui.asklist import AskList
from sayso.tui.bars import KeyBar
from sayso.tui.listing import ListingScreen
from sayso.tui.one_key import is_told_beside, keys_for, shown_keys
from sayso.tui.outgoing import SECONDS_TO_UNDO, HeldAnswer
from sayso.tui.prose import Pane, Prose
from sayso.tui.reflexes import WORD
from sayso.tui.screen import LookAgain, Settled, Trouble
from sayso.tui.shared import Shared, UnsavedDraft

if TYPE_CHECKING:
    from sayso.asks.snoozing import Snoozed
    from sayso.desks import Desks
    from sayso.permissions.desk import PermissionDesk

_SNOOZED_FOR = 3_600_000
"""Milliseconds for which one key puts an ask off."""


_TURNED_DOWN_AT_ONCE = 50
"""So many asks are turned down in one transaction, after which others have their turn."""
_SAID_AFTER = 1.0
"""Seconds after which it is said how far that is."""


class InboxScreen(ListingScreen):
    """What all of is in view is answered or decided on its row; all is put off or rejected there."""

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self._readable: Ask | None = None
        """The permission, or the short question, of which everything is in view: it can be decided here."""
        self._answered_at = float("-inf")
        """When the key came that last answered a row."""
        self._turning_down: asyncio.Future[str] | None = None
        """What was confirmed for several asks and goes on being done."""

    def board_changed(self) -> None:
        super().board_changed()
        board = self.shared.board
        if board.looked and not board.trouble:
            for going in [going for going in board.outgoing.values() if not board.find(going.ask.id)]:
                self.run_worker(self._see_whether_overtaken(going), group="overtaken")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "allow" | "deny":
                ask = self._readable
                return ask is not None and ask.wanted is not None and (action == "deny" or not self._has_agreed(ask))
            case "undo":
                return bool(self.shared.board.outgoing)
        return super().check_action(action, parameters)

    def moved(self) -> None:
        self._forget_readable()
        self._tell_keys()
        super().moved()

    # What all is in view of

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

    @on(Pane.Turned)
    def _room_beside_changed(self) -> None:
        """What stands beside the list has more room or less, because a notice came or went: look again."""
        if self._readable and not self._shows_whole(self._readable):
            self._forget_readable()
        self._preview_soon()

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
        self._focus_moved()

    def on_descendant_blur(self) -> None:
        self._focus_moved()

    def _focus_moved(self) -> None:
        """In the filter, keys do something else than in the list."""
        self._tell_keys()
        self.tell_keys_otherwise()

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

    def _forget_readable(self) -> None:
        if self._readable:
            self._readable = None
            self.refresh_bindings()
            self._tell_keys()

    def on_resize(self) -> None:
        self._forget_readable()
        self._preview_soon()

    # Keys on a row

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
            self.shared.reflexes.refuse()
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
            await self._keep(going.ask, to_json(going.ask, going.draft), over="")

    async def _was_begun(self, ask: Ask) -> bool:
        """Whether the person has entered something for it, perhaps elsewhere, of which nothing rings; they are told."""
        board, person = self.shared.board, self.shared.config.person
        if ask.id in board.outgoing:
            return False
        with suppress(StoreError):
            begun = await self.do(lambda desk: desk.draft(ask.id, person)) or ask.id in board.unsaved
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
            self.alert(self.shared.texts.words_came.format(answer=self._told_with_question(going)))

    def _take_back(self, going: HeldAnswer) -> None:
        del self.shared.board.outgoing[going.ask.id]
        self._outgoing_changed()
        self.run_worker(self._keep(going.ask, "", over=to_json(going.ask, going.draft)), group="settle")

    async def _keep(self, ask: Ask, body: str, over: str) -> None:
        board, person = self.shared.board, self.shared.config.person
        try:
            await self.enter_at_desk(lambda desk: desk.keep_draft(ask.id, person, body))
        except StoreError:
            board.unsaved[ask.id] = UnsavedDraft(ask=ask, body=body, over=over)
        except NotYours as error:
            self.alert(self.shared.explained(error))
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
                self.alert(self.shared.texts.not_sent.format(error=self.shared.wording.truth(now)))

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

    async def send_outgoing(self) -> list[str]:
        """Send now what is about to be sent; why something will not be. What the store does not take just now goes on
        being about to be sent."""
        outgoing, refused, waiting = self.shared.board.outgoing, list[str](), list[HeldAnswer]()
        while outgoing:
            _, going = outgoing.popitem()
            try:
                await self.settle(going.ask, self._answering(going))
            except StoreError:
                waiting.append(replace(going, seconds=SECONDS_TO_UNDO))
            except (AlreadySettled, NotFound, NotYours, InvalidInput) as error:
                refused.append(self.shared.texts.not_sent.format(error=self.shared.explained(error)))
        for going in waiting:
            self._go_out(going)
        return refused

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
        if ask is None or item is None or item.id != ask.id or not self._shows_whole(ask):
            return None
        if not self.shared.reflexes.rested():
            self._remind()
            return None
        return ask if self.meant() and not self._is_unexpected(ask) else None

    def _is_unexpected(self, ask: Ask) -> bool:
        """Whether the key at work may have been meant for another ask, which was here before: it takes a second one."""
        came, self._came_by_itself = self._came_by_itself, ""
        unexpected = came == ask.id and self._in_place_of not in self.shared.board.own
        if unexpected:
            self.warn(self.shared.texts.row_changed)
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
        settled = await self._turn(ask, work, done)
        if settled and not settled.state.answerable:
            self.shared.board.own.add(ask.id)

    async def _turn(self, ask: Ask, work: Callable[[AskDesk], Ask], done: str) -> Ask | None:
        """Settle it and say so; `done` names the text for it. None where it cannot be settled."""
        try:
            settled = await self.settle(ask, work)
        except (AlreadySettled, NotFound, NotYours, InvalidInput, StoreError) as error:
            self.alert(self.shared.texts.not_sent.format(error=self.shared.explained(error)))
            self._preview_soon()
            return None
        self.forget_warning()
        if not settled.state.answerable:
            self.shared.board.settle(ask.id)
        self.board_changed()
        self.app.post_message(Settled(settled, done))
        return settled

    # Putting off

    def action_snooze(self) -> None:
        """Put off what is marked, or else what is at the cursor, for a while; what was put off comes back."""
        marked, ask = self._marked_asks, self.query_one(AskList).ask
        if marked and self.meant():
            self.run_worker(self._snooze(marked), group="snooze")
        elif ask and self.meant() and not self._is_unexpected(ask):
            self.run_worker(self._snooze([ask]), group="snooze")

    async def _snooze(self, asks: Sequence[Ask]) -> None:
        if not await self.meant_alone():
            return
        person, texts, back = self.shared.config.person, self.shared.texts, self._shows_snoozed
        done: dict[str, Snoozed | None] = {}
        refused: list[SaysoError] = []
        until = self.shared.wording.clock() + _SNOOZED_FOR
        hidden = {ask.id for ask in self._hidden}

        def work(desks: Desks) -> None:
            from sayso.agent_guard import refuse_agents

            refuse_agents(desks, "put off what a person is asked")
            for ask in asks:
                try:
                    if back:
                        desks.asks.wake(ask.id, person)
                    done[ask.id] = None if back else desks.asks.snooze(ask.id, person, until)
                except (AlreadySettled, NotFound, InvalidInput) as error:
                    refused.append(error)

        try:
            await self.shared.link.with_desks(work)
        except StoreError as error:
            self.app.post_message(Trouble(error))
        except NotYours as error:
            refused.append(error)
        for why in refused:
            self.alert(texts.not_snoozed.format(error=self.shared.explained(why)))
        self.shared.board.own |= done.keys()
        self._tell_snoozed([each for each in done.values() if each], len(done.keys() & hidden))
        self._mark(set())
        self.app.post_message(LookAgain())

    def _tell_snoozed(self, done: Sequence[Snoozed], hidden: int) -> None:
        if done:
            texts, counted = self.shared.texts, len(done)
            told = texts.snoozed_hidden if hidden else texts.snoozed_many if counted > 1 else texts.snoozed
            when, key = self.shared.wording.when(done[-1].until), self.shared.keys.shown("snoozed")
            self.say(told.format(when=when, key=key, n=counted, hidden=hidden))

    # Rejecting one, or several at once

    def action_reject(self) -> None:
        """Reject all that are marked; without marks, the one at the cursor."""
        marked, ask = self._marked_asks, self.query_one(AskList).ask
        if marked and self.meant():
            self.run_worker(self._reject_marked(marked), group="reject", exclusive=True)
        elif ask and self.meant() and not self._is_unexpected(ask):
            self.run_worker(self._reject(ask), group="reject", exclusive=True)

    async def _reject_marked(self, asks: Sequence[Ask]) -> None:
        from sayso.tui.dialogs import ask_for_rejection_of_all

        if not await self.opens_dialog():
            return
        said = await ask_for_rejection_of_all(self, asks)
        if said.confirmed:
            # Not by this worker: the next key that rejects would end it halfway.
            self._turning_down = asyncio.ensure_future(self._turn_down(asks, said.text))

    async def _turn_down(self, asks: Sequence[Ask], why: str) -> str:
        """Say no to all of these, a part of them at a time; what is told if that is not all that was to be done."""
        from sayso.tui.dialogs import of_kinds

        texts, board, began = self.shared.texts, self.shared.board, time.monotonic()
        ended, told = dict[str, Ask | SaysoError](), list[str]()
        self._mark(set())
        board.under_way |= {ask.id for ask in asks}
        try:
            for start in range(0, len(asks), _TURNED_DOWN_AT_ONCE):
                part = await self._turn_down_at_once(asks[start : start + _TURNED_DOWN_AT_ONCE], why)
                ended.update(part)
                board.settle_each(part.keys())
                board.own |= part.keys()
                if time.monotonic() - began > _SAID_AFTER:
                    self.say(texts.turning_down.format(n=len(ended), all=len(asks)))
                    self.board_changed()
        except (NotYours, InvalidInput, StoreError) as error:
            told.append(texts.not_turned_down.format(n=len(asks) - len(ended), error=self.shared.explained(error)))
        finally:
            board.under_way -= {ask.id for ask in asks}
        self._mark({ask.id for ask in asks} - ended.keys())
        told += self._told_refused([each for each in ended.values() if isinstance(each, SaysoError)])
        if done := [each for each in ended.values() if isinstance(each, Ask)]:
            said = of_kinds(done, texts.rejected_many, texts.denied_many, texts.turned_down_many)
            self.say(said.format(n=len(done)))
        if told:
            self.alert("\n".join(told))
        if self.alive:
            self.board_changed()
        return "\n".join(told)

    def _told_refused(self, refused: Sequence[SaysoError]) -> list[str]:
        """How many were settled by others first, and how the first of them was."""
        if not refused:
            return []
        why = self.shared.explained(refused[0])
        return [
            self.shared.texts.not_sent.format(error=why)
            if len(refused) == 1
            else self.shared.texts.not_turned_down.format(n=len(refused), error=why)
        ]

    async def _turn_down_at_once(self, asks: Sequence[Ask], why: str) -> Mapping[str, Ask | SaysoError]:
        from sayso.tui.settling import turned_down_each

        by = self.shared.settler
        doing = self.shared.link.settle_each(asks, by, lambda desk: turned_down_each(desk, asks, why, by))
        return await self._told_of_trouble(doing)

    async def end_turning_down(self) -> str:
        """Wait until what was confirmed is done; what is told if not all of it could be."""
        doing, self._turning_down = self._turning_down, None
        return await doing if doing else ""

    async def _reject(self, ask: Ask) -> None:
        from sayso.tui.dialogs import ask_for_rejection
        from sayso.tui.settling import turned_down

        if not await self.opens_dialog():
            return
        said = await ask_for_rejection(self, ask, "")
        if said.confirmed:
            await self._turn_now(ask, lambda desk: turned_down(desk, ask, said.text, self.shared.settler), "rejected")


def _permissions(desk: AskDesk) -> PermissionDesk:
    from sayso.permissions.desk import PermissionDesk  # the inbox opens sooner without

    return PermissionDesk(desk)
