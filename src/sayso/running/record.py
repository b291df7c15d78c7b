"""The files by which a runner and everybody else know an operation: their names, and writing them in one step.

Stdlib only and small, because every runner carries it. Reading them is in folder.py.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping

RUNNER_FILE = "runner.json"
STATUS_FILE = "status.json"
STDIN_FILE = "stdin"

NOT_WHOLE = (ValueError, TypeError, KeyError)
"""What comes of reading one that a power cut left empty or in part. It says nothing."""

NOT_BEGUN = "Its server ended before the command began. Nothing was run."

LINE_FIFO, LINE_FILE, REST_FILE, LEAVE_FILE = "line", "line.json", "rest.json", "leave.json"
"""Of a command whose input stays open: what wakes its runner, how far that has come, when the command may end, and that
it is to end now."""


def write(folder: str, name: str, content: Mapping[str, object]) -> bytes:
    """Write the file so that whoever sees it sees all of it; what was written. A full disk is no reason to fail."""
    text = json.dumps(content).encode()
    _put(os.path.join(folder, name), text)
    return text


def write_runner(folder: str, identity: Mapping[str, object], rest: Mapping[str, object]) -> None:
    """Say who runs the command. Where the disk is full a link says as much as must be, which needs hardly any room:
    else nobody could cancel the command, or find it again."""
    path = os.path.join(folder, RUNNER_FILE)
    if not _put(path, json.dumps({**identity, **rest}).encode()):
        with contextlib.suppress(OSError):
            os.symlink(json.dumps(identity), path)


def read_runner(folder: str) -> bytes:
    """What a runner said of itself; an OSError where none has."""
    path = os.path.join(folder, RUNNER_FILE)
    with contextlib.suppress(OSError):  # most are no link
        return os.readlink(path).encode()
    with open(path, "rb") as file:
        return file.read()


def _put(path: str, text: bytes) -> bool:
    """Whether the file is there now, and all of it."""
    half = path + ".new"
    with contextlib.suppress(OSError):
        if _is_written(half, text):
            os.rename(half, path)
            return True
        os.unlink(half)
    return False


def said_file(number: int) -> str:
    """Where something lies that is to be handed on to a command."""
    return f"say-{number}"


def _is_written(path: str, text: bytes) -> bool:
    """Whether the disk took all of it."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        return os.write(file, text) == len(text)
    except OSError:
        return False
    finally:
        os.close(file)


def open_stdin(folder: str) -> int:
    """The input that was left in the folder; it is gone from there once it is open."""
    path = os.path.join(folder, STDIN_FILE)
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    os.unlink(path)
    return file
