"""One ask on the screen, whatever the screen looks like: its draft, the truth about it, and how it is settled."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.timer import Timer

from sayso.asks.desk import AskDesk
from sayso.asks.draft import Draft, answers, from_json, is_same, is_told_by, merged, to_json, with_known
from sayso.asks.model import Ask, Question, Settler
from sayso.errors import AlreadySettled, InvalidInput, NotFound, NotYours, StoreError
from sayso.permissions.action import Action, AllowScope
from sayso.permissions.desk import PermissionDesk
from sayso.records import replace
from sayso.tui.bars import TextLine
from sayso.tui.dialogs import ask_for_rejection, ask_what_is_unclear
from sayso.tui.markdown import plain_line
from sayso.tui.screen import SaysoScreen, Settled
from sayso.tui.shared import Shared, UnsavedDraft

if TYPE_CHECKING:
    from sayso.permissions.like_rule import LikeRule

_SAVE_EVERY, _SAVE_AFTER = 0.25, 0.05
"""Seconds between two times that a draft is kept, at least; and after the first key that follows a pause, which is
drawn first."""

_ELABORATE = "Please elaborate on question {number} of {total} ({question}) and ask again. {unclear}"
"""For the agent, so in the language agents are spoken to."""


class SettlingScreen(SaysoScreen[None]):
    """Keeps a draft as it is entered, follows the ask, and settles it once."""

    def __init__(self, shared: Shared, ask: Ask, draft: Draft) -> None:
        super().__init__(shared, "answer")
        self.ask, self.draft = ask, draft
        self._there = True
        self._settled = False
        self._settling = False
        self._is_refused = False
        """Whether it was said that whoever is here may not settle it: more than that they may enter nothing."""
        self._leaving = False
        self._saving: Timer | None = None
        self._saved_at = float("-inf")
        self._one_at_a_time = asyncio.Lock()
        """A draft that is kept while its ask is settled would be left behind."""
        self._kept = to_json(ask, draft)

    def special(self) -> str:
        """What is new, and how many are put off: the line at the top counts only the others."""
        return " · ".join(filter(None, (super().special(), self.how_many_snoozed())))

    # The draft

    def enter(self, draft: Draft) -> None:
        """The person has entered something."""
        self.draft = draft
        if self._saving is None:
            left = self._saved_at + _SAVE_EVERY - time.monotonic()
            self._saving = self.set_timer(max(left, _SAVE_AFTER), self._save_now)

    def _save_now(self) -> None:
        self._saving, self._saved_at = None, time.monotonic()
        self.run_worker(self.save(), group="save")

    async def save(self) -> None:
        """Keep the draft. While the store is away it is kept on the board, until the store is back."""
        async with self._one_at_a_time:
            await self._save()

    async def _save(self) -> None:
        body, board = to_json(self.ask, self.draft), self.shared.board
        if self._settled or not self._there or body == self._kept:
            return
        ask_id, person = self.ask.id, self.shared.config.person
        try:
            there = await self.enter_at_desk(
                lambda desk: desk.keep_draft(ask_id, person, body, only_over=self._is_as_kept)
            )
            if there != body:
                await self._go_on_with(there)
                return
        except StoreError:
            board.unsaved[ask_id] = UnsavedDraft(ask=self.ask, body=body, over=self._kept)
            return
        except NotYours as error:
            if not self._is_refused:
                self.alert(self.shared.explained(error))
            return
        self._kept = body
        board.unsaved.pop(ask_id, None)
        (board.drafts.add if body else board.drafts.discard)(ask_id)

    def _is_as_kept(self, body: str) -> bool:
        """Whether a draft is the one that was last kept or found here."""
        return is_same(from_json(self.ask, body), from_json(self.ask, self._kept))

    async def _go_on_with(self, body: str) -> None:
        """The person has entered something elsewhere since: both stand here then, and are kept."""
        ask_id, person = self.ask.id, self.shared.config.person
        draft = merged(from_json(self.ask, self._kept), self.draft, from_json(self.ask, body))
        if draft.has_files:
            draft = with_known(draft, await self.do(lambda desk: desk.added(ask_id, person)))
        self.draft, self._kept = draft, body
        if self.alive:
            self.draft_has_grown()
            self.alert(self.shared.texts.draft_grew)
        await self._save()

    def draft_has_grown(self) -> None:
        """Show what was entered elsewhere, too."""

    async def on_unmount(self) -> None:
        await self.save()

    # The truth

    @property
    def answerable(self) -> bool:
        return self._there and self.ask.state.answerable

    def board_changed(self) -> None:
        super().board_changed()
        if found := self.shared.board.find(self.ask.id):
            self._know(found)
        elif self.shared.board.looked and self.answerable and not self.shared.board.trouble:
            self.run_worker(self._look_again(), group="look", exclusive=True)

    async def _look_again(self) -> None:
        ask_id = self.ask.id
        try:
            found = await self.do(lambda desk: desk.get(ask_id))
        except NotFound:
            self._there = False
            self._tell_truth()
        except StoreError:
            return
        else:
            self._know(found)

    def _know(self, ask: Ask) -> None:
        # A wiped ask has lost its texts; those on the screen are kept.
        self.ask = ask if ask.questions else replace(ask, questions=self.ask.questions, title=self.ask.title)
        self._there = True
        self._tell_truth()

    def _tell_truth(self) -> None:
        if self._settled or not self.alive:
            return
        truth = self.shared.wording.truth(self.ask if self._there else None)
        line = self.query_one("#truth", TextLine)
        line.show(truth)
        line.display = bool(truth)
        line.set_class(not self.answerable, "-ended")
        self.refresh_bindings()

    # Settling

    async def send(self) -> None:
        """Send the answers, if they are complete and nobody was faster."""
        ask, draft = self.ask, self.draft
        await self._settle(lambda desk: desk.answer(ask.id, answers(ask, draft), self.shared.settler), "sent")

    async def allow(self, scope: AllowScope | None, instead: Action | None) -> None:
        """Allow what was shown: what the agent wants, or what the person has made of it."""
        ask, by = self.ask, self.shared.settler
        given, digest = (instead.data["input"], instead.digest) if instead else (None, "")

        def work(desk: AskDesk) -> Ask:
            from sayso.permissions.rules_here import Rules  # the inbox opens sooner without

            permissions = PermissionDesk(desk, Rules(self.shared.config))
            return permissions.allow(ask.id, ask.digest, by, scope, given, digest)

        await self._settle(work, "sent")

    async def allow_like(self, rule: LikeRule) -> None:
        """Allow what was shown, and by this rule from now on what is like it."""
        ask, by = self.ask, self.shared.settler

        def work(desk: AskDesk) -> Ask:
            from sayso.permissions.rules_here import Rules  # the inbox opens sooner without

            return PermissionDesk(desk, Rules(self.shared.config)).allow_like(ask.id, ask.digest, by, rule)

        await self._settle(work, "rule_added")

    async def take_back(self) -> None:
        """Take the person's own yes back, where others have to agree too."""
        ask, by = self.ask, self.shared.settler
        await self._settle(lambda desk: PermissionDesk(desk).take_back(ask.id, by), "yes_taken_back")

    async def deny(self, because: str) -> None:
        ask, by = self.ask, self.shared.settler
        await self._settle(lambda desk: PermissionDesk(desk).deny(ask.id, by, because), "sent")

    async def reject(self) -> None:
        """Say no to all of it, with a reason if there is one."""
        if not await self.opens_dialog():
            return
        ask, said = self.ask, await ask_for_rejection(self, self.ask, self.draft.reason, self._note_reason)
        self._note_reason(said.text)
        if said.confirmed:
            await self._settle(lambda desk: turned_down(desk, ask, said.text, self.shared.settler), "rejected")

    def _note_reason(self, text: str) -> None:
        self.enter(replace(self.draft, reason=text))

    def _note_unclear(self, text: str) -> None:
        self.enter(replace(self.draft, unclear=text))

    async def elaborate(self, place: int, question: Question) -> None:
        """Hand the ask back to the agent: it should explain one question and ask again."""
        if not await self.opens_dialog():
            return
        ask, said = self.ask, await ask_what_is_unclear(self, self.ask, place, self.draft.unclear, self._note_unclear)
        self._note_unclear(said.text)
        if said.confirmed:
            reason = elaboration(ask, place, question, said.text)
            await self._settle(lambda desk: turned_down(desk, ask, reason, self.shared.settler), "asked_back")

    async def _settle(self, work: Callable[[AskDesk], Ask], done: str) -> None:
        """Settle it, say so and leave; `done` names the text for it. What was entered stays when somebody was first, or
        it cannot be done."""
        if self._settling or self._settled:
            return
        if not self.answerable:
            self.warn(self.shared.wording.truth(self.ask if self._there else None))
            return
        self._settling = True
        try:
            with self.shared.typing.held():
                settled = await self._settle_once(work) if await self.meant_alone() else None
                if settled:
                    self._part(settled, done)
        finally:
            self._settling = False

    async def _settle_once(self, work: Callable[[AskDesk], Ask]) -> Ask | None:
        ask, settler, ours, before = self.ask, self.shared.settler, self.draft, from_json(self.ask, self._kept)

        def is_known(there: str) -> bool:
            return is_told_by(before, ours, from_json(ask, there))

        def settle_and_forget(desk: AskDesk) -> Ask:
            settled = work(desk)
            # What was entered elsewhere and not sent stays to be seen.
            desk.keep_draft(ask.id, settler.person, "", only_over=is_known)
            return settled

        try:
            async with self._one_at_a_time:
                return await self.settle(ask, settle_and_forget)
        except (AlreadySettled, NotFound, NotYours, InvalidInput, StoreError) as error:
            self._is_refused = isinstance(error, NotYours)
            self.alert(self.shared.texts.not_sent.format(error=self.shared.explained(error)))
            await self._look_again()
            return None

    def _part(self, settled: Ask, done: str) -> None:
        self._settled = True
        self.forget_warning()
        if not settled.state.answerable:
            self.shared.board.settle(self.ask.id)
            self.shared.board.own.add(self.ask.id)
        self.app.post_message(Settled(settled, done))
        self.leave()

    def leave(self) -> None:
        """Close this screen, now or as soon as nothing lies over it any more."""
        self._leaving = True
        if self.is_current:
            self.dismiss(None)

    def on_screen_resume(self) -> None:
        if self._leaving:
            self.dismiss(None)


def turned_down(desk: AskDesk, ask: Ask, why: str, by: Settler) -> Ask:
    """A no, with a reason: a permission is denied, everything else rejected."""
    return PermissionDesk(desk).deny(ask.id, by, why) if ask.wanted is not None else desk.reject(ask.id, why, by)


def turned_down_each(
    desk: AskDesk, asks: Sequence[Ask], why: str, by: Settler
) -> dict[str, Ask | AlreadySettled | NotFound | InvalidInput]:
    """The same for several at once; of those that could not be, why not."""
    done: dict[str, Ask | AlreadySettled | NotFound | InvalidInput] = {}
    done.update(desk.reject_each([ask.id for ask in asks if ask.wanted is None], why, by))
    for ask in asks:
        if ask.wanted is not None:
            try:
                done[ask.id] = PermissionDesk(desk).deny(ask.id, by, why)
            except (AlreadySettled, NotFound, InvalidInput) as error:
                done[ask.id] = error
    return done


def elaboration(ask: Ask, place: int, question: Question, unclear: str) -> str:
    """What the agent is told when a person wants a question explained."""
    return _ELABORATE.format(
        number=place + 1,
        total=len(ask.questions),
        question=plain_line(question.text, 200),
        unclear=unclear.strip(),
    ).strip()
