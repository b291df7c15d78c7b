"""As which program this process was started, and the settings that hold for it. Imports little, for quick starts."""

from __future__ import annotations

import io
import os
import sys

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


def settings(**flags: object) -> Config:
    """The settings with a command's flags on top. Started as `auq`, the profile is `auq` unless something says else."""
    config = load(flags=flags)
    if program_name() == "auq" and "profile" not in config.sources:
        return replace(config, profile="auq", sources={**config.sources, "profile": "the command auq"})
    return config
