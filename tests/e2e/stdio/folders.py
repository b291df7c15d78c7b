"""The folders of a machine, and what programs on it are started with. Imports next to nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from sayso.config import Config, load

PROGRAMS = Path(sys.executable).parent
_ALIKE = {"LC_ALL": "C.UTF-8", "DBUS_SESSION_BUS_ADDRESS": "disabled:"}
"""What is the same on every machine: its language, and that it has no desktop."""


class Folders:
    """One machine with one person on it: a home, a state directory, a project. Nothing of the real one leaks in."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self.folder = folder
        self.home, self.state, self.project = folder / "home", folder / "state", folder / "project"
        self.cache = folder / "cache"
        self.home.mkdir(exist_ok=True)
        self.project.mkdir(exist_ok=True)
        self.settings = dict(settings)

    @property
    def environment(self) -> dict[str, str]:
        """`settings` become SAYSO_* variables."""
        named = {f"SAYSO_{name.upper()}": value for name, value in self.settings.items()}
        path = os.pathsep.join([str(PROGRAMS), os.defpath])
        folders = {
            "HOME": self.home,
            "XDG_CONFIG_HOME": self.home / ".config",
            "XDG_CACHE_HOME": self.cache,
            "SAYSO_STATE_DIR": self.state,
        }
        return {**{name: str(folder) for name, folder in folders.items()}, "PATH": path, **_ALIKE, **named}

    @property
    def database(self) -> Path:
        return self.state / "sayso.db"

    def config(self) -> Config:
        return load(environ=self.environment, cwd=self.project)
