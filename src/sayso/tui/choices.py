"""The options of one question, with what is chosen of them."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.content import Content
from textual.message import Message

from sayso.asks.draft import Said
from sayso.asks.model import DECISION, SAY_SO, Kind, Option, Question
from sayso.text import one_line, printable
from sayso.tui.rows import Rows
from sayso.tui.shared import Shared

_LONGEST_LABEL = 400
_LONGEST_DESCRIPTION = 800
_MOST_LINES = 4
"""Lines that a label gets, and a description."""
_MANY = 200
"""With more options than this each gets one line, and one for its description: nobody reads them all."""
_SIGNS = {True: "(*) ", False: "( ) "}
_MULTI_SIGNS = {True: "[x] ", False: "[ ] "}


class Choices(Rows):
    """Rows of options, and a last one for own words where the question takes them."""

    CONTEXTS = ("lists",)

    class Numbered(Message):
        """An option was chosen by its number, or by the first letter of yes or no; the cursor is on it."""

    class LeftDown(Message):
        """The person wants to move on to what is below."""

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared.keys, id="choices")
        self._shared = shared
        self._question: Question | None = None
        self._said = Said()
        self._found: Sequence[int] = ()
        """The places of the options that are shown."""

    def show(self, question: Question, said: Said) -> None:
        """Show this question's options. The cursor starts at what is chosen, or at what is recommended."""
        if question != self._question:
            self._question, self._said = question, said
            self._found = range(len(question.choices))
            self.cursor = self._start()
            self.changed()
            self.call_after_refresh(self.show_cursor)
        else:
            self._said = said
            self.changed()

    def narrow(self, words: str) -> None:
        """Show only the options with these words in them. The cursor stays on its option, where that is one of them."""
        wanted, before = words.casefold().split(), self.option
        self._found = [place for place, option in enumerate(self._all) if _has(option, wanted)]
        places = [place for place, option in enumerate(self.options) if option is before]
        self.cursor = places[0] if places else 0
        self.changed()
        self.show_cursor()

    def _start(self) -> int:
        options = self.options
        chosen = [place for place, option in enumerate(options) if option.id in self._said.chosen]
        best = [place for place, option in enumerate(options) if option.recommended]
        if self._said.own and not chosen:
            return len(options)
        return (chosen or best or [0])[0]

    @property
    def _all(self) -> Sequence[Option]:
        return self._question.choices if self._question else ()

    @property
    def options(self) -> Sequence[Option]:
        """Those that are shown."""
        return [self._all[place] for place in self._found]

    @property
    def option(self) -> Option | None:
        """The option at the cursor; None at the row for own words."""
        return self._all[self._found[self.cursor]] if self.cursor < len(self._found) else None

    def count(self) -> int:
        own = self._question is not None and self._question.takes_own_text
        return len(self._found) + own if self._all else 0

    def height(self, index: int, width: int) -> int:
        if not self._many or index == len(self._found):
            return super().height(index, width)
        return 1 + bool(self._all[self._found[index]].description.strip())

    @property
    def _many(self) -> bool:
        return len(self._all) > _MANY

    def row(self, index: int, width: int) -> Sequence[Content]:
        if index == len(self._found):
            return self._wrapped(self._sign(self._said.own), Content(self._shared.texts.other), width)
        option, place = self._all[self._found[index]], self._found[index]
        number = f"{place + 1}. " if place < 9 else ""
        sign = self._sign(option.id in self._said.chosen) + number
        lines = self._wrapped(sign, self._label(option), width)
        if option.description.strip():
            about = " ".join(printable(self._spoken(option.description)[:_LONGEST_DESCRIPTION]).split())
            lines += self._wrapped(" " * len(sign), Content.styled(about, "$muted"), width)
        return lines

    def _label(self, option: Option) -> Content:
        assert self._question is not None
        label = self._spoken(self._shared.wording.option(self._question, option.id))
        chosen = option.id in self._said.chosen
        parts = [(one_line(label, _LONGEST_LABEL), "bold" if chosen else "")]
        if option.recommended:
            parts.append((f"  ({self._shared.texts.recommended})", "$mark"))
        return Content.assemble(*parts)

    def _spoken(self, text: str) -> str:
        """What is said of an option of ours, in the person's language; agents' words are told as they are."""
        ours = self._question is not None and self._question.id == DECISION
        return self._shared.translated(text) if ours else text

    def _sign(self, chosen: bool) -> str:
        multi = self._question is not None and self._question.kind is Kind.MULTI_SELECT
        return (_MULTI_SIGNS if multi else _SIGNS)[chosen]

    def _wrapped(self, before: str, content: Content, width: int) -> list[Content]:
        room = max(width - len(before), 4)
        most = room if self._many else room * _MOST_LINES
        lines = content.truncate(most, ellipsis=True).wrap(room)[:_MOST_LINES]
        return [Content(" " * len(before) if number else before) + line for number, line in enumerate(lines)]

    def action_down(self) -> None:
        if self.cursor == self.count() - 1:
            self.post_message(self.LeftDown())
        super().action_down()

    def on_key(self, event: events.Key) -> None:
        place = self._place_of(event.character or "")
        if place is not None and place < self.count():
            event.stop()
            self.move_to(place)
            self.post_message(self.Numbered())

    def _place_of(self, character: str) -> int | None:
        question = self._question
        if question and question.kind is Kind.CONFIRM and question.id != SAY_SO and character in ("y", "n"):
            return "yn".index(character)
        number = int(character) if character in tuple("123456789") else 0
        if number == len(self._all) + 1:
            return len(self._found)
        return self._found.index(number - 1) if number - 1 in self._found else None


def _has(option: Option, words: Sequence[str]) -> bool:
    told = f"{option.name} {option.description}".casefold()
    return all(word in told for word in words)
