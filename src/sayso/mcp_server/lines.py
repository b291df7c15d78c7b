"""Cutting what comes out of a pipe into lines. Imports nothing: it runs before anything large is there."""

from __future__ import annotations

from collections.abc import Iterator


class LineCutter:
    """Cuts chunks into lines without blank ones. A line over the limit is never held and comes out as None."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._partial = bytearray()
        self._too_long = False

    def cut(self, chunk: bytes) -> Iterator[bytearray | None]:
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._keep(end)
            yield from self.last()
        self._keep(rest)

    def last(self) -> Iterator[bytearray | None]:
        """The line so far, whole or not: at the end of input there may be no newline."""
        line, self._partial = self._partial, bytearray()
        too_long, self._too_long = self._too_long, False
        if too_long:
            yield None
        elif line and not line.isspace():
            yield line

    def _keep(self, piece: bytes) -> None:
        self._too_long = self._too_long or len(self._partial) + len(piece) > self._limit
        if self._too_long:
            self._partial.clear()
        else:
            self._partial += piece
