"""Takes the answer to `sayso ask` in the terminal where it was put, while the inbox has the question too.

What was typed before the question could be read counts for nothing. It is drawn on stderr, so that a script can still
take the answer from stdout. The terminal is put back however this ends.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import termios
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType

from sayso.asks.model import Answer, Ask
from sayso.cli.ask_prompt import AskPrompt, KeyReader
from sayso.cli.asks_in_words import block, question_block
from sayso.cli.terminal import bold, cells, colourless, flowing, has_colour, is_in_front, say
from sayso.cli.texts import tr
from sayso.text import one_line

READING_SECONDS = 0.7
_PAUSE = 1.0
"""Seconds without a key after which nobody is in the middle of typing."""
_LONGEST = 60.0
_LOOK_SECONDS = 0.3
"""How often to look whether it is in front again: a shell does not tell a job that was running already."""
_SHORT = 60
"""Characters of a label that fits on its line."""
_PASTES_MARKED, _PASTES_PLAIN = "\x1b[?2004h", "\x1b[?2004l"


class AnswerHere:
    """The question at the prompt. Endless until somebody answers it here: the caller waits for other ends as well."""

    def __init__(self, ask: Ask) -> None:
        self._question, self._prompt = ask.questions[0], AskPrompt(ask)
        self._answer: asyncio.Future[Answer | None] = asyncio.get_running_loop().create_future()
        self._screen = _Screen(self._prompt, self._send)

    async def taken(self) -> Answer | None:
        """What somebody has sent here; None if it was over before."""
        self._show()
        try:
            with _keys(self._screen):
                if answer := await self._answer:
                    return answer
                await self._screen.let_them_finish()
        except asyncio.CancelledError:
            self._say_what_was_typed()  # at Ctrl-C
            raise
        self._say_what_was_typed()
        return None

    def _show(self) -> None:
        """What is drawn below it has a line for each option, so that what takes more is told here."""
        question = self._question
        if any(option.description or len(option.label) > _SHORT for option in question.options):
            say(question_block(1, question))
        else:
            told = flowing(block(question.text, ""), sys.stderr)
            say(bold(told))
            self._screen.is_below(told)

    def _say_what_was_typed(self) -> None:
        if words := self._prompt.typed:
            say(tr("What you had typed: {words}", words=one_line(words, 2_000)))

    def is_over(self) -> None:
        """Somebody else was first, or nobody waits any more."""
        self._send(None)

    def _send(self, answer: Answer | None) -> None:
        if not self._answer.done():
            self._answer.set_result(answer)


@contextmanager
def _keys(screen: _Screen) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGCONT, screen.come_back)
    loop.add_signal_handler(signal.SIGWINCH, screen.resized)
    ends = {number: signal.signal(number, screen.end_by) for number in (signal.SIGTERM, signal.SIGHUP)}
    screen.begin()
    try:
        yield
    finally:
        for number, before in ends.items():
            signal.signal(number, before)
        loop.remove_signal_handler(signal.SIGCONT)
        loop.remove_signal_handler(signal.SIGWINCH)
        screen.end()


class _Screen:
    """The lines of a prompt at the cursor, drawn anew after each press."""

    def __init__(self, prompt: AskPrompt, send: Callable[[Answer], None]) -> None:
        self._prompt, self._send = prompt, send
        self._fd = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._fd)
        self._keys = KeyReader()
        self._drawn: list[int] = []
        """How many cells each line takes that is drawn."""
        self._above: list[int] = []
        """The same of the question right above these, where that may be drawn anew."""
        self._tells_question = False
        self._opening: asyncio.TimerHandle | None = None
        self._takes_keys = False
        self._pressed_at = float("-inf")
        self._finished: asyncio.Event | None = None
        """Set by Enter, once it is over and somebody is in the middle of typing."""

    def is_below(self, told: str) -> None:
        """Only this was said since it began."""
        self._above = [cells(line) for line in told.split("\n")]

    def come_back(self) -> None:
        """It was in the background, and what others wrote meanwhile stands between the question and here."""
        self._tells_question, self._above = True, []
        self.begin()

    def resized(self) -> None:
        """A terminal that is lower by now may have moved the question out of sight: it is drawn with the rest."""
        if not self._tells_question:
            self._tells_question = True
            self._above = self._above if self._height(self._above) <= len(self._question()) else []
            self._drawn = [*self._above, *(self._drawn or [0])]
        self.draw()

    def _question(self) -> list[str]:
        return _as_shown(self._prompt.question_lines(*_size()))

    def begin(self) -> None:
        """At first, and whenever it comes back to the front: from then on, but for what was typed until now."""
        self._leave_keys()
        self._drawn = []
        if is_in_front():
            tty.setcbreak(self._fd, termios.TCSAFLUSH)
            self._opening = asyncio.get_running_loop().call_later(READING_SECONDS, self._open)
        else:
            self._opening = asyncio.get_running_loop().call_later(_LOOK_SECONDS, self.come_back)

    def _open(self) -> None:
        if not is_in_front():
            self.come_back()
            return
        termios.tcflush(self._fd, termios.TCIFLUSH)
        self._keys, self._takes_keys = KeyReader(), True
        asyncio.get_running_loop().add_reader(self._fd, self._read)
        self._write(_PASTES_MARKED)
        self.draw()

    def _leave_keys(self) -> None:
        self._takes_keys = False
        asyncio.get_running_loop().remove_reader(self._fd)
        if self._opening:
            self._opening.cancel()

    def _read(self) -> None:
        if not is_in_front():
            self.come_back()
            return
        data = os.read(self._fd, 65536)
        if not data:
            self._leave_keys()
        self._pressed_at = asyncio.get_running_loop().time()
        presses = list(self._keys.feed(data))
        for name, text in presses:
            if not self._takes_keys:
                return
            if self._finished and name == "enter":
                self._leave_keys()
                self._finished.set()
            elif answer := self._prompt.press("burst" if name == "enter" and presses[1:] else name, text):
                self._leave_keys()
                self._send(answer)
        self.draw()

    async def let_them_finish(self) -> None:
        """It is over, and the shell gets the next key. Whoever is in the middle of typing meant none of theirs for it:
        they are taken here, and send nothing, until a pause or Enter."""
        now = asyncio.get_running_loop().time
        limit, self._finished = now() + _LONGEST, asyncio.Event()
        while self._takes_keys and (left := min(self._pressed_at + _PAUSE, limit) - now()) > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._finished.wait()

    def draw(self) -> None:
        if self._takes_keys and is_in_front():
            lines = self._question() if self._tells_question else []
            lines += _as_shown(self._prompt.lines(*_size()))
            self._write(self._up() + "\r\n".join(lines))
            self._drawn = [cells(colourless(line)) for line in lines]

    def end(self) -> None:
        """Take away what was drawn, but not the question, and give the terminal back as it was."""
        self._leave_keys()
        if is_in_front():
            kept = "".join(f"{line}\r\n" for line in self._question()) if self._tells_question and self._above else ""
            self._write(f"{self._up()}{kept}{_PASTES_PLAIN}")
            termios.tcsetattr(self._fd, termios.TCSAFLUSH, self._before)

    def end_by(self, number: int, frame: FrameType | None) -> None:
        """Told to stop: the terminal first."""
        self.end()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _up(self) -> str:
        """To the start of what was drawn, and all of it gone; a terminal that is narrower by now has broken lines."""
        rows = self._height(self._drawn)
        return "\r" + (f"\x1b[{rows - 1}A" if rows > 1 else "") + "\x1b[J"

    @staticmethod
    def _height(taken: Sequence[int]) -> int:
        """How many rows lines of so many cells take now."""
        columns, _ = _size()
        return sum(max(-(-cells // columns), 1) for cells in taken)

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


def _size() -> tuple[int, int]:
    size = os.get_terminal_size(sys.stderr.fileno())
    return size.columns or 80, size.lines or 24


def _as_shown(lines: list[str]) -> list[str]:
    return lines if has_colour(sys.stderr) else [colourless(line) for line in lines]
