"""Starting a part of Sayso as a process of its own: nothing of the user's Python can slow it or run inside."""

from __future__ import annotations

import sys
from pathlib import Path

SOURCES = str(Path(__file__).parents[2])
BOOT = "import sys; sys.path.append(sys.argv[1]); from importlib import import_module as load; load(sys.argv[2]).main()"


def command(module: str, *arguments: str) -> list[str]:
    """The argv that runs `main` of a module. The module and what it imports must be stdlib or Sayso's."""
    return [sys.executable, "-I", "-S", "-X", "utf8", "-c", BOOT, SOURCES, module, *arguments]
