"""The machine that clients are looked for on: its system, its home, its environment, and the project at hand."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sayso.trust import check_inside


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Where things are. `system` is `linux`, `darwin` or `win32`."""

    home: Path
    project: Path
    system: str = sys.platform
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def config_home(self) -> Path:
        """Where programs that follow XDG keep their settings."""
        return self._named("XDG_CONFIG_HOME") or self.home / ".config"

    def app_data(self) -> Path:
        """Where desktop programs keep theirs."""
        if self.system == "darwin":
            return self.home / "Library" / "Application Support"
        if self.system == "win32":
            return self._named("APPDATA") or self.home / "AppData" / "Roaming"
        return self.config_home()

    def folder(self, variable: str, otherwise: str) -> Path:
        """A folder that a variable may name; else one below the home."""
        return self._named(variable) or self.home / otherwise

    def in_project(self, place: str) -> Path:
        """A file of the project at hand. CannotEdit where a link leads out of there."""
        return check_inside(self.project / place, self.project)

    def which(self, program: str) -> str | None:
        return shutil.which(program, path=self.environ.get("PATH", os.defpath))

    def _named(self, variable: str) -> Path | None:
        value = self.environ.get(variable)
        return Path(value).expanduser() if value else None


def this_machine(project: Path) -> Machine:
    return Machine(home=Path.home(), project=project)
