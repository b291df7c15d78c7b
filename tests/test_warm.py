"""The process that forks `sayso` for tests: its end, and what it cannot do, fail one start at most. What it forks is as
if it had been started."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests import warm
from tests.e2e.stdio.harness import new_place
from tests.e2e.stdio.log import Log
from tests.e2e.stdio.pipe import MODERN, Pipe

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


def about(pid: int) -> dict[str, object]:
    """What a process has from whoever started it."""
    folder = Path("/proc") / str(pid)
    told = dict(line.split(":\t", 1) for line in (folder / "status").read_text().splitlines())
    return {
        "command": (folder / "cmdline").read_bytes().rstrip(b"\0"),
        "environment": set((folder / "environ").read_bytes().rstrip(b"\0").split(b"\0")),
        "folder": (folder / "cwd").readlink(),
        "blocked": told["SigBlk"],
        "ignored": told["SigIgn"],
        "mask": told["Umask"],
        "session": os.getsid(pid),
    }


def opened(pid: int) -> set[str]:
    """Pipes and sockets, by the names that others know them by."""
    files = set()
    for fd in (Path("/proc") / str(pid) / "fd").iterdir():
        with suppress(FileNotFoundError):  # It is at work meanwhile.
            files.add(os.readlink(fd))
    return {file for file in files if file.startswith(("pipe:", "socket:"))}


def test_a_forked_server_has_what_a_started_one_has_and_nothing_of_the_process_that_forks() -> None:
    with new_place() as place, Log() as log:
        command = [str(Path(sys.executable).parent / "sayso"), "server"]
        options: dict[str, Any] = {"env": place.environment, "cwd": place.project, "stderr": log.writer}
        options |= {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        servers = [subprocess.Popen(command, **options), warm.fork_server(command, **options)]
        log.close_our_end()
        pipes = [Pipe(server, log) for server in servers]
        for each in pipes:
            each.connect(MODERN)
        started, forked = (about(server.pid) for server in servers)
        theirs = opened(servers[1].pid) & opened(warm.parent_of_servers(place.environment).process.pid)
        for each in pipes:
            each.end()
    assert forked == started
    assert theirs == set()
