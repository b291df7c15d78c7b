"""As which program this process was started, and the settings that hold for it. Imports little, for quick starts."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from pathlib import Path

from sayso.config import Config, load
from sayso.records import replace

PROGRAMS = ("sayso", "auq")
COMPLETES = "_SAYSO_COMPLETE"
"""The variable in which a shell says that it wants words completed."""


_was_closed: set[str] = set()


class _Nowhere(io.TextIOWrapper):
    """In the place of an output that was closed: it knows whether anything was to be written there."""

    is_missed = False

    def write(self, text: str) -> int:
        self.is_missed |= bool(text)
        return super().write(text)


def open_closed_streams() -> None:
    """Have all three standard streams. Else what is opened next would get the number of one that was closed, and all
    that is meant for that."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            _was_closed.add(name)
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(nowhere, True)
            raw = open(nowhere, f"{mode}b", closefd=False)  # noqa: SIM115
            setattr(sys, name, _Nowhere(raw, encoding="utf-8"))


def has_output() -> bool:
    """Whether standard output was open when this process was started."""
    return "stdout" not in _was_closed


def misses_output() -> bool:
    """Whether something was written to a standard output that was closed."""
    return isinstance(sys.stdout, _Nowhere) and sys.stdout.is_missed


def program_name() -> str:
    """As which of the two programs this process was started."""
    name = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    return name if name in PROGRAMS else PROGRAMS[0]


def settings(*, in_project: bool = False, **flags: object) -> Config:
    """The settings with a command's flags on top. Started as `auq`, the profile is `auq` unless something says else.
    Whoever is `in_project` needs the working directory to be there; for all others it may have been removed."""
    config = load(flags=flags, cwd=None if in_project else _folder_here())
    if program_name() == "auq" and "profile" not in config.sources:
        return replace(config, profile="auq", sources={**config.sources, "profile": "the command auq"})
    return config


def is_folder_gone() -> bool:
    """Whether the working directory has been removed."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _folder_here() -> Path | None:
    """The working directory; where it was, if it has been removed and that can be told."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        with suppress(OSError):
            return Path(os.readlink("/proc/self/cwd").removesuffix(" (deleted)"))
    # What a shell says of a folder that is there may be said of another one.
    told = os.environ.get("PWD", "")
    return Path(told) if os.path.isabs(told) and not os.path.exists(told) else None
