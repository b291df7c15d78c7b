"""Finding and starting one program; every way in which that fails has a sentence for the person or model who asked.

Stdlib only and small, because every runner carries it. It starts; it does not watch.
"""

from __future__ import annotations

import errno
import os
import re
import signal
from collections.abc import Mapping, Sequence

# A command cannot know which signals it inherits as ignored, so each starts as the system sets it.
_FRESH = ("SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP", "SIGPIPE", "SIGXFSZ", "SIGCHLD")
FRESH_SIGNALS = tuple(getattr(signal, name) for name in _FRESH if hasattr(signal, name))

REFUSALS = {
    errno.ENOENT: "its interpreter (the #! line) or its loader does not exist. Correct the #! line or reinstall it.",
    errno.ENOEXEC: "the system cannot run this kind of file. A script needs a #! line such as #!/bin/sh.",
    errno.EACCES: "it or its interpreter may not be executed. Allow it with chmod +x.",
    errno.E2BIG: "its arguments and environment together are too long. Pass the data on stdin or in a file.",
    errno.ENOMEM: "there is not enough memory.",
    errno.EAGAIN: "the limit of processes is reached.",
}


def start(path: str, argv: list[str], environment: Mapping[str, str], stdio: Sequence[int]) -> int:
    """Start the program that was found in its own process group, in the current directory; its pid.

    OSError and ValueError carry the whole sentence as their text.
    """
    actions = [(os.POSIX_SPAWN_DUP2, fd, target) for target, fd in enumerate(stdio)]
    try:
        # The system libraries share memory until exec, as vfork does: the cost does not grow with the caller.
        return os.posix_spawn(
            path, argv, environment, file_actions=actions, setpgroup=0, setsigmask=(), setsigdef=FRESH_SIGNALS
        )
    except OSError as error:
        raise OSError(_sentence(path, error)) from error
    except ValueError as error:
        raise ValueError(f"command: {path!r} cannot be started: {error} in its arguments or environment.") from error


def _sentence(path: str, error: OSError) -> str:
    why = REFUSALS.get(error.errno or 0, f"{error.strerror}.")
    return f"command: {path!r} cannot be started: {why}"


def find(name: str, environment: Mapping[str, str], cwd: str = "") -> str:
    """The file this name stands for, looked up on the PATH of the environment the program will get. `cwd` is where it
    will run, unless that has been entered."""
    if "/" in name:
        return _usable(os.path.join(cwd, name))
    path = environment.get("PATH", os.defpath)
    files = [os.path.join(cwd, folder, name) for folder in path.split(":")]
    for file in files:
        if os.access(file, os.X_OK) and os.path.isfile(file):
            return file
    for file in files:
        if os.path.isfile(file):
            raise OSError(f"command: {file!r} is not executable. Allow it with chmod +x.")
    raise OSError(f"command: {name!r} was not found on PATH ({path}). Install it, or give its full path.")


def in_short(why: str) -> str:
    """Why a program cannot be started, without the whole PATH and the advice of `find`, where other advice follows."""
    why = why.removeprefix("command: ")
    return re.sub(r" \(.*\)\. Install it, or give its full path\.$", ".", why, flags=re.DOTALL)


def identity(found: str, cwd: str) -> list[str]:
    """What tells a program that was found from any other: its whole path, and the file that this leads to by links."""
    path = os.path.normpath(os.path.join(cwd, found))
    real = os.path.realpath(os.path.join(cwd, found))
    return [path] if path == real else [path, real]


def _usable(path: str) -> str:
    if not os.path.exists(path):
        raise OSError(f"command: {path!r} does not exist in {os.getcwd()!r}. Correct the path.")
    if os.path.isdir(path):
        raise OSError(f"command: {path!r} is a directory. Name a program.")
    if not os.access(path, os.X_OK):
        raise OSError(f"command: {path!r} is not executable. Allow it with chmod +x.")
    return path


def enter(cwd: str) -> None:
    """Make this the current directory, for the program that is started next."""
    try:
        os.chdir(cwd)
    except OSError as error:
        raise OSError(f"cwd: {cwd!r} cannot be entered: {error.strerror}. Give a directory that exists.") from error
