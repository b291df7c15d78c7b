"""The process that forks `sayso` for tests: its end, and what it cannot do, fail one start at most."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests import warm

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the program is started anew")


def version(parent: warm.Parent, cwd: Path) -> bytes:
    pipe = subprocess.PIPE
    command = [str(Path(sys.executable).parent / "sayso"), "--version"]
    with warm.Copy(parent, command, env={"LC_ALL": "C.UTF-8"}, cwd=cwd, stdin=pipe, stdout=pipe) as copy:
        out, _ = copy.communicate(timeout=120)
    assert copy.returncode == 0
    return bytes(out)


def test_another_takes_the_place_of_a_process_that_was_killed(tmp_path: Path) -> None:
    parent = warm.Parent(1, ())
    before = version(parent, tmp_path)
    parent.process.kill()
    parent.process.wait(120)
    assert version(parent, tmp_path) == before


class Refused(warm.Parent):
    """One that cannot fork."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def fork(self, fds: Sequence[int]) -> None:
        def fork() -> int:
            raise BlockingIOError(11, "Resource temporarily unavailable")

        self._monkeypatch.setattr(os, "fork", fork)
        assert warm.fork_or_tell(fds[1]) is None


def test_a_start_that_failed_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OSError, match="Nothing was forked: Resource temporarily unavailable"):
        version(Refused(monkeypatch), tmp_path)
