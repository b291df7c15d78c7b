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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from sayso.asks.model import Answer, Ask, Question
from sayso.cli.ask_prompt import AskPrompt, KeyReader
from sayso.cli.asks_in_words import block, question_block
from sayso.cli.terminal import bold, colourless, has_colour, is_in_front, say

READING_SECONDS = 0.7
_SHORT = 60
"""Characters of a label that fits on its line."""
_PASTES_MARKED, _PASTES_PLAIN = "\x1b[?2004h", "\x1b[?2004l"


async def answer_given_here(ask: Ask) -> Answer:
    """The answer, once somebody has sent one here. Endless until then: the caller waits for other ends as well."""
    _show(ask.questions[0])
    prompt, answer = AskPrompt(ask), asyncio.get_running_loop().create_future()
    with _keys(prompt, answer.set_result):
        found: Answer = await answer
        return found


def _show(question: Question) -> None:
    """What is drawn below it has a line for each option, so that what takes more is told here."""
    needs_more = any(option.description or len(option.label) > _SHORT for option in question.options)
    say(question_block(1, question) if needs_more else bold(block(question.text, "")))


@contextmanager
def _keys(prompt: AskPrompt, send: Callable[[Answer], None]) -> Iterator[None]:
    screen = _Screen(prompt, send)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGCONT, screen.begin)
    loop.add_signal_handler(signal.SIGWINCH, screen.draw)
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
        self._drawn = 0
        self._opening: asyncio.TimerHandle | None = None
        self._takes_keys = False

    def begin(self) -> None:
        """At first, and whenever it comes back to the front: from then on, but for what was typed until now."""
        self._leave_keys()
        self._drawn = 0
        if is_in_front():
            tty.setcbreak(self._fd, termios.TCSAFLUSH)
            self._opening = asyncio.get_running_loop().call_later(READING_SECONDS, self._open)

    def _open(self) -> None:
        if not is_in_front():
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
            self._leave_keys()
            return
        data = os.read(self._fd, 65536)
        if not data:
            self._leave_keys()
        for name, text in self._keys.feed(data):
            if self._takes_keys and (answer := self._prompt.press(name, text)):
                self._leave_keys()
                self._send(answer)
        self.draw()

    def draw(self) -> None:
        if self._takes_keys and is_in_front():
            size = os.get_terminal_size(sys.stderr.fileno())
            lines = self._prompt.lines(size.columns or 80, size.lines or 24)
            if not has_colour(sys.stderr):
                lines = [colourless(line) for line in lines]
            self._write(self._up() + "\r\n".join(lines))
            self._drawn = len(lines)

    def end(self) -> None:
        """Take away what was drawn and give the terminal back as it was."""
        self._leave_keys()
        if is_in_front():
            self._write(f"{self._up()}{_PASTES_PLAIN}")
            termios.tcsetattr(self._fd, termios.TCSAFLUSH, self._before)

    def end_by(self, number: int, frame: FrameType | None) -> None:
        """Told to stop: the terminal first."""
        self.end()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _up(self) -> str:
        """To the start of what was drawn, and all of it gone."""
        return "\r" + (f"\x1b[{self._drawn - 1}A" if self._drawn > 1 else "") + "\x1b[J"

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
