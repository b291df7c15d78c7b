"""Taking fds 0 and 1 for the protocol alone, so that nothing else in this process or its children can write into it.

Imports next to nothing: it runs before anything large is there.
"""

from __future__ import annotations

import os
import sys


def claim_stdio() -> tuple[int, int]:
    """Take fds 0 and 1 away from everyone else in this process and its children, for good; private ones for us."""
    if sys.__stdin__ is None or sys.__stdout__ is None:
        from sayso.errors import NoClient

        raise NoClient("Standard input or output is closed. An MCP client must start this command with both open.")
    claimed = private_copy(0), private_copy(1)
    divert(0, os.open(os.devnull, os.O_RDONLY))
    divert(1, harmless_output())
    return claimed


def private_copy(fd: int) -> int:
    if sys.platform == "win32":
        return os.dup(fd)
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)  # never in the place of a closed stderr


def divert(fd: int, target: int) -> None:
    os.dup2(target, fd)
    os.close(target)


def harmless_output() -> int:
    """Stderr, unless it is closed or leads into the very pipe that is to be kept clean."""
    try:
        if not os.path.samestat(os.fstat(1), os.fstat(2)):
            return os.dup(2)
    except OSError:
        pass
    return os.open(os.devnull, os.O_WRONLY)
