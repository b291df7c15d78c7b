"""Speaking into the open input of a command, from any process and any number of them: what is said has a number, is
left in the command's folder and handed on by its runner, each number once and in order (`open_input.py`).

Numbers are given out by whoever keeps what is said, in the store; saying a number again does no harm.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from sayso.files import replace_file
from sayso.running.record import LEAVE_FILE, LINE_FIFO, LINE_FILE, NOT_WHOLE, REST_FILE, said_file


@dataclass(frozen=True, kw_only=True)
class LineState:
    """How far a runner has come: the last number that it handed on, the last that it began to hand on, and whether that
    was the last of all."""

    handed_on: int = 0
    begun: int = 0
    closed: bool = False


def state(folder: Path) -> LineState:
    """What the runner has noted so far."""
    try:
        return LineState(**json.loads((folder / LINE_FILE).read_bytes()))
    except FileNotFoundError:
        return LineState()
    except NOT_WHOLE:
        # Its runner went in a power cut, and may have handed on all of it: nothing is said twice.
        return LineState(handed_on=sys.maxsize, begun=sys.maxsize, closed=True)


def say(folder: Path, number: int, text: bytes) -> None:
    """Leave something to be handed on. What was already left there is not left twice."""
    if number <= state(folder).handed_on:
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_file(folder / said_file(number), text)
    _ring(folder)


def let_rest(folder: Path, after: int, seconds: float) -> None:
    """Close the input when nothing more is said within so many seconds after what has this number."""
    replace_file(folder / REST_FILE, json.dumps({"after": after, "seconds": seconds}).encode())
    _ring(folder)


def dismiss(folder: Path, after: int) -> None:
    """Close the input now, unless something was said after what has this number. Nobody's word to let it rest, be it a
    moment later, takes that back."""
    replace_file(folder / LEAVE_FILE, json.dumps({"after": after, "seconds": 0}).encode())
    _ring(folder)


def let_work(folder: Path) -> None:
    """It rests no more, though nothing was said to it."""
    replace_file(folder / REST_FILE, b"{}")
    _ring(folder)


def _ring(folder: Path) -> None:
    """Wake the runner. One that is not there yet looks by itself when it comes, and one that is gone needs nothing."""
    with contextlib.suppress(OSError):
        bell = os.open(folder / LINE_FIFO, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.write(bell, b"\n")
        finally:
            os.close(bell)
