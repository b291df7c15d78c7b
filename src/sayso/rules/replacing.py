"""Replacing the person's own file of rules: nobody else does meanwhile, and what an editor has saved since stays."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sayso.errors import InvalidInput, Problem

LOCK_SECONDS = 10.0
_LOCK = "rules.lock"
_LOOK_AGAIN = 0.05

BUSY = "your rules are being changed by somebody else. Try again."


@contextmanager
def changing(file: Path, state_dir: Path) -> Iterator[Path]:
    """Where the file really is, a link stays one; with its folder there, and a lock held."""
    real = Path(os.path.realpath(file))
    for folder in (state_dir, real.parent):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _locked(state_dir / _LOCK):
        yield real


def replace_if_same(real: Path, beside: Path, before: bytes) -> bool:
    """Move what lies ready into the file's place. An editor holds no lock: what it has saved meanwhile is not
    overwritten, and nothing is moved."""
    if (real.read_bytes() if real.exists() else b"") != before:
        return False
    os.replace(beside, real)
    return True


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    end = time.monotonic() + LOCK_SECONDS
    with open(os.open(file, os.O_RDWR | os.O_CREAT, 0o600), "rb+") as held:
        while not _taken(held.fileno()):
            if time.monotonic() > end:
                raise InvalidInput([Problem(path="rule", text=BUSY)])
            time.sleep(_LOOK_AGAIN)
        yield


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
