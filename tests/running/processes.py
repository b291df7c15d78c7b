"""What the tests of running commands share: looking at real processes, and waiting for them with an end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from sayso.running.launch import Launch

PLANT = Path(__file__).parent / "plant.py"
SERVER = Path(__file__).parent / "server.py"
PATH = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
PATIENCE = 120.0


def eventually(condition: Callable[[], object]) -> None:
    """Wait until it holds; fail when it still does not after a long time."""
    end = time.monotonic() + PATIENCE
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < end, f"still not so after {PATIENCE:.0f} s"
        pause.wait(0.005)


def with_argument(token: str) -> list[int]:
    """The pids of the processes that have this word in their command line, zombies aside."""
    return [pid for pid in running() if token.encode() in command_line(pid).split(b"\0")]


def running() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def fresh_token() -> str:
    """A number of seconds that no other process sleeps."""
    return f"1000.{int.from_bytes(os.urandom(6)):015d}"


def planting(folder: Path, kind: str, token: str, then: str, **limits: float) -> Launch:
    """The launch of a command that plants a tree."""
    argv = [sys.executable, "-I", "-S", str(PLANT), kind, token, then]
    timeout = limits.get("timeout_seconds")
    grace = limits.get("grace_seconds", 0.2)
    return Launch(folder=folder, argv=argv, cwd=Path("/"), env=PATH, timeout_seconds=timeout, grace_seconds=grace)


def shell(folder: Path, script: str, *, cwd: Path = Path("/"), **limits: float) -> Launch:
    """The launch of a shell script."""
    return Launch(
        folder=folder,
        argv=["bash", "-c", script],
        cwd=cwd,
        env=PATH,
        timeout_seconds=limits.get("timeout_seconds"),
        grace_seconds=limits.get("grace_seconds", 0.2),
        max_bytes=int(limits.get("max_bytes", 1 << 20)),
    )


class Server:
    """A server in a process of its own."""

    def __init__(self, folder: Path, *scripts: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(SERVER), str(folder), *scripts], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdout
        self.idle: list[int] = json.loads(self._process.stdout.readline())

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate(timeout=PATIENCE)
