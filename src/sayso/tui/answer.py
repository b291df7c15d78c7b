"""Answering one ask: a step for each question, then the review."""

from __future__ import annotations

from dataclasses import replace

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import TextArea

from sayso.asks.model import Kind, Question
from sayso.text import one_line, printable
from sayso.tui import draft as drafts
from sayso.tui.bars import Line, Steps
from sayso.tui.choices import Choices
from sayso.tui.draft import Said
from sayso.tui.field import Field
from sayso.tui.outline import copy_text, question_blocks, whole_text
from sayso.tui.programs import edit, editor
from sayso.tui.prose import Prose
from sayso.tui.review import Review
from sayso.tui.rows import Rows
from sayso.tui.screen import Copy, OpenNear, Read
from sayso.tui.settling import SettlingScreen

_ROOM_FOR_WORDS = 6
"""Lines that a field for a free answer gets at least, with its border."""


class AnswerScreen(SettlingScreen):
    """Shows one question at a time and takes what is entered for it."""

    def body(self) -> ComposeResult:
        yield Line(id="who")
        yield Line(id="truth")
        yield Steps()
        with Vertical(id="step"):
            with VerticalScroll(id="reading"):
                yield Prose(id="question")
            yield Line(id="hint")
            yield Choices(self.shared)
            yield Field(self.shared.keys, id="own")
            yield Field(self.shared.keys, id="note")
        yield Line(id="check")
        yield Review(self.shared)

    def on_mount(self) -> None:
        self.shared.board.seen.add(self.ask.id)
        self.query_one("#note", Field).placeholder = self.shared.texts.note_hint
        self._tell_who()
        self.board_changed()
        self._tell_truth()
        self._show_step()

    # Where the person is

    @property
    def question(self) -> Question | None:
        """The question of this step; None at the review."""
        return self.ask.questions[self.draft.step] if self.draft.step < len(self.ask.questions) else None

    @property
    def said(self) -> Said:
        return self.draft.of(self.question) if self.question else Said()

    def say_of(self, said: Said) -> None:
        """What the person now says to this question."""
        if self.question:
            self.enter(self.draft.put(self.question, said))
            self._show_said()

    def action_go_to(self, step: int) -> None:
        self.enter(replace(self.draft, step=max(0, min(step, len(self.ask.questions)))))
        self._show_step()

    def action_next(self) -> None:
        self.action_go_to(self.draft.step + 1)

    def action_previous(self) -> None:
        self.action_go_to(self.draft.step - 1)

    # Showing

    def tick(self) -> None:
        self._tell_who()

    def _tell_who(self) -> None:
        ask, wording = self.ask, self.shared.wording
        where = " · ".join(
            part
            for part in (wording.project(ask), wording.client(ask), wording.host(ask), wording.age(ask.created_at))
            if part
        )
        standing = f" · {wording.standing(ask)}" if self.answerable else ""
        title = (f"{one_line(ask.title, 200)}\n", "bold") if ask.title.strip() else ("", "")
        self.query_one("#who", Line).show(Content.assemble(title, (where + standing, "$muted")))

    def _show_step(self) -> None:
        question = self.question
        self.query_one("#step").display = question is not None
        review, check = self.query_one(Review), self.query_one("#check", Line)
        review.display = check.display = question is None
        self._show_tabs()
        if question is None:
            check.show(self.shared.texts.review_title.format(key=self.shared.keys.shown("submit")))
            review.show(self.ask, self.draft)
            review.focus()
        else:
            self._show_question(question)
        self.refresh_bindings()

    def _show_question(self, question: Question) -> None:
        self.query_one("#question", Prose).show(list(question_blocks(self.shared, question)))
        self.query_one("#reading").scroll_home(animate=False)
        hint = self.query_one("#hint", Line)
        hint.show(self._hint(question))
        hint.display = bool(self._hint(question))
        own = self.query_one("#own", Field)
        own.placeholder = self._placeholder(question)
        own.put(self.said.text)
        self.query_one("#note", Field).put(self.said.note)
        self.query_one("#note").display = bool(self.said.note)
        choices = self.query_one(Choices)
        choices.display = bool(question.choices)
        self._show_said()
        (choices if question.choices else own).focus()
        self.call_after_refresh(self._share_room)

    def _hint(self, question: Question) -> str:
        texts = self.shared.texts
        ways = {Kind.SELECT: texts.pick_one, Kind.MULTI_SELECT: texts.pick_some}
        parts = (ways.get(question.kind, ""), "" if question.required else texts.optional)
        return " · ".join(part for part in parts if part)

    def _placeholder(self, question: Question) -> str:
        if question.placeholder.strip():
            return printable(question.placeholder[:500])
        texts, newline = self.shared.texts, self.shared.keys.shown("newline")
        return (texts.other_hint if question.choices else texts.answer_hint).format(newline=newline)

    def _show_said(self) -> None:
        question = self.question
        if question is None:
            return
        if question.choices:
            self.query_one(Choices).show(question, self.said)
        own = self.query_one("#own", Field)
        own.display = not question.choices or bool(question.takes_own_text and (self.said.text or own.has_focus))
        own.set_class(bool(question.choices) and not self.said.own, "-unused")
        self._show_tabs()
        self._share_room()

    def _show_tabs(self) -> None:
        names = [self.shared.wording.question_title(*each) for each in enumerate(self.ask.questions)]
        done = [not answer.skipped for answer in drafts.answers(self.ask, self.draft)]
        self.query_one(Steps).show([*names, self.shared.texts.review], [*done, False], self.draft.step)

    def _share_room(self) -> None:
        """Give the question all the room that its answer leaves, and never less than half."""
        step = self.query_one("#step")
        fixed = sum(
            step.query_one(name).outer_size.height for name in ("#hint", "#note") if step.query_one(name).display
        )
        room = step.size.height - fixed
        choices, own = self.query_one(Choices), self.query_one("#own", Field)
        if choices.display:
            room -= own.outer_size.height if own.display else 0
            needed = choices.virtual_size.height
            read = self.query_one("#question").size.height
            given = min(needed, max(room // 2, room - read))
            choices.styles.height = max(given, 1)
        else:
            given = _ROOM_FOR_WORDS
        self.query_one("#reading").styles.max_height = max(room - given, 2)

    def on_resize(self) -> None:
        self.call_after_refresh(self._share_room)

    # Choosing

    def action_choose(self) -> None:
        """Take what is at the cursor and go on; where several may be chosen, go on with what is marked."""
        question, option = self.question, self.query_one(Choices).option
        if question is None or not question.choices:
            self.query_one("#own", Field).focus()
        elif option is None:
            self.action_other()
        elif question.kind is Kind.MULTI_SELECT and not drafts.answer(question, self.said).skipped:
            self.action_next()
        else:
            self.say_of(drafts.choose(question, self.said, option.id))
            self.action_next()

    def action_mark(self) -> None:
        question, option = self.question, self.query_one(Choices).option
        if question is None:
            return
        if option is None:
            self._mark_own(question)
        else:
            self.say_of(drafts.toggle(question, self.said, option.id))

    def _mark_own(self, question: Question) -> None:
        self.say_of(drafts.toggle_own(question, self.said))
        if not self.said.text.strip():
            self.action_other()

    @on(Choices.Numbered)
    def _numbered(self) -> None:
        if self.question and self.question.kind is Kind.MULTI_SELECT:
            self.action_mark()
        else:
            self.action_choose()

    @on(Rows.Clicked, "#choices")
    def _clicked(self) -> None:
        self._numbered()

    @on(Rows.Clicked, "#review")
    def _go_there(self) -> None:
        self.action_go_to(self.query_one(Review).cursor)

    def action_accept(self) -> None:
        """Answer all that is open with what is recommended, and go to what is left, or to the review."""
        accepted = drafts.accept_recommended(self.ask, self.draft)
        if accepted == self.draft and not any(map(drafts.recommended, self.ask.questions)):
            self.say(self.shared.texts.nothing_recommended)
            return
        self.enter(accepted)
        self.action_go_to((drafts.missing(self.ask, accepted) or [len(self.ask.questions)])[0])

    def action_skip(self) -> None:
        question = self.question
        if question is None:
            return
        if question.required:
            self.warn(self.shared.texts.cannot_skip.format(n=self.draft.step + 1))
            return
        self.say_of(drafts.skip(self.said))
        self.action_next()

    # Writing

    def action_other(self) -> None:
        own = self.query_one("#own", Field)
        own.display = True
        own.focus()
        if self.question:
            self.say_of(drafts.write(self.question, self.said, own.text))

    def action_note(self) -> None:
        note = self.query_one("#note", Field)
        note.display = True
        note.focus()
        self._share_room()

    @on(TextArea.Changed, "#own")
    def _written(self) -> None:
        if self.question:
            self.say_of(drafts.write(self.question, self.said, self.query_one("#own", Field).text))

    @on(TextArea.Changed, "#note")
    def _noted(self) -> None:
        self.say_of(replace(self.said, note=self.query_one("#note", Field).text))

    @on(Field.Done)
    def _done_writing(self) -> None:
        self.action_next()

    @on(Field.LeftUp)
    def _leave_field(self) -> None:
        """To the options, or where there are none to the question."""
        choices = self.query_one(Choices)
        (choices if choices.display else self.query_one("#reading")).focus()
        if not self.said.note:
            self.query_one("#note").display = False
        self._show_said()

    @on(Choices.LeftDown)
    def _into_fields(self) -> None:
        below = [field for field in self.query(Field) if field.display]
        if below:
            below[0].focus()

    def action_editor(self) -> None:
        """Write the answer, or the note, in the person's own editor."""
        question = self.question
        if question is None:
            return
        field = self.query_one("#note" if self.query_one("#note").has_focus else "#own", Field)
        below = f"{self.shared.texts.editor_marker}\n\n{printable(question.text)}"
        command = editor(self.shared.environ)
        try:
            text = edit(self.app, command, field.text, below)
        except OSError as error:
            self.warn(self.shared.texts.no_program.format(program=command[0], error=error.strerror))
            return
        field.display = True
        field.put(text)
        field.focus()
        (self._noted if field.id == "note" else self._written)()

    # Sending and leaving

    def action_send(self) -> None:
        """To the review; from there, send."""
        if self.question is None:
            self.action_submit()
        else:
            self.action_go_to(len(self.ask.questions))

    def action_submit(self) -> None:
        if open_ones := drafts.missing(self.ask, self.draft):
            self.warn(self.shared.texts.must_answer.format(n=open_ones[0] + 1))
            self.action_go_to(open_ones[0])
        else:
            self.run_worker(self.send(), group="settle", exclusive=True)

    def action_reject(self) -> None:
        self.run_worker(self.reject(), group="settle", exclusive=True)

    def action_elaborate(self) -> None:
        if self.question:
            self.run_worker(self.elaborate(self.draft.step, self.question), group="settle", exclusive=True)

    def action_back(self) -> None:
        if isinstance(self.focused, Field):
            self._leave_field()
        else:
            self.run_worker(self._go_back(), group="back", exclusive=True)

    async def _go_back(self) -> None:
        await self.save()
        self.dismiss(None)

    def action_next_ask(self) -> None:
        self.post_message(OpenNear(self.ask.id, 1))

    def action_previous_ask(self) -> None:
        self.post_message(OpenNear(self.ask.id, -1))

    # Reading

    def action_read_up(self) -> None:
        self.query_one("#reading").scroll_page_up(animate=False)

    def action_read_down(self) -> None:
        self.query_one("#reading").scroll_page_down(animate=False)

    def action_whole(self) -> None:
        self.post_message(Read(whole_text(self.shared, self.ask)))

    def action_copy(self) -> None:
        self.post_message(Copy(copy_text(self.shared, self.ask, drafts.answers(self.ask, self.draft))))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what makes sense at this step is offered."""
        question = self.question
        match action:
            case "submit":
                return question is None
            case "next":
                return question is not None
            case "previous":
                return self.draft.step > 0
            case "choose" | "elaborate" | "note" | "editor":
                return question is not None
            case "mark":
                return question is not None and question.kind is Kind.MULTI_SELECT
            case "other":
                return question is not None and question.takes_own_text and bool(question.choices)
            case "skip":
                return question is not None and not question.required
            case "accept":
                return question is not None and any(map(drafts.recommended, self.ask.questions))
        return True
