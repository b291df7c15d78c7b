"""What an agent has printed so far, line by line, from its run's folder: also while it prints, also after a restart.

However much it prints, little of it is in memory at a time: a line that is too long is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sayso.running.output import raw

CHUNK = 512 * 1024
LONGEST_LINE = 8 * 1024 * 1024
_STREAM = "stdout"


@dataclass(frozen=True, kw_only=True)
class PassedOver:
    """Bytes that are not shown: a line that was too long, or output that came faster than it could be read."""

    size: int
    too_fast: bool = False


class RunOutput:
    """Reads the standard output of a run from a place in it. `place` is the end of the last whole line, `read_to` of
    all that was read."""

    def __init__(self, folder: Path, place: int) -> None:
        self.place = self.read_to = place
        self._folder = folder
        self._part = b""
        self._dropped = 0

    def read(self) -> Iterator[bytes | PassedOver]:
        """The lines of the next chunk; none when nothing new is there."""
        data, begin = raw(self._folder, _STREAM, offset=self.read_to, limit=CHUNK)
        if begin > self.read_to:
            yield PassedOver(size=begin - self.read_to, too_fast=True)
            self._part = b""
        self.read_to = begin + len(data)
        *whole, rest = (self._part + data).split(b"\n")
        for line in whole:
            yield PassedOver(size=self._dropped + len(line)) if self._dropped else line
            self._dropped = 0
        self._keep(rest)

    def rest(self) -> Iterator[bytes]:
        """A last line that was not ended."""
        if self._part.strip():
            yield self._part
        self.place, self._part = self.read_to, b""

    def _keep(self, rest: bytes) -> None:
        """Hold on to the beginning of the next line, unless it is already too long."""
        if self._dropped or len(rest) > LONGEST_LINE:
            self._dropped += len(rest)
            rest = b""
        self._part = rest
        self.place = self.read_to - len(rest)
