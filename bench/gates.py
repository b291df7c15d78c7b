"""What a prompt costs that need not be asked again: from the start of `sayso gate` to its verdict, beside a Python that
does nothing. Both take turns in one run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sayso.asks.model import Settler
from sayso.config import Config
from sayso.desks import open_desks
from sayso.permissions.action import AllowScope

GATE = Path(sys.executable).with_name("sayso")
SECONDS = 60
PROMPT = {
    "hook_event_name": "PermissionRequest",
    "session_id": "bench",
    "tool_name": "Bash",
    "tool_input": {"command": "make test", "description": "Run the tests"},
}


def answered_at_once(rounds: int) -> tuple[list[float], list[float]]:
    """The durations of gates, and of empty processes."""
    with tempfile.TemporaryDirectory(prefix="sayso-", dir="/tmp") as name:
        folder = Path(name).resolve()
        event = json.dumps({**PROMPT, "cwd": str(folder)}).encode()
        env = {**os.environ, "SAYSO_STATE_DIR": str(folder / "state"), "CLAUDE_PID": str(os.getpid())}
        for variable in ("CLAUDE_PROJECT_DIR", "SAYSO_RUN", "SAYSO_STORE"):
            env.pop(variable, None)
        _allow_for_the_rest(folder, event, env)
        gates, empty = [], []
        for _ in range(rounds):
            gates.append(_lasts([str(GATE), "gate", "claude-code"], event, env))
            empty.append(_lasts([sys.executable, "-c", ""], b"", env))
    return gates, empty


def _allow_for_the_rest(folder: Path, event: bytes, env: dict[str, str]) -> None:
    words = [str(GATE), "gate", "claude-code"]
    with (
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=folder, env=env) as gate,
        open_desks(Config(state_dir=folder / "state", project=folder)) as desks,
    ):
        assert gate.stdin is not None
        gate.stdin.write(event)
        gate.stdin.close()
        end = time.monotonic() + SECONDS
        while not (asks := desks.asks.inbox()):
            assert time.monotonic() < end, "the prompt never came"
            desks.bell().wait(1.0)
        desks.permissions.allow(asks[0].id, asks[0].digest, Settler(person="", surface="bench"), AllowScope.SESSION)


def _lasts(words: list[str], given: bytes, env: dict[str, str]) -> float:
    begun = time.perf_counter()
    ran = subprocess.run(words, input=given, capture_output=True, env=env, timeout=SECONDS, check=True)
    lasted = time.perf_counter() - begun
    assert bool(given) == (b'"allow"' in ran.stdout), ran
    return lasted
