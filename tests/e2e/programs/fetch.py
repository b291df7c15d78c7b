"""The real programs of agents' clients from npm, at the pinned versions; close to a gigabyte, fetched once."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

from tests.e2e.clients.install import PINS, Node, node_since, packages

OLDEST_NODE = 22
FETCH_SECONDS = 1500.0
STEP_SECONDS = 120
FINISHES = ("@anthropic-ai/claude-code/install.cjs", "opencode-ai/postinstall.mjs")
"""What their packages would do when they are installed with scripts allowed: take up the binary of this platform."""


def node() -> Node:
    return node_since(OLDEST_NODE)


@cache
def programs() -> Path:
    """The folder with the programs."""
    # The lock names no packages of platforms that a registry may lack, which `npm ci` does not forgive.
    modules = packages(PINS / "programs", node(), FETCH_SECONDS, "install") / "node_modules"
    for finish in FINISHES:
        script = modules / finish
        subprocess.run([node().node, script], check=True, capture_output=True, timeout=STEP_SECONDS, cwd=script.parent)
    return modules / ".bin"
