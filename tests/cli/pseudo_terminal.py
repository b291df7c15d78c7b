"""A program in a real terminal (a pseudo one of the system), typed into and read from with an end to every wait."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from types import TracebackType
from typing import Any, Self

from tests import warm
from tests.cli.program import BIN, Home

SECONDS = 60.0


class Terminal:
    """Starts with the object; `with` it, so that nothing is left running."""

    def __init__(self, home: Home, *arguments: str, columns: int = 100, **env: str) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
        self.process = self._start(*arguments, **streams, cwd=home.project, env={**home.env, **env})
        os.close(theirs)
        self.screen = ""
        self._read_to = 0

    def _start(self, *arguments: str, **options: Any) -> subprocess.Popen[Any]:
        return warm.start([BIN / "sayso", *arguments], **options, in_terminal=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(SECONDS)
        os.close(self._ours)

    def expect(self, text: str) -> str:
        """What is shown up to and with this text, after what was expected before."""
        end = time.monotonic() + SECONDS
        while text not in self.screen[self._read_to :]:
            assert self._read(end), f"never saw {text!r} in:\n{self.screen}"
        start = self._read_to
        self._read_to = self.screen.index(text, start) + len(text)
        return self.screen[start : self._read_to]

    def type(self, line: str) -> None:
        os.write(self._ours, line.encode() + b"\n")

    def press(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    def resize(self, columns: int, rows: int) -> None:
        """As a person pulls at the window: the program at the front is told."""
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def reply(self, prompt: str, line: str) -> None:
        self.expect(prompt)
        self.type(line)

    def end(self) -> int:
        """Its exit code, once it has ended and all it wrote was read."""
        end = time.monotonic() + SECONDS
        while self._read(end):
            pass
        return self.process.wait(SECONDS)

    def interrupt(self) -> int:
        """Press Ctrl-C as a person does: once more when the line editor was not yet listening. Its exit code."""
        for _ in range(int(SECONDS)):
            self.press(b"\x03")
            end = time.monotonic() + 1
            while self._read(end):
                pass
            if self.process.poll() is not None:
                break
        return self.end()

    def _read(self, end: float) -> bool:
        ready, _, _ = select.select([self._ours], [], [], max(end - time.monotonic(), 0))
        if not ready:
            return False
        try:
            found = os.read(self._ours, 65536)
        except OSError:  # how Linux tells that the other side is closed
            return False
        self.screen += found.decode(errors="replace").replace("\r\n", "\n")
        return bool(found)


class Shell(Terminal):
    """A shell in such a terminal, with jobs in front and in the background."""

    def _start(self, *arguments: str, **options: Any) -> subprocess.Popen[Any]:
        command = ["bash", "--norc", "--noprofile", "-i", *arguments]
        return subprocess.Popen(command, **options, start_new_session=True, preexec_fn=warm.take_terminal)
