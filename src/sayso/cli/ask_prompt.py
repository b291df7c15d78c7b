"""The question of `sayso ask` in the terminal where it was put: what keys do, and what is drawn. No I/O.

Choosing and sending are two acts, and nothing is chosen to begin with: no single key decides.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from sayso.asks.model import NO, YES, Answer, Ask, Kind, Option, fit
from sayso.cli.terminal import bold, cells, cut, dim, wrapped
from sayso.cli.texts import mark, tr, translated
from sayso.cli.values import answer_typed
from sayso.errors import InvalidInput
from sayso.records import replace
from sayso.text import one_line, printable

TEXT, PASTE = "text", "paste"
_NAMES = {
    "\r": "enter",
    "\n": "enter",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x15": "clear",
    "\x1b[A": "up",
    "\x1bOA": "up",
    "\x1b[B": "down",
    "\x1bOB": "down",
}
_KEY = re.compile(
    r"\x1b\[200~(?P<paste>.*?)\x1b\[201~|(?P<sequence>\x1b[\[O][0-9;?]*[A-Za-z~])|(?P<meta>\x1b[^\[O])"
    r"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f])|(?P<text>[^\x1b])",
    re.DOTALL,
)
_HINTS = {
    Kind.TEXT: mark("Type your answer; Enter sends it."),
    Kind.SELECT: mark("↑ ↓ or a number chooses, Enter sends; or type your own words."),
    Kind.MULTI_SELECT: mark("↑ ↓ or a number moves, Space marks, Enter sends; or type your own words."),
    Kind.CONFIRM: mark("y or n chooses, Enter sends."),
}
_YES_OR_NO = re.compile(r"(?:y(?:es?)?|no?|[12])+")
"""What may be typed in a row at a yes or no; the last of it counts. Other words were meant for something else."""
_LEAST_ROWS = 3


class KeyReader:
    """Makes presses of the bytes that a terminal sends, however they are cut."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    def feed(self, data: bytes) -> Iterator[tuple[str, str]]:
        """Each press by its name, with what was typed or pasted. What comes at once after a paste is none: text that
        pretends to be the end of a paste, and goes on with keys, presses nothing."""
        self._rest += self._decoder.decode(data)
        while found := _KEY.match(self._rest):
            self._rest = self._rest[found.end() :]
            if found["paste"] is not None:
                self._rest = ""
                yield PASTE, found["paste"]
            elif found["text"]:
                yield TEXT, found["text"]
            elif name := _NAMES.get(found[0]):
                yield name, ""


class AskPrompt:
    """The only question of an ask while it is being answered here."""

    def __init__(self, ask: Ask) -> None:
        [self._question] = ask.questions
        self._ask = ask
        self._options = self._question.choices
        self._rows = len(self._options) + self._question.takes_own_text
        self._at = 0 if not self._options else -1
        self._marked = set[str]()
        self._text = self._digits = self._run = self._problem = ""

    @property
    def typed(self) -> str:
        """The words that stand in it so far."""
        return self._text

    def press(self, name: str, text: str = "") -> Answer | None:
        """What a press does; the answer, when it sends one."""
        self._problem = ""
        digits, self._digits = self._digits, ""
        run, self._run = self._run, ""
        match name:
            case "up" | "down":
                self._move(-1 if name == "up" else 1)
            case "backspace" if self._is_writing:
                self._text = self._text[:-1]
            case "clear" if self._is_writing:
                self._text = ""
            case "enter":
                return self._send()
            case "burst":
                self._refuse_burst(run)
            case "paste":
                self._write(text)
            case "text":
                self._type(text, digits, run + text)
        return None

    @property
    def _is_writing(self) -> bool:
        """Whether the cursor is where own words stand, below all options."""
        return self._at == len(self._options)

    def _move(self, by: int) -> None:
        self._at = (self._at + by if self._at >= 0 or by > 0 else -1) % self._rows

    def _refuse_burst(self, run: str) -> None:
        """Enter that came together with other keys is part of something that was pasted, not sent."""
        self._run = run
        if self._is_writing:
            self._write("\n")
        self._problem = tr("Not sent: Enter came together with other keys. Press it again.")

    def _type(self, text: str, digits: str, run: str) -> None:
        """A number goes to its option, unless what is typed in a row turns out to be words that begin with it."""
        if self._is_writing and (self._text or not text.isdecimal()):
            self._write(text)
        elif self._question.kind is Kind.CONFIRM:
            self._say_yes_or_no(run)
        elif text.isascii() and text.isdecimal() and self._options:
            self._run = run
            if not (self._go_to(digits + text) or self._go_to(text)):
                self._write(run)
        elif text == " " and (len(run) == 1 or self._question.kind is Kind.MULTI_SELECT):
            self._toggle()
        elif text == " ":
            self._run = run
        else:
            self._write(run)

    def _say_yes_or_no(self, run: str) -> None:
        self._run = run
        if _YES_OR_NO.fullmatch(run.lower()):
            last = next(letter for letter in reversed(run.lower()) if letter in "yn12")
            self._at = self._options.index(YES if last in "y1" else NO)
        else:
            self._at = -1
            self._problem = tr("Only y or n is taken here, not {words}. Enter clears it.", words=one_line(run, 40))

    def _go_to(self, number: str) -> bool:
        """To the option of this number, if there is one."""
        if not 1 <= int(number) <= len(self._options):
            return False
        self._at, self._digits = int(number) - 1, number
        return True

    def _toggle(self) -> None:
        if self._question.kind is Kind.MULTI_SELECT and 0 <= self._at < len(self._options):
            self._marked ^= {self._options[self._at].id}

    def _write(self, text: str) -> None:
        if self._question.takes_own_text:
            self._at, self._run = len(self._options), ""
            self._text += text.replace("\r\n", "\n").replace("\r", "\n")

    def _send(self) -> Answer | None:
        try:
            answer = self._answer()
            return fit(self._ask, [answer])[0] if answer else None
        except InvalidInput as error:
            self._problem = " ".join(translated(problem.text) for problem in error.problems)
            return None

    def _answer(self) -> Answer | None:
        own = self._own_words() if self._is_writing or self._question.kind is Kind.MULTI_SELECT else None
        if self._problem:
            return None
        if self._question.kind is Kind.MULTI_SELECT:
            chosen = tuple(option.id for option in self._options if option.id in self._marked)
        else:
            chosen = () if self._is_writing or self._at < 0 else (self._options[self._at].id,)
        if chosen or own:
            return Answer(question=self._question.id, chosen=chosen, text=own)
        self._problem = tr("Nothing is chosen yet.") if self._options else tr("Nothing is written yet.")
        return None

    def _own_words(self) -> str | None:
        """What was written. Where that names an option, the cursor goes there instead, to be seen before it is sent."""
        written = self._text.strip()
        if not written or not self._options:
            return written or None
        read = answer_typed(replace(self._question, kind=Kind.SELECT), written)
        if not read.chosen:
            return read.text
        self._at, self._text = [option.id for option in self._options].index(read.chosen[0]), ""
        self._problem = tr("That is option {n}.", n=self._at + 1)
        return None

    def lines(self, columns: int, rows: int) -> list[str]:
        """What is drawn: the options around the cursor, own words, and what keys do here. Of `rows` lines so many are
        left that a question of a few lines stays in view above."""
        own = [self._own_line(columns - 1)] if self._question.takes_own_text else []
        below = self._lines_below(columns - 1)[: max(rows - _LEAST_ROWS - len(own), 1)]
        asked = min(len(wrapped(one_line(self._question.text, 1_000), columns)), rows // 3)
        options = self._option_lines(columns - 1, max(rows - asked - len(own) - len(below), _LEAST_ROWS))
        return [*(bold(line) if line.startswith("›") else line for line in (*options, *own)), *below]

    def question_lines(self, columns: int, rows: int) -> list[str]:
        """The question above these lines: all of it, or as much as leaves them room."""
        lines, most = wrapped(one_line(self._question.text, 1_000), columns - 1), max(rows // 3, 1)
        if len(lines) > most:
            lines[most - 1 :] = [cut(" ".join(lines[most - 1 :]), columns - 1)]
        return [bold(line) for line in lines]

    def _lines_below(self, columns: int) -> list[str]:
        """What is wrong, and what keys do here: whole, since its end is what to do."""
        hints = [tr(_HINTS[self._question.kind]), tr("Ctrl-C leaves the question open.")]
        if cells(" ".join(hints)) <= columns:
            hints = [" ".join(hints)]
        problem = wrapped(one_line(self._problem, 400), columns) if self._problem else []
        return [*problem, *(dim(line) for hint in hints for line in wrapped(hint, columns))]

    def _option_lines(self, columns: int, most: int) -> list[str]:
        """The options around the cursor, and how many others are above and below these."""
        lines = [cut(self._option_line(place, option), columns) for place, option in enumerate(self._options)]
        if len(lines) <= most:
            return lines
        room = max(most - 2, 1)
        first = max(0, min(self._at - room // 2, len(lines) - room))
        below = len(lines) - first - room
        above = [dim(cut(tr("  ↑ {n} more", n=first), columns))] if first else []
        return [
            *above,
            *lines[first : first + room],
            *([dim(cut(tr("  ↓ {n} more", n=below), columns))] if below else []),
        ]

    def _option_line(self, place: int, option: Option) -> str:
        at = "›" if place == self._at else " "
        if self._question.kind is Kind.CONFIRM:
            return f"{at} {option.id[0]}) {tr(option.label)}"
        box = "" if self._question.kind is not Kind.MULTI_SELECT else "[x] " if option.id in self._marked else "[ ] "
        return (
            f"{at} {box}{place + 1}) {one_line(option.name, 400)}{tr(' (recommended)') if option.recommended else ''}"
        )

    def _own_line(self, columns: int) -> str:
        """The end of what was written is where the next letter goes."""
        start = f"{'›' if self._is_writing else ' '} {tr('own words: ') if self._options else ''}"
        text = printable(self._text).replace("\n", " ↵ ")
        room = max(columns - cells(start) - 1, 2)
        whole, text = text, text[-room:]
        while cells(text) > room - (text != whole):
            text = text[1:]
        text = text if text == whole else f"…{text}"
        return start + text + ("▏" if self._is_writing else "")
