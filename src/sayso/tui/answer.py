"""Answering one ask: a step for each question, then the review."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.content import Content

from sayso.asks.draft import Draft, Said, answers
from sayso.asks.model import ALLOWING, DENYING, Ask, Attachment, Kind, Question
from sayso.asks.quorum import has_agreed
from sayso.errors import InvalidInput, NotFound, NotYours, StoreError
from sayso.permissions.action import Action, AllowScope, action_of, takes_changes
from sayso.permissions.editing import EditText, edited, to_edit
from sayso.records import replace
from sayso.text import one_line, quoted
from sayso.tui import draft as drafts
from sayso.tui.action_card import action_blocks, edit_blocks, edit_text, is_whole
from sayso.tui.attaching import AttachDialog
from sayso.tui.bars import KeyBar, Steps, TextLine
from sayso.tui.field import TextField
from sayso.tui.markdown import Block, cut
from sayso.tui.outline import copy_text, question_blocks, whole_text
from sayso.tui.programs import edit_exactly, editor
from sayso.tui.reflexes import REST
from sayso.tui.review import Review
from sayso.tui.rows import Rows
from sayso.tui.screen import Copy, OpenNear, Read
from sayso.tui.settling import SettlingScreen
from sayso.tui.shared import Shared
from sayso.tui.step import MANY_OPTIONS, Step
from sayso.tui.ticker import Ticker

if TYPE_CHECKING:
    from sayso.permissions.like_rule import LikeRule
    from sayso.permissions.like_view import LikeView

_SHARE, _SHARE_OF_A_PERMISSION = 2, 4
"""One part in so many of the room is for options, however long the text. What is to be allowed needs more of it."""
_WHILE_OPEN = (
    *("choose", "mark", "accept", "skip", "other", "note", "editor", "attach", "send", "reject", "elaborate"),
    *("allow", "deny", "take_back", "like", "reach", "edit", "unedit"),
)
"""What one does to answer or to decide; nothing of that leads anywhere once it has ended."""
_NOT_FOR_PERMISSIONS = ("submit", "send", "mark", "filter", "accept", "skip", "next", "previous", "go_to", "attach")
_AT_A_QUESTION: Mapping[str, Callable[[Question], bool]] = {
    **dict.fromkeys(("next", "choose", "note", "editor", "elaborate", "attach", "accept"), lambda _: True),
    "mark": lambda question: bool(question.choices),
    "filter": lambda question: len(question.choices) > MANY_OPTIONS,
    "other": lambda question: question.takes_own_text and bool(question.choices),
    "skip": lambda question: not question.required,
}
"""What one does at a question and not in the review, and at which."""

_SCOPES = {"always": AllowScope.SESSION}
"""How far an allow goes where an option for more than the usual is marked."""


class AnswerScreen(SettlingScreen):
    """Leads through the questions of an ask, in any order, to the review."""

    def __init__(self, shared: Shared, ask: Ask, draft: Draft) -> None:
        super().__init__(shared, ask, replace(draft, step=0) if ask.is_permission else draft)
        self._ticker = Ticker(self, shared.wording.clock, self.tick)
        self._opened = False
        """Whether the whole text was opened in the person's pager."""
        self._edited: Action | None = None
        """What the person has made of what the agent wants, and sees on the screen."""
        self._like: LikeView | None = None
        """The rule that the person is about to make of it, and sees on the screen."""
        self._finding_out: object = None
        """The look at what a rule comes to that is going on: until that is shown, nothing is allowed."""
        self._came_behind: float | None = None
        """What is new since something lies over it, by how long that must be in view."""

    def body(self) -> ComposeResult:
        yield TextLine(id="who")
        yield TextLine(id="truth")
        yield Steps()
        yield Step(self.shared, self._entered, _SHARE_OF_A_PERMISSION if self.ask.is_permission else _SHARE)
        yield TextLine(id="check")
        yield Review(self.shared)

    def on_mount(self) -> None:
        self.shared.board.seen.add(self.ask.id)
        self._tell_who()
        self.board_changed()
        self._tell_truth()
        self.query_one(Steps).display = not self.ask.is_permission
        self._show_step()
        self.shared.reflexes.present(self, REST)

    def on_screen_resume(self) -> None:
        """What has changed behind a dialog is laid out, and new to the person, when that is gone."""
        if self._came_behind is not None:
            self._present(self._came_behind)
        self.step.lay_out_again()

    def draft_has_grown(self) -> None:
        self._show_step()
        self._present(REST)

    def _present(self, rest: float) -> None:
        """Something new can be acted on. Behind a dialog it must not hold up what is confirmed there."""
        self._came_behind = None if self.is_active else max(rest, self._came_behind or 0)
        if self.is_active:
            self.shared.reflexes.present(self, rest)

    # Where the person is

    @property
    def question(self) -> Question | None:
        """The question of this step; None at the review."""
        return self.ask.questions[self.draft.step] if self.draft.step < len(self.ask.questions) else None

    @property
    def step(self) -> Step:
        return self.query_one(Step)

    def action_go_to(self, step: int) -> None:
        self.forget_warning()
        self.enter(replace(self.draft, step=max(0, min(step, len(self.ask.questions)))))
        self._show_step()
        self._present(0)

    @on(Step.Finished)
    def action_next(self) -> None:
        if self.ask.is_permission:
            self.step.leave_field()
        else:
            self.action_go_to(self.draft.step + 1)

    def action_previous(self) -> None:
        self.action_go_to(self.draft.step - 1)

    # Showing

    def tick(self) -> None:
        self._tell_who()

    def on_resize(self) -> None:
        self._tell_who()

    def _tell_truth(self) -> None:
        super()._tell_truth()
        if self.alive:
            self._tell_who()
        if self.alive and self.question is None:
            self._show_review()
        elif self.alive and self.question and not self.answerable:
            self.step.hint("")

    def _tell_who(self) -> None:
        ask, wording = self.ask, self.shared.wording
        standing = wording.standing(ask) if self.answerable else ""
        self._ticker.keep((wording.age_lasts(ask.created_at), wording.standing_lasts(ask) if standing else None))
        apart = wording.apart(ask, self.shared.board.lookalikes)
        least = [wording.project(ask), *apart, wording.age(ask.created_at), standing]
        whole = [wording.project(ask), wording.client(ask), wording.host(ask), *least[1:]]
        where, short = (" · ".join(part for part in parts if part) for parts in (whole, least))
        width = max(self.size.width - 2, 1)
        told = Content.styled(where if len(where) <= width else short, "$muted").truncate(width, ellipsis=True)
        if ask.title.strip():
            title = Content.styled(one_line(wording.headline(ask), 200), "bold").truncate(2 * width - 2, ellipsis=True)
            told = Content("\n").join([title, told])
        self.query_one("#who", TextLine).show(told)

    def _show_step(self) -> None:
        question, review, check = self.question, self.query_one(Review), self.query_one("#check", TextLine)
        self.step.display = question is not None
        review.display = check.display = question is None
        self._show_tabs()
        if question is None:
            self._show_review()
            review.focus()
        else:
            text = self._card() if self.ask.wanted is not None else list(question_blocks(self.shared, question))
            self.step.show(question, self.draft.of(question), self._hint(question), text)
            if question.is_visual:
                self.step.tell(list(question_blocks(self.shared, question, self.step.option)))
            self.tell_keys_otherwise()
        self.query_one(KeyBar).withhold(self._withheld())
        self.refresh_bindings()

    def names_now(self) -> dict[str, str]:
        texts, question = self.shared.texts, self.question
        if self._like:
            return {"like": texts.another_rule, "edit": texts.edit_rule, "unedit": texts.no_rule}
        if self.ask.is_permission:
            return {"reject": texts.deny_why} | ({"edit": texts.edit_on} if self._waits_for_edit else {})
        several = question is not None and question.kind is Kind.MULTI_SELECT
        return {"choose": texts.do_done} if several else {}

    @on(Rows.Moved, "#choices")
    def _show_preview(self) -> None:
        """What the option at the cursor would look like."""
        if self.question and self.question.is_visual:
            self.step.tell(list(question_blocks(self.shared, self.question, self.step.option)))
            self.step.read_from(list(question_blocks(self.shared, self.question)))

    def _card(self) -> list[Block]:
        if self._like:
            from sayso.tui.like_card import like_blocks

            return [*like_blocks(self.shared, self._like), *action_blocks(self.shared, self.ask)]
        if self._edited:
            return edit_blocks(self.shared, self.ask, self._edited)
        return action_blocks(self.shared, self.ask)

    def _show_review(self) -> None:
        texts, key = self.shared.texts, self.shared.keys.shown("submit")
        told = texts.review_title.format(key=key) if self.answerable else texts.review_ended
        self.query_one("#check", TextLine).show(told)
        self.query_one(Review).show(self.ask, self.draft, texts.send_all if self.answerable else "")

    def _hint(self, question: Question) -> str:
        texts = self.shared.texts
        if not self.answerable:
            return ""
        if self.ask.is_permission:
            return self._unread() or self._how_to_decide()
        ways = {Kind.SELECT: texts.pick_one, Kind.MULTI_SELECT: texts.pick_some, Kind.CONFIRM: texts.yes_or_no}
        many, key = len(question.choices), self.shared.keys.shown("filter", "answer")
        narrowed = texts.narrow_these.format(key=key, n=many) if many > MANY_OPTIONS else ""
        parts = (ways.get(question.kind, ""), narrowed, "" if question.required else texts.optional)
        return " · ".join(part for part in parts if part)

    def _how_to_decide(self) -> str:
        """Where there is hardly any room, the keys at the bottom have to do."""
        return "" if self.has_class("-short") else self._keys_that_decide()

    def _keys_that_decide(self) -> str:
        texts, keys = self.shared.texts, self.shared.keys
        if self._has_agreed:
            return texts.agreed_hint.format(take_back=keys.shown("take_back"), deny=keys.shown("deny"))
        if self._means_no:
            return texts.deny_hint.format(deny=keys.shown("deny"))
        if self._waits_for_edit:
            return texts.edit_waits.format(**{name: keys.shown(name) for name in ("edit", "unedit", "deny")})
        if self._like is None:
            return texts.decide_hint.format(allow=keys.shown("allow"), deny=keys.shown("deny"))
        ways = {name: keys.shown(name) for name in ("allow", "like", "reach", "edit", "unedit")}
        return (texts.like_wrong_hint if self._like.refused else texts.like_hint).format(**ways)

    @property
    def _means_no(self) -> bool:
        """Whether a no is marked, or words are written, which go with a no."""
        said = self.draft.of(self.ask.questions[0])
        return bool(said.text.strip() or said.note.strip()) or any(chosen in DENYING for chosen in said.chosen)

    @property
    def _waits_for_edit(self) -> bool:
        """Whether an edit was begun, perhaps elsewhere, that is not what stands on the screen."""
        return self.draft.edit is not None and self._edited is None

    def _unread(self) -> str:
        """What is to be read before a permission can be allowed: all of it must have been in view."""
        texts, keys, unseen = self.shared.texts, self.shared.keys, self.step.unseen
        if unseen:
            told = texts.one_more_line if unseen == 1 else texts.more_lines
            return told.format(n=unseen, key=keys.shown("read_down", "answer"))
        if unseen == 0 and not self._opened and self._is_cut:
            return texts.read_whole.format(key=keys.shown("whole"))
        return ""

    @property
    def _is_cut(self) -> bool:
        """Whether something of it can only be read in the person's pager."""
        if self.ask.wanted is not None:
            return not is_whole(self._edited or action_of(self.ask))
        return bool(cut(self.ask.questions[0].text).left_out)

    @property
    def _may_be_allowed(self) -> bool:
        return self.step.unseen == 0 and not self._unread()

    @on(Step.Looked)
    def _looked(self) -> None:
        if self.ask.is_permission:
            self.forget_warning()
            self.step.hint(self._hint(self.ask.questions[0]))
            if self._may_be_allowed:
                self._present(REST)
        self.query_one(KeyBar).withhold(self._withheld())

    def _withheld(self) -> set[str]:
        """The keys that would do nothing now that another does not do better, or only say why not yet."""
        withheld = set() if self.step.unseen else {"read_down"}
        if self.ask.is_permission:
            can_be_allowed = self._may_be_allowed and not self._means_no and not self._waits_for_edit
            withheld |= {"choose"} if can_be_allowed else {"choose", "allow"}
            withheld |= {"like"} if self.draft.edit is not None else set()
        elif self.question is None:
            withheld |= {"send", "read_down"}
        elif self.question.kind is not Kind.MULTI_SELECT:
            withheld.add("mark")
        return withheld

    def _show_tabs(self) -> None:
        names = [self.shared.wording.question_title(*each) for each in enumerate(self.ask.questions)]
        done = [not answer.skipped for answer in answers(self.ask, self.draft)]
        self.query_one(Steps).show([*names, self.shared.texts.review], [*done, False], self.draft.step)

    def _entered(self, question: Question, said: Said) -> None:
        self.enter(self.draft.put(question, said))
        self._show_tabs()
        if self.ask.is_permission:
            self.step.hint(self._hint(question))
            self.query_one(KeyBar).withhold(self._withheld())

    # Answering

    def action_choose(self) -> None:
        if self._has_ended() or not self.meant():
            return
        if self.ask.is_permission:
            # No key that is pressed by habit decides it.
            self.warn(self._unread() or self._keys_that_decide())
        else:
            self.step.choose()

    def _has_ended(self) -> bool:
        """Whether nothing can be answered any more; they are told why."""
        if not self.answerable:
            self.warn(self.shared.wording.truth(self.ask if self._there else None))
        return not self.answerable

    def action_mark(self) -> None:
        if not self._has_ended() and self.seen():
            self.step.mark()

    @on(Step.Picked)
    def _pick(self) -> None:
        several = self.question is not None and self.question.kind is Kind.MULTI_SELECT
        if several or self.ask.is_permission:
            # A permission has no other way to mark: Space, like Enter, is pressed by habit.
            self.action_mark()
        else:
            self.action_choose()

    def action_filter(self) -> None:
        self.step.narrow()

    def on_descendant_focus(self) -> None:
        self._tell_keys_of_field()

    def on_descendant_blur(self) -> None:
        self._tell_keys_of_field()

    def _tell_keys_of_field(self) -> None:
        """What leads from the words that narrow the options back to these."""
        narrowing = self.focused is not None and self.focused.id == "narrow"
        self.query_one(KeyBar).lead([("enter", self.shared.texts.to_options)] if narrowing else [])

    def _is_amid_words(self) -> bool:
        """Whether a key that would open something at a permission was one of words that were meant for elsewhere."""
        return self.ask.is_permission and not self.apart()

    def action_other(self) -> None:
        if not self._is_amid_words():
            self.step.own_words()

    def action_note(self) -> None:
        if not self._is_amid_words():
            self.step.note()

    def action_attach(self) -> None:
        """Have a picture or a file go with the answer, or one that goes no longer."""
        if question := self.question:
            attached = self.draft.of(question).attachments
            self.app.push_screen(AttachDialog(self.shared, self.ask, attached, partial(self._attached, question)))

    def _attached(self, question: Question, files: tuple[Attachment, ...]) -> None:
        before = {each.id for each in self.draft.of(question).attachments}
        if self.question is question and self.step.is_attached:
            self.step.attach(files)
        else:
            self.enter(self.draft.put(question, replace(self.draft.of(question), attachments=files)))
        kept = {each.id for said in self.draft.said.values() for each in said.attachments}
        for gone in before - kept:
            self.run_worker(self._forget(gone), group="files")

    async def _forget(self, file: str) -> None:
        ask_id, person = self.ask.id, self.shared.config.person
        with suppress(NotFound, NotYours, StoreError):  # what is not sent goes with the ask
            await self.enter_at_desk(lambda desk: desk.drop_attachment(ask_id, person, file))

    def action_skip(self) -> None:
        """Leave the question out, unless words were written for it or files attached: those would be lost with nobody
        noticing."""
        texts, keys = self.shared.texts, self.shared.keys
        said = self.draft.of(self.question) if self.question else Said()
        if words := said.text.strip():
            self.warn(texts.words_or_skip.format(words=quoted(words), key=keys.shown("next")))
        elif files := ", ".join(each.name for each in said.attachments):
            self.warn(texts.attached_or_skip.format(files=one_line(files, 100), key=keys.shown("next")))
        elif self.meant():
            self.step.skip()

    def action_accept(self) -> None:
        """Answer all that is open with what is recommended, and go to what is left, or to the review."""
        if not self.meant():
            return
        accepted = drafts.accept_recommended(self.ask, self.draft)
        self.enter(accepted)
        self.action_go_to((drafts.missing(self.ask, accepted) or [len(self.ask.questions)])[0])

    def action_editor(self) -> None:
        try:
            self.step.write_in_editor()
        except OSError as error:
            self.warn(editor(self.shared.environ).not_started(self.shared.texts, error))

    @on(Rows.Clicked, "#review")
    def _clicked_in_review(self) -> None:
        if self.query_one(Review).at_sending:
            self.action_submit()
        else:
            self.action_change()

    @on(Rows.Moved, "#review")
    def _other_row(self) -> None:
        self.refresh_bindings()

    def action_change(self) -> None:
        """From the review back to the question at the cursor."""
        self.action_go_to(self.query_one(Review).cursor)

    @on(Step.Unmarked)
    def _say_how_to_mark(self) -> None:
        self.warn(self.shared.texts.mark_first.format(key=self.shared.keys.shown("mark")))

    # Deciding about a permission

    def action_allow(self) -> None:
        """Allow what is shown, as far as was marked. Words that were written are words of a no. Where it cannot be
        allowed, the key may be the first of words that were meant for elsewhere."""
        if why_not := self._allow_or_why_not():
            self.shared.reflexes.refuse()
            self.warn(why_not)

    def _allow_or_why_not(self) -> str:
        question, texts, deny = self.ask.questions[0], self.shared.texts, self.shared.keys.shown("deny")
        said = self.draft.of(question)
        if self._finding_out:
            return texts.like_coming
        if not self._may_be_allowed:
            return texts.read_first.format(what=self._unread())
        if not self.meant():
            return ""
        if said.text.strip() or said.note.strip():
            return texts.words_are_a_no.format(deny=deny)
        if any(chosen in DENYING for chosen in said.chosen):
            return texts.no_is_marked.format(deny=deny)
        if self._waits_for_edit:
            return texts.edit_begun.format(edit=self.shared.keys.shown("edit"), undo=self.shared.keys.shown("unedit"))
        if self._like and said.chosen:
            return texts.like_or_mark.format(undo=self.shared.keys.shown("unedit"))
        if self._like:
            self._allow_like(self._like)
        elif self.ask.wanted is None:
            self._decide(question, drafts.decide(question, said, ALLOWING))
        else:
            self.run_worker(self.allow(_marked_scope(said), self._edited), group="settle")
        return ""

    @property
    def _has_agreed(self) -> bool:
        """Whether the person has, and others have to as well."""
        return has_agreed(self.ask, self.shared.settler.known_as)

    def action_take_back(self) -> None:
        """Take the yes back."""
        if self.meant():
            self.run_worker(self.take_back(), group="settle")

    def action_deny(self) -> None:
        """Deny it, with the words that were written."""
        question = self.ask.questions[0]
        said = self.draft.of(question)
        if not self.meant():
            return
        if self.ask.wanted is None:
            self._decide(question, said if said.own else drafts.decide(question, said, DENYING))
        else:
            words = (said.text.strip(), said.note.strip())
            self.run_worker(self.deny(" ".join(filter(None, words))), group="settle")

    def action_edit(self) -> None:
        """Change what would be done in the person's own editor; then all of it is shown as edited. Or the rule."""
        if self._is_amid_words():
            return
        action = action_of(self.ask)
        assert action is not None
        if self._like:
            text = self._in_editor(self._like.rule.text, EditText(field="", text=""))
            self._look_at_rule(None if text is None else replace(self._like.rule, text=text.strip("\n")))
            return
        form = to_edit(action)
        edited_text = self._in_editor(form.text if self.draft.edit is None else self.draft.edit, form)
        if edited_text is not None:
            self._edit_to(None if edited_text == form.text else edited_text)

    def _in_editor(self, text: str, form: EditText) -> str | None:
        """What the person has made of it; None where their editor cannot start."""
        program = editor(self.shared.environ)
        try:
            return edit_exactly(self.app, program.words, text, form)
        except OSError as error:
            self.warn(program.not_started(self.shared.texts, error))
            return None

    def action_unedit(self) -> None:
        if self._like:
            self._show_rule(None)
        else:
            self._edit_to(None)

    # Making a rule of it

    def action_like(self) -> None:
        """Propose a rule for what is like this, or another one."""
        from sayso.tui.like_card import another_rule

        if self._is_amid_words():
            return
        if self.draft.edit is not None:
            keys = self.shared.keys
            self.warn(self.shared.texts.edit_begun.format(edit=keys.shown("edit"), undo=keys.shown("unedit")))
        else:
            self._look_at_rule(another_rule(self._like) if self._like else None)

    def action_reach(self) -> None:
        """Have the rule hold for more, or for less."""
        from sayso.tui.like_card import another_reach

        if self._like:
            self._look_at_rule(another_reach(self._like))

    def _leads_to_a_rule(self, action: str) -> bool:
        """Whether there is one yet to be shown, or one that holds elsewhere."""
        if self._like is None:
            return action == "like"
        from sayso.tui.like_card import another_reach, another_rule

        return (another_rule if action == "like" else another_reach)(self._like) != self._like.rule

    def _look_at_rule(self, rule: LikeRule | None) -> None:
        if rule or self._like is None:
            self._finding_out = look = object()
            self.run_worker(self._find_out(rule, look), group="like", exclusive=True)

    async def _find_out(self, rule: LikeRule | None, look: object) -> None:
        """What this rule comes to; without one, the first that is offered."""
        from sayso.permissions.like_view import look_at

        ask, person = self.ask, self.shared.config.person
        try:
            found = await self.shared.link.with_desks(
                lambda desks: look_at(desks.permissions, desks.log, ask, person, rule)
            )
        except StoreError as error:
            self.alert(self.shared.explained(error))
            return
        finally:
            if self._finding_out is look:
                self._finding_out = None
        if found.offer.why_not:
            self.warn(self.shared.texts.like_none.format(why=one_line(found.offer.why_not, 300)))
        elif self.alive:
            self._show_rule(found)

    def _show_rule(self, view: LikeView | None) -> None:
        self.forget_warning()
        self._like, self._opened = view, False
        self._show_step()
        self._present(REST)

    def _allow_like(self, view: LikeView) -> None:
        if view.refused or not view.rule.patterns:
            self.warn(self._keys_that_decide())
        else:
            self.run_worker(self.allow_like(view.rule), group="settle")

    def _edit_to(self, text: str | None) -> None:
        """Show what this comes to, or say what is wrong with it. What was typed is kept either way."""
        action = action_of(self.ask)
        self.enter(replace(self.draft, edit=text))
        self._edited, self._opened = None, False
        try:
            self._edited = edited(action, text) if action and text is not None else None
        except InvalidInput as error:
            key = self.shared.keys.shown("edit")
            self.alert(self.shared.texts.bad_edit.format(error=one_line(self.shared.explained(error), 300), key=key))
        self._show_step()
        self._present(REST)

    def _decide(self, question: Question, said: Said) -> None:
        self.enter(self.draft.put(question, said))
        self.run_worker(self.send(), group="settle")

    # Sending and leaving

    def action_send(self) -> None:
        """To the review; from there, send."""
        if self.question is None:
            self.action_submit()
        else:
            self.action_go_to(len(self.ask.questions))

    def action_submit(self) -> None:
        if open_ones := drafts.missing(self.ask, self.draft):
            self.action_go_to(open_ones[0])
            self.warn(self.shared.texts.must_answer.format(n=open_ones[0] + 1))
        elif self.meant():
            self.run_worker(self.send(), group="settle")

    def action_reject(self) -> None:
        self.run_worker(self.reject(), group="settle")

    def action_elaborate(self) -> None:
        if self.question:
            self.run_worker(self.elaborate(self.draft.step, self.question), group="settle")

    def action_back(self) -> None:
        """Out of a field, back to all options, out of the ask."""
        if isinstance(self.focused, TextField):
            self.step.leave_field()
        elif self.question and self.step.is_narrowed:
            self.step.widen()
        elif self._like:
            self._show_rule(None)
        else:
            self.run_worker(self._go_back(), group="back")

    async def _go_back(self) -> None:
        with self.shared.typing.held():
            await self.save()
            self.leave()

    def action_next_ask(self) -> None:
        self.post_message(OpenNear(self.ask.id, 1))

    def action_previous_ask(self) -> None:
        self.post_message(OpenNear(self.ask.id, -1))

    # Reading

    def action_read_up(self) -> None:
        self.step.read_up()

    def action_read_down(self) -> None:
        self.step.read_down()

    def action_whole(self) -> None:
        text = edit_text(self.shared, self.ask, self._edited) if self._edited else whole_text(self.shared, self.ask)
        self.post_message(Read(text, self._has_read))

    def _has_read(self) -> None:
        self._opened = True
        self._looked()

    def action_copy(self) -> None:
        self.post_message(Copy(copy_text(self.shared, self.ask, answers(self.ask, self.draft))))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what makes sense at this step is offered."""
        if action in _WHILE_OPEN and not self.answerable:
            return False
        if action in _NOT_FOR_PERMISSIONS and self.ask.is_permission:
            return False
        if (fits := _AT_A_QUESTION.get(action)) and not (self.question and fits(self.question)):
            return False
        match action:
            case "allow" | "deny":
                return self.ask.is_permission
            case "take_back":
                return self._has_agreed
            case "like" | "reach":
                return self.ask.wanted is not None and self._leads_to_a_rule(action)
            case "edit":
                return self._like is not None or takes_changes(self.ask)
            case "unedit":
                return self._like is not None or (takes_changes(self.ask) and self.draft.edit is not None)
            case "submit":
                return self._in_review and self.query_one(Review).at_sending
            case "change":
                return self._in_review and not self.query_one(Review).at_sending
            case "previous":
                return self.draft.step > 0
            case "attach":
                return self.shared.config.attachments > 0
            case "accept":
                return any(map(drafts.recommended, self.ask.questions))
        return True

    @property
    def _in_review(self) -> bool:
        return self.is_mounted and self.question is None


def _marked_scope(said: Said) -> AllowScope | None:
    return next((_SCOPES[chosen] for chosen in said.chosen if chosen in _SCOPES), None)
