"""One question on the screen: its text to read, its options, own words, a note. Knows nothing of other questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.message import Message
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Input, TextArea

from sayso.asks.draft import Said, answer
from sayso.asks.model import Attachment, Kind, Option, Question
from sayso.records import replace
from sayso.text import printable
from sayso.tui import draft as drafts
from sayso.tui.attaching import described
from sayso.tui.bars import TextLine
from sayso.tui.choices import Choices
from sayso.tui.field import TextField
from sayso.tui.markdown import Block
from sayso.tui.programs import edit, editor
from sayso.tui.prose import Pages, Prose, lay_out, page
from sayso.tui.rows import Rows
from sayso.tui.shared import Shared

_ROOM_FOR_WORDS = 6
"""Lines that a field for a free answer gets at least, with its border."""
_LONGEST_PLACEHOLDER = 500
MANY_OPTIONS = 9
"""With more options than this they can be narrowed by words."""

Entered = Callable[[Question, Said], None]


class Step(Vertical):
    """Shows a question and takes what is said to it; `entered` hears of every change."""

    class Looked(Message):
        """More of the question has been in view, or more of it is left to be read."""

    class Finished(Message):
        """The person is done with this question."""

    class Unmarked(Message):
        """The person wants to go on, but nothing is marked and an answer is needed."""

    class Picked(Message):
        """An option was picked by its number or with the mouse; the cursor is on it."""

    def __init__(self, shared: Shared, entered: Entered, share: int) -> None:
        """One part in `share` of the room is for the options, however long the text is."""
        super().__init__(id="step")
        self._shared, self._entered, self._share = shared, entered, share
        self._question = Question(id="", text="")
        self._said = Said()
        self._writing = False
        """Whether the field for own words is open beside the options."""
        self._seen = self._top = self._width = 0
        """How many lines of the question have been in view, from the first on without a gap; which one was at the top
        at the last look, and how wide they were."""
        self.unseen: int | None = None
        """How many lines have not; None until the question is laid out."""

    def compose(self) -> ComposeResult:
        with _Reading(self.read_down, self.lay_out_again, id="reading"):
            yield Prose(id="question")
        yield TextLine(id="hint")
        yield Input(placeholder=self._shared.texts.narrow_hint, id="narrow", compact=True)
        yield Choices(self._shared)
        yield TextField(self._shared.keys, id="own")
        yield TextField(self._shared.keys, id="note")
        yield TextLine(id="attached")

    @property
    def _own(self) -> TextField:
        return self.query_one("#own", TextField)

    @property
    def _note(self) -> TextField:
        return self.query_one("#note", TextField)

    @property
    def _choices(self) -> Choices:
        return self.query_one(Choices)

    # Showing

    def show(self, question: Question, said: Said, hint: str, text: Sequence[Block]) -> None:
        """Show this question as `text` and what was said to it before; the focus is where it is answered."""
        self._question, self._said, self._writing = question, said, False
        self.query_one("#question", Prose).show(text)
        self.query_one("#reading").scroll_home(animate=False)
        self._seen = self._top = self._width = 0
        self.unseen = None
        self._show_hints(hint)
        self._own.put(said.text)
        self._note.put(said.note)
        self._note.display = bool(said.note)
        self._choices.display = bool(question.choices)
        self._narrow.value = ""
        self._narrow.display = False
        self._show_said()
        (self._choices if question.choices else self._own).focus()
        self.call_after_refresh(self._share_room)

    @property
    def option(self) -> Option | None:
        """The option at the cursor."""
        return self._choices.option

    def tell(self, text: Sequence[Block]) -> None:
        """Show this in the place of the text; what is answered stays as it is."""
        self.query_one("#question", Prose).show(text)
        self._seen = self._top = self._width = 0
        self.unseen = None
        self.call_after_refresh(self._share_room)

    def read_from(self, before: Sequence[Block]) -> None:
        """Where there is no room for all of it, begin with what comes after this part of the text."""
        self.call_after_refresh(self._scroll_past, before)

    def _scroll_past(self, before: Sequence[Block]) -> None:
        width = self.query_one("#question").size.width
        self._seen = sum(1 for _ in lay_out(before, width)) + 1 if width else 0
        self.query_one("#reading").scroll_to(y=self._seen, animate=False, immediate=True)

    def hint(self, told: str) -> None:
        """Say this between the question and where it is answered."""
        line = self.query_one("#hint", TextLine)
        line.show(told)
        line.display = bool(told)
        self.call_after_refresh(self._share_room)

    def _show_hints(self, told: str) -> None:
        texts = self._shared.texts
        self.hint(told)
        # As content, for Textual reads a plain text here as its markup.
        self._own.placeholder = Content(self._placeholder())
        self._note.placeholder = Content(texts.note_hint)
        self._note.border_title = texts.note

    def _placeholder(self) -> str:
        if self._question.placeholder.strip():
            return printable(self._question.placeholder[:_LONGEST_PLACEHOLDER])
        texts, newline = self._shared.texts, self._shared.keys.shown("newline")
        return (texts.other_hint if self._question.choices else texts.answer_hint).format(newline=newline)

    def _show_said(self) -> None:
        question, own = self._question, self._own
        if question.choices:
            self._choices.show(question, self._said)
        shown = own.display
        own.display = not question.choices or (question.takes_own_text and (self._writing or bool(self._said.text)))
        if own.display != shown:
            self.lay_out_again()  # once it has its height
        own.set_class(bool(question.choices) and not self._said.own, "-unused")
        self._show_attached()
        self._share_room()

    def _show_attached(self) -> None:
        files, line = self._said.attachments, self.query_one("#attached", TextLine)
        told = f"{self._shared.texts.attached}: {', '.join(map(described, files))}" if files else ""
        line.show(Content(told).stylize(Style.from_meta({"@click": "screen.attach"})))
        line.display = bool(files)

    def attach(self, files: tuple[Attachment, ...]) -> None:
        """These go with the answer, and no others."""
        self._say(replace(self._said, attachments=files, skipped=self._said.skipped and not files))

    def _share_room(self) -> None:
        """Give the question all the room that its answer leaves, and never much less than its share."""
        if not self.is_attached or not self.display:
            return
        choices, own = self._choices, self._own
        fields = [own] if choices.display else []
        beside: list[Widget] = [*self.query("#hint, #narrow, #note, #attached"), *fields]
        reading = self.query_one("#reading")
        room = self.size.height - reading.styles.margin.height
        room -= sum(each.outer_size.height for each in beside if each.display)
        given = _ROOM_FOR_WORDS
        if choices.display:
            read = self.query_one("#question").size.height
            given = max(min(choices.virtual_size.height, max(room // self._share, room - read)), 1)
            choices.styles.height = given
        reading.styles.max_height = max(room - given, 1)
        self.call_after_refresh(self._look)

    def _look(self) -> None:
        """Note what is in view now. What was jumped over is not, nor what something lies over."""
        reading, width = self.query_one("#reading"), self.query_one("#question").size.width
        room = reading.scrollable_content_region.height
        if not (self.is_attached and self.display and self.screen.is_active and width and room > 0) or self.unseen == 0:
            return
        if self._width not in (0, width):
            self._keep_place(width)
        top = round(reading.scroll_y)
        if top <= self._seen:
            self._seen = max(self._seen, top + room)
        self._width, self._top = width, top
        unseen = max(reading.virtual_size.height - self._seen, 0)
        if unseen != self.unseen:
            self.unseen = unseen
            self.post_message(self.Looked())

    def _keep_place(self, width: int) -> None:
        """At another width the lines are others. What has been in view still has; what was at the top stays there."""
        question = self.query_one("#question", Prose)
        self._seen = question.read_at(width, self._seen, self._width)
        top = question.read_at(width, self._top, self._width)
        self.query_one("#reading").scroll_to(y=top, animate=False, immediate=True)

    def on_mount(self) -> None:
        self.watch(self.query_one("#reading"), "scroll_y", self._scrolled, init=False)

    def _scrolled(self) -> None:
        self.call_after_refresh(self._look)

    def on_resize(self) -> None:
        self.lay_out_again()

    def lay_out_again(self) -> None:
        """Share the room and look what is in view: it may have become another."""
        self.call_after_refresh(self._share_room)

    # Choosing

    def _say(self, said: Said) -> None:
        self._said = said
        self._entered(self._question, said)
        self._show_said()

    def choose(self) -> None:
        """Take what is at the cursor and be done; where several may be chosen, only what is marked counts."""
        question, option = self._question, self._choices.option
        if not question.choices:
            self._own.focus()
        elif not self._choices.count():
            return
        elif option is None:
            self.own_words()
        elif question.kind is Kind.MULTI_SELECT:
            unmarked = question.required and answer(question, self._said).skipped
            self.post_message(self.Unmarked() if unmarked else self.Finished())
        else:
            self._say(drafts.choose(question, self._said, option.id))
            self.post_message(self.Finished())

    def mark(self) -> None:
        """Choose what is at the cursor, or take it back, and stay."""
        option = self._choices.option
        if option is not None:
            self._say(drafts.toggle(self._question, self._said, option.id))
        elif not self._choices.count():
            return
        elif self._said.text.strip():
            self._say(drafts.toggle_own(self._question, self._said))
        else:
            self.own_words()

    @on(Choices.Numbered)
    @on(Rows.Clicked, "#choices")
    def _picked(self) -> None:
        self.post_message(self.Picked())

    def skip(self) -> None:
        self._say(drafts.skip(self._said))
        self.post_message(self.Finished())

    # Narrowing many options

    @property
    def _narrow(self) -> Input:
        return self.query_one("#narrow", Input)

    @property
    def is_narrowed(self) -> bool:
        return self._narrow.display

    def narrow(self) -> None:
        """To the field whose words the options must have."""
        self._narrow.display = True
        self._narrow.focus()
        self._share_room()

    def widen(self) -> None:
        """Show all options again."""
        self._narrow.value = ""
        self._narrow.display = False
        self._choices.focus()
        self._share_room()

    @on(Input.Changed, "#narrow")
    def _narrowed(self) -> None:
        self._choices.narrow(self._narrow.value)
        self._share_room()

    @on(Input.Submitted, "#narrow")
    def _to_the_found(self) -> None:
        """Choosing takes a second key: by then the cursor is seen."""
        self._narrow.display = bool(self._narrow.value)
        self._choices.focus()
        self._share_room()

    def on_key(self, event: Key) -> None:
        if event.key == "down" and self._narrow.has_focus:
            event.stop()
            self._to_the_found()

    # Writing

    def own_words(self) -> None:
        """To the field for own words, which count from now on."""
        self._choices.move_to(self._choices.count() - 1)
        self._writing = True
        self._say(drafts.write(self._question, self._said, self._own.text))
        self._own.focus()

    def note(self) -> None:
        self._note.display = True
        self._note.focus()
        self._share_room()

    @on(TextArea.Changed, "#own")
    def _written(self) -> None:
        self._say(drafts.write(self._question, self._said, self._own.text))

    @on(TextArea.Changed, "#note")
    def _noted(self) -> None:
        self._say(replace(self._said, note=self._note.text))

    @on(TextField.Done)
    def _done_writing(self, event: TextField.Done) -> None:
        """On to the next question; but a note is no answer, and leads back to where one is given."""
        if event.field is self._note and answer(self._question, self._said).skipped:
            (self._choices if self._choices.display else self._own).focus()
        else:
            self.post_message(self.Finished())

    @on(TextField.LeftUp)
    def leave_field(self) -> None:
        """To the options, or where there are none to the question."""
        (self._choices if self._choices.display else self.query_one("#reading")).focus()
        self._note.display = bool(self._said.note)
        self._writing = False
        self._show_said()

    @on(Choices.LeftDown)
    def _into_fields(self) -> None:
        below = [field for field in (self._own, self._note) if field.display]
        if below:
            below[0].focus()

    def write_in_editor(self) -> None:
        """The answer, or the note, in the person's own editor. An OSError when it cannot start."""
        takes_words = self._question.takes_own_text or not self._question.choices
        field = self._own if takes_words and not self._note.has_focus else self._note
        below = f"{self._shared.texts.editor_marker}\n\n{printable(self._question.text)}"
        text = edit(self.app, editor(self._shared.environ).words, field.text, below)
        field.put(text)
        self._writing = field is self._own
        if field is self._own:
            self._written()
            field.focus()
        else:
            self._noted()
            self.note()

    # Reading

    def read_up(self) -> None:
        page(self.query_one("#reading"), -1)

    def read_down(self) -> None:
        """A page on, but over no line that was never in view: where keys came faster than the screen, or somebody
        jumped, to the first of these."""
        reading = self.query_one("#reading")
        if self.unseen == 0:
            page(reading, 1)
        else:
            on = round(reading.scroll_y) + max(reading.size.height - 1, 1)
            reading.scroll_to(y=min(on, self._seen), animate=False, immediate=True)


class _Reading(Pages):
    """The text of the question, which goes on by its own keys as by those of the screen."""

    def __init__(self, on: Callable[[], None], resized: Callable[[], None], *, id: str) -> None:
        super().__init__(id=id)
        self._on, self._resized = on, resized

    def on_resize(self) -> None:
        self._resized()

    def action_page_down(self) -> None:
        self._on()
