"""What a sandbox costs: one short program through the pool of runners, in a sandbox and without, in turns."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from sayso.config import Config
from sayso.running.launch import Launch
from sayso.running.sandbox import SandboxWord, sandbox_for
from sayso.running.spawner import Spawner

EMPTY = [sys.executable, "-I", "-S", "-c", "pass"]


def in_turns(rounds: int) -> tuple[list[float], list[float]]:
    """Seconds of each run in a sandbox, and of each without."""
    times: tuple[list[float], list[float]] = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = Config(state_dir=folder / "state", user_dir=folder / "mine")
        word = SandboxWord(profile="workspace", network="none", of_project=False)
        sandbox = sandbox_for(config, folder, [word])
        assert sandbox
        spawner = Spawner()
        for number in range(rounds + 10):
            for taken, told in zip(times, (sandbox.message, None), strict=True):
                place = folder / "state" / f"{number}-{told is None}"
                launch = Launch(folder=place, argv=EMPTY, cwd=folder, env={"PATH": os.defpath}, sandbox=told)
                begun = time.perf_counter()
                assert spawner.start_operation(launch).result(30).exit_code == 0
                taken.append(time.perf_counter() - begun)
        spawner.stop()
    # The first rounds start the runners that know what a sandbox is.
    return times[0][10:], times[1][10:]
