"""The last step: everything that is about to be sent, once more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual import events
from textual.content import Content

from sayso.asks.draft import Draft, answer
from sayso.asks.model import Ask, Question
from sayso.text import one_line, printable
from sayso.tui.markdown import plain_line
from sayso.tui.rows import Rows
from sayso.tui.shared import Shared

_MOST_LINES = 6
_MOST_CHARACTERS = 1_000


class Review(Rows):
    """A row for each question with its answer, which leads back to it, and a last one that sends them all."""

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared.keys, id="review")
        self._shared = shared
        self._ask: Ask | None = None
        self._draft = Draft()
        self._sending = ""

    def show(self, ask: Ask, draft: Draft, sending: str) -> None:
        """Show these. `sending` is what the row says that sends them, where the cursor starts; without it there is
        none."""
        start = draft != self._draft or ask.id != (self._ask.id if self._ask else "")
        self._ask, self._draft, self._sending = ask, draft, sending
        if start:
            self.cursor = self.count() - 1
        self.changed()

    @property
    def at_sending(self) -> bool:
        """Whether the cursor is on the row that sends."""
        return bool(self._sending) and self.cursor == self.count() - 1

    def on_key(self, event: events.Key) -> None:
        place = "123456789".find(event.character or " ")
        if 0 <= place < self._questions:
            event.stop()
            self.move_to(place)
            self.post_message(self.Clicked(self))

    @property
    def _questions(self) -> int:
        return len(self._ask.questions) if self._ask else 0

    def count(self) -> int:
        return self._questions + bool(self._sending)

    def row(self, index: int, width: int) -> Sequence[Content]:
        assert self._ask is not None
        if index == self._questions:
            return [Content.styled(self._sending, "bold").truncate(width, ellipsis=True)]
        question = self._ask.questions[index]
        number = f"{index + 1}. "
        told = Content(number + one_line(plain_line(question.text), 300)).truncate(width, ellipsis=True)
        return [told, *self._answer(question, width, " " * len(number)), Content("")]

    def _answer(self, question: Question, width: int, indent: str) -> Iterator[Content]:
        lines = [
            Content(indent) + line
            for content in self._told(question)
            for line in content.wrap(max(width - len(indent), 4))
        ]
        yield from lines[:_MOST_LINES]
        if len(lines) > _MOST_LINES:
            yield Content(indent + "…")

    def _told(self, question: Question) -> list[Content]:
        texts, given = self._shared.texts, answer(question, self._draft.of(question))
        lines = [
            Content.styled(printable(line[:_MOST_CHARACTERS]), "bold $primary")
            for line in self._shared.wording.answer_lines(question, given)
        ]
        if not given.skipped:
            return lines
        if question.required:
            return [Content.styled(f"({texts.missing})", "bold $error"), *lines]
        return [Content.styled(f"({texts.skipped})", "$muted"), *lines]
