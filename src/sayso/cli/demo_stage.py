"""Where `sayso demo` plays: a private temporary folder, settings of its own, and the scripted agent's process.

Nothing of it outlives the demo, however the demo ends; nothing of the person's own settings or asks is touched.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO

from sayso.asks.model import Ask
from sayso.cli.texts import language
from sayso.clients import IN_A_SHELL
from sayso.config import Config, load
from sayso.desks import LOOK_EVERY, Desks, take_down_bells
from sayso.errors import SaysoError

START_SECONDS = 60.0
GRACE_SECONDS = 10.0
_TAIL_CHARACTERS = 2_000
_INHERITED = ("CLAUDE_PROJECT_DIR", *IN_A_SHELL)
"""What would make the scripted agent pass for the agent that the demo itself may have been started by."""


class ScriptedAgent:
    """The scripted agent's process, and what is heard from it. Readable, for `select`, once something was heard."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self._process, self._log = process, log
        self._heard: queue.Queue[bytes | None] = queue.Queue()
        self._ring, self._rung = socket.socketpair()
        assert process.stdout is not None
        self._listener = threading.Thread(target=self._listen, args=(process.stdout,), daemon=True)
        self._listener.start()

    def fileno(self) -> int:
        return self._rung.fileno()

    def first_ask(self, desks: Desks) -> Ask:
        """What it asks, once that is in the store."""
        end = time.monotonic() + START_SECONDS
        while self._process.poll() is None and time.monotonic() < end:
            if asks := desks.asks.inbox(most=1):
                return asks[0]
            desks.bell().wait(LOOK_EVERY)
        raise SaysoError(f"The sample agent did not ask anything. {said(self._log)}".strip())

    def received(self, seconds: float) -> str | None:
        """The text it was given as its answer; None when that did not come, or `stop_waiting` was called."""
        try:
            line = self._heard.get(timeout=seconds)
        except queue.Empty:
            return None
        if line == b"":
            raise SaysoError(f"The sample agent ended without an answer. {said(self._log)}".strip())
        return str(json.loads(line)["text"]) if line else None

    def stop_waiting(self) -> None:
        self._heard.put(None)

    def leave(self) -> None:
        """Let it end by itself, and its server with it; see to it that it does."""
        end(self._process)
        self._listener.join(GRACE_SECONDS)
        self._ring.close()
        self._rung.close()

    def _listen(self, stdout: IO[bytes]) -> None:
        with stdout:
            self._heard.put(stdout.readline())
        self._ring.send(b"!")


def said(log: Path) -> str:
    """The end of what a process of the demo wrote to stderr."""
    told = log.read_text(errors="replace")[-_TAIL_CHARACTERS:].strip()
    return f"It said:\n{told}" if told else ""


@contextmanager
def stage() -> Iterator[Config]:
    """Settings for a folder that is gone afterwards."""
    with _stopped_by_signals(), tempfile.TemporaryDirectory(prefix="sayso-") as folder:
        (Path(folder) / "project").mkdir()
        _settings_file(Path(folder)).touch()
        config = load(environ=environment(Path(folder)), cwd=Path(folder) / "project")
        try:
            yield config
        finally:
            # From here on another Ctrl-C would only keep it from cleaning up.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            take_down_bells(config)


def start(config: Config, log: Path, module: str, *arguments: str) -> subprocess.Popen[bytes]:
    """A program of ours on the stage. It hears no Ctrl-C; what it says of trouble is in the log."""
    with log.open("wb") as errors:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=config.project,
            env=environment(config.state_dir),
            start_new_session=True,
        )


def end(process: subprocess.Popen[bytes]) -> None:
    """Let a program on the stage end by itself, or end it with all that it started: a server that lives on would make
    the stage's folder again."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait()


@contextmanager
def scripted_agent(config: Config) -> Iterator[ScriptedAgent]:
    """The agent at work in the stage's folder. It hears no Ctrl-C of its own: it is told to leave."""
    log = config.state_dir / "agent.log"
    agent = ScriptedAgent(start(config, log, "sayso.cli.demo_agent"), log)
    try:
        yield agent
    finally:
        # Meanwhile a second Ctrl-C would only keep it from cleaning up.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        agent.leave()
        signal.signal(signal.SIGINT, before)


def environment(folder: Path) -> Mapping[str, str]:
    """Ours without any settings but the stage's own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SAYSO_")}
    ours = {
        "SAYSO_STATE_DIR": str(folder),
        "SAYSO_CONFIG": str(_settings_file(folder)),
        "SAYSO_LOG_LEVEL": "warning",
        "SAYSO_LANGUAGE": language(),
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    return {name: value for name, value in kept.items() if name not in _INHERITED} | ours


def _settings_file(folder: Path) -> Path:
    return folder / "config.toml"


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """End by a signal as by Ctrl-C: through every `finally`."""
    numbers = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    before = {number: signal.getsignal(number) for number in numbers}
    for number in numbers[1:]:
        signal.signal(number, _leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _leave(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)
