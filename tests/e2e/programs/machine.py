"""A home with the real programs on its PATH, where somebody has used them before."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cli.program import BIN, Home, Ran
from tests.e2e.programs.fetch import node

SECONDS = 90


@dataclass(frozen=True, kw_only=True)
class Machine:
    home: Home

    def run(self, *words: str, **env: str) -> Ran:
        ran = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=self.home.project,
            env={**self.home.env, **env},
            timeout=SECONDS,
            check=False,
        )
        return Ran(code=ran.returncode, out=ran.stdout, err=ran.stderr)


@contextmanager
def new_machine(programs: Path) -> Iterator[Machine]:
    with tempfile.TemporaryDirectory(prefix="sayso-", dir="/tmp", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        path = f"{programs}:{BIN}:{node().node.parent}:/usr/bin:/bin"
        home = Home(folder=folder, extra={"PATH": path, "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1"})
        home.project.mkdir()
        yield Machine(home=home)
