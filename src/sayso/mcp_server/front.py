"""The first answers of a server on stdio, given before the SDK is there: `initialize`, `server/discover`, `tools/list`.

Only what is kept ready is answered, and only until the client has its tools or asks for something else. The SDK hears
every line all the same, and what it answers once more is dropped (`replay`).
Imports next to nothing: the whole point is to be quick.
"""

from __future__ import annotations

import os
import select
import sys

from sayso.mcp_server.claim import claim_stdio
from sayso.mcp_server.opening import Opening, Question, read
from sayso.mcp_server.prepared import Prepared, find

PATIENCE = 0.5
"""Seconds that a client has to go on before the SDK is imported, which takes a while in which nothing is answered."""

HASTE = 0.02
"""The same, once a request waits for the SDK."""

_CHUNK = 64 * 1024
_MOST = 1024 * 1024


class Front:
    """Meets the client of one server, and is then handed on to the transport."""

    def __init__(self, fds: tuple[int, int], prepared: list[Prepared]) -> None:
        self.fds = fds
        self.heard = b""
        """All that the client has said."""
        self.answered: list[tuple[Question, bytes]] = []
        """What it was told, in this order."""
        self.gone = False
        """Whether the client has left, and nothing that it said waits for the SDK."""
        self._prepared = prepared
        self._opening = Opening()
        self._seen = 0
        self._waits = False

    def meet(self) -> None:
        """Answer what can be answered; return when it is the SDK's turn."""
        while not self._opening.over and len(self.heard) < _MOST and self._readable():
            chunk = os.read(self.fds[0], _CHUNK)
            if not chunk:
                self.gone = not self._waits and not self.heard[self._seen :].strip()
                return
            self.heard += chunk
            self._take_lines()

    def _readable(self) -> bool:
        patience = HASTE if self._waits or self.heard[self._seen :] else PATIENCE
        return bool(select.select([self.fds[0]], [], [], patience)[0])

    def _take_lines(self) -> None:
        while (end := self.heard.find(b"\n", self._seen)) >= 0:
            line, self._seen = self.heard[self._seen : end], end + 1
            if line.strip() and not self._take(line):
                self._waits = True

    def _take(self, line: bytes) -> bool:
        """Whether nothing more need be said to this line."""
        if (message := read(line)) is None:
            return False
        if "id" not in message:
            return True
        question = self._opening.question(message)
        if question is None or (result := self._result(question)) is None:
            return False
        answer = question.answered(result)
        self._write(answer)
        self.answered.append((question, answer))
        return True

    def _result(self, question: Question) -> bytes | None:
        found = (prepared.answer(question.depends_on) for prepared in self._prepared)
        return next((result for result in found if result is not None), None)

    def _write(self, line: bytes) -> None:
        rest = memoryview(line)
        while rest:
            try:
                rest = rest[os.write(self.fds[1], rest) :]
            except BlockingIOError:
                select.select([], [self.fds[1]], [])  # endless, as a write to a pipe that nobody reads is


def meet_client() -> Front | None:
    """The front of this server at the end of its work; None where nothing is kept ready for it."""
    if sys.__stdin__ is None or sys.__stdout__ is None or os.isatty(0) or not (prepared := find()):
        return None
    front = Front(claim_stdio(), prepared)
    try:
        front.meet()
    except OSError:  # how a killed client shows
        front.gone = True
    return front
