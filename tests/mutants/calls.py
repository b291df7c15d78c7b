"""Which functions of ours are called in each test, in all threads of this process and in its copies."""

from __future__ import annotations

import fcntl
import mmap
import os
import sys
import threading
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from tests.mutants.making import SOURCE, Function

_OUT_OF_THE_WAY = 700
"""File descriptors from here on are in nobody's way."""


class TestNumber:
    """The number of the test that runs, in a file that all processes share."""

    __test__ = False

    def __init__(self, folder: Path) -> None:
        fd = os.open(folder / "test", os.O_RDWR | os.O_CREAT, 0o600)
        os.ftruncate(fd, 8)
        self._memory = mmap.mmap(fd, 8)
        os.close(fd)

    def set(self, number: int) -> None:
        self._memory[:8] = number.to_bytes(8)

    def bytes(self) -> bytes:
        return self._memory[:8]


class Calls:
    """Writes down each function when it is first called in a test."""

    def __init__(self, folder: Path) -> None:
        self._number, self._last = TestNumber(folder), b""
        self._seen: set[CodeType] = set()
        fd = os.open(folder / f"calls-{os.getpid()}", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._fd = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _OUT_OF_THE_WAY)
        os.close(fd)

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call":
            return
        now = self._number.bytes()
        if now != self._last:
            self._last, self._seen = now, set()
        code = frame.f_code
        if code not in self._seen:
            self._seen.add(code)
            if code.co_filename.startswith(str(SOURCE)):
                with suppress(OSError):
                    os.write(self._fd, f"{int.from_bytes(now)}\t{code.co_filename}\t{code.co_firstlineno}\n".encode())


def write_down_calls(folder: Path) -> None:
    calls = Calls(folder)
    threading.setprofile(calls)
    sys.setprofile(calls)


def calls_in(folder: Path) -> Mapping[int, set[Function]]:
    """What was called in each test, by its number."""
    found: dict[int, set[Function]] = defaultdict(set)
    for file in folder.glob("calls-*"):
        for line in file.read_text().splitlines():
            test, name, begin = line.split("\t")
            found[int(test)].add((name, int(begin)))
    return found
