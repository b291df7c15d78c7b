"""The agent's own process, on pipes: lines in both directions, and an end that leaves nothing of it behind."""

from __future__ import annotations

import errno
import os
import select
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

from sayso.running import program

LONGEST_LINE = 32 * 1024 * 1024
"""Bytes. Whoever prints more than that in one line has lost its way."""
LEAVES_WITHIN = 3.0
"""Seconds in which it must be gone when its input has ended, and again when it was told to end."""
_CHUNK = 1 << 16
_STEP = 0.02


class AgentProcess:
    """Started in a group of its own, with the standard error of this process. OSError or ValueError says in a sentence
    why it could not be."""

    def __init__(self, command: Sequence[str]) -> None:
        found = program.find(command[0], os.environ)
        stdin, self.input = os.pipe()
        self.output, stdout = os.pipe()
        try:
            self.pid = program.start(found, list(command), os.environ, (stdin, stdout, 2))
        finally:
            os.close(stdin)
            os.close(stdout)
        os.set_blocking(self.input, False)
        os.set_blocking(self.output, False)
        self._status: int | None = None
        self._unsent = b""
        self._part: list[bytes] = []
        self._size = 0
        self.has_ended = False
        """Whether nothing more will be heard of it."""

    @property
    def wants_room(self) -> bool:
        """Whether something is left to be written to it."""
        return bool(self._unsent)

    def send(self, line: bytes) -> bool:
        """Have it told, also if it does not read at the moment; whether its input is still open."""
        if self.input >= 0:
            self._unsent += line
            self.flush()
        return self.input >= 0

    def flush(self) -> None:
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self.input, self._unsent[:_CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:
            self.close_input()

    def close_input(self) -> None:
        if self.input >= 0:
            os.close(self.input)
        self.input, self._unsent = -1, b""

    def read(self) -> Iterator[bytes]:
        """The lines that have come by now."""
        while not self.has_ended:
            try:
                data = os.read(self.output, _CHUNK)
            except BlockingIOError:
                return
            self.has_ended = not data
            *whole, rest = data.split(b"\n")
            for line in whole:
                yield b"".join((*self._part, line))
                self._part, self._size = [], 0
            self._part.append(rest)
            self._size += len(rest)
            if self._size > LONGEST_LINE:
                raise OSError(errno.EMSGSIZE, f"It printed a line of more than {LONGEST_LINE:,} bytes.")

    def end(self) -> int:
        """Let it leave, and end what does not, with all of its group. How it ended, as `os.waitpid` tells it."""
        self.close_input()
        if not self._is_gone_within(LEAVES_WITHIN):
            self._signal(signal.SIGTERM)
            self._is_gone_within(LEAVES_WITHIN)
        self._signal(signal.SIGKILL)
        if self._status is None:
            self._status = os.waitpid(self.pid, 0)[1]
        return self._status

    def _is_gone_within(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while self._status is None and time.monotonic() < until:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._status = status
            else:
                self._drain(_STEP)
        return self._status is not None

    def _drain(self, seconds: float) -> None:
        """Keep its output from filling up, or it could not end."""
        if self.has_ended:
            time.sleep(seconds)
            return
        poll = select.poll()
        poll.register(self.output, select.POLLIN)
        if poll.poll(seconds * 1000):
            with suppress(BlockingIOError):
                self.has_ended = not os.read(self.output, _CHUNK)

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)
