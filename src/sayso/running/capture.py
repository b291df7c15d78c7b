"""One stream of a command on disk, never more than its limit: the beginning, and the newest bytes.

The beginning is in `<name>`, the newest in at most two files `<name>.<offset>` that take turns; the offset is where in
the stream the file begins, so the folder explains itself at any moment, also after a crash. Reading is in output.py.
"""

from __future__ import annotations

import contextlib
import os

STREAMS = ("stdout", "stderr")
ORDER = "order"
_MOST_NOTES = 1 << 18
"""Bytes that the notes of turns may take; of more turns than fit, the first and the newest are noted."""
_NOTE = 8


class Capture:
    """Takes the bytes of one stream. A full disk ends the storing, not the command."""

    def __init__(self, folder: str, name: str, max_bytes: int) -> None:
        self.seen = 0
        self.kept = 0
        self.fault = ""
        self._path = os.path.join(folder, name)
        self._turn_size = max(1, max_bytes // 4)
        self._room = max(1, max_bytes // 2)
        self._file = -1
        self._turns: list[int] = []

    def write(self, data: bytes) -> None:
        """Count all of the data and store what the limit leaves room for."""
        if not self.fault:
            try:
                self._store(memoryview(data))
            except OSError as error:
                self.fault = f"only part of the output could be stored: {error.strerror}"
        self.seen += len(data)

    def _store(self, data: memoryview) -> None:
        offset = self.seen
        while data:
            if not self._room:
                self._turn(offset)
            if self._file < 0:
                self._file = self._open()
            written = os.write(self._file, data[: self._room])
            self._room -= written
            self.kept += written
            offset += written
            data = data[written:]

    def _open(self) -> int:
        path = f"{self._path}.{self._turns[-1]}" if self._turns else self._path
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)

    def _turn(self, offset: int) -> None:
        """Begin the next file and drop the oldest of those that take turns."""
        self.close()
        self._room = self._turn_size
        self._turns.append(offset)
        if len(self._turns) > 2:
            self._drop(self._turns.pop(0))

    def _drop(self, offset: int) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{self._path}.{offset}")
            self.kept -= self._turn_size

    def close(self) -> None:
        """Let go of the open file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class TurnNotes:
    """Notes each time that a command turns from one stream to the other, and how much the other had then: eight bytes,
    the lowest bit says which. A command that writes to stdout alone leaves none. Reading is in order.py."""

    def __init__(self, folder: str) -> None:
        self._notes = Capture(folder, ORDER, _MOST_NOTES)
        self._stream = STREAMS[0]

    def note(self, stream: str, offset: int) -> None:
        """Before what comes is stored: then whoever sees that finds its turn noted."""
        if stream != self._stream:
            self._stream = stream
            self._notes.write((offset << 1 | STREAMS.index(stream)).to_bytes(_NOTE, "little"))


def segments(folder: str, name: str) -> list[tuple[int, int, str]]:
    """What is on disk of a stream, in order: where each file begins in it, how long the file is, and its path. A
    command that has not begun has no folder yet."""
    found: list[tuple[int, int, str]] = []
    for entry in os.scandir(folder) if os.path.isdir(folder) else ():
        stem, _, offset = entry.name.partition(".")
        if stem == name and (offset.isdigit() or not offset):
            # A file may be dropped while the folder is being read.
            with contextlib.suppress(FileNotFoundError):
                found.append((int(offset or 0), entry.stat().st_size, entry.path))
    return sorted(found)
