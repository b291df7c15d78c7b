"""The terminals that programs are in, and when a key was last pressed there. The system notes that with the terminal's
device, to within eight seconds; no program has to be asked, and nothing of what is typed is seen."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from sayso.process_table import terminal_device

_UNIX98 = range(136, 144)
"""The device numbers of `/dev/pts/N`; each holds 256 of them."""
_CONSOLES = 4


def terminal_of(pid: int) -> str:
    """The device of the terminal that a process belongs to; empty where it has none, or none that can be seen here."""
    if sys.platform != "linux":
        name = terminal_device(pid)
        path = f"/dev/{name}" if name.strip("?-") else ""
        return path if path and os.path.exists(path) else ""
    number = int(terminal_device(pid) or 0)
    major, minor = os.major(number), os.minor(number)
    path = f"/dev/pts/{(major - _UNIX98.start) * 256 + minor}" if major in _UNIX98 else f"/dev/tty{minor}"
    with suppress(OSError):
        # In a container another device may have that path.
        if (major in _UNIX98 or major == _CONSOLES) and os.stat(path).st_rdev == number:
            return path
    return ""


def last_key(terminal: str) -> int | None:
    """When something was last typed at a terminal, in milliseconds since 1970; None where nobody can know."""
    try:
        return os.stat(terminal).st_atime_ns // 1_000_000 if terminal else None
    except OSError:
        return None
