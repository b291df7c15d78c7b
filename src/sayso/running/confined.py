"""Starting a program in a sandbox: what it and all that it starts may do is said to the kernel right before it begins.

The thread that starts it is held to the same first, so that there is no moment in which the program would not be.
What cannot be enforced is not run. Stdlib only and small: a runner loads it for a command that has a sandbox, and no
other pays for it.
"""

from __future__ import annotations

import _thread
import ctypes
import fcntl
import os
import socket
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from sayso.running import landlock, program, seatbelt, seccomp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    T = TypeVar("T")

TEMPORARY = "tmp"
"""The folder, within that of an operation, that its command has for temporary files."""

APART = frozenset({"/home", "/root", "/Users", "/tmp", "/var/tmp", "/dev", "/run/user", "/run/secrets"})  # noqa: S108
"""What belongs to people or to other programs: only what is named besides is read of it."""
SHARED = ("/home/linuxbrew",)
"""Programs that lie among the homes."""

_NEW_NETWORK, _NEW_USER = 0x40000000, 0x10000000
_CLOSE_RANGE, _ON_EXEC = 436, 4
_SET_FLAGS, _UP = 0x8914, 0x41
_DROP_RIGHT, _MOST_RIGHTS = 24, 64
_RIGHTS_KEPT = frozenset({0, 1, 3, 4, 5, 6, 7, 10})
"""CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID, NET_BIND_SERVICE."""

Sandbox = Mapping[str, "Any"]
"""`profile`, `network`, and lists of whole, real paths: `write`, `read` and `hidden`, and where the `home` is."""


def get_ready() -> None:
    """Load all that it takes, so that it is there before it is needed."""
    if sys.platform == "linux":
        with suppress(OSError):  # what cannot be enforced is told by whoever tries
            seccomp.get_ready()


def temporary_folder(folder: str) -> str:
    return os.path.join(folder, TEMPORARY)


def clear(folder: str) -> None:
    """Take away what a command has left for itself. Nothing outside is touched, whatever links there are."""
    temporary = temporary_folder(folder)
    with suppress(OSError):
        os.rmdir(temporary)  # most leave nothing there
        return
    import shutil

    shutil.rmtree(temporary, ignore_errors=True)


def start(
    found: str, argv: list[str], environment: Mapping[str, str], stdio: Sequence[int], sandbox: Sandbox, folder: str
) -> int:
    """As `program.start` does, but in the sandbox. `folder` is the operation's own. The OSError of what cannot be
    enforced carries the whole sentence."""
    temporary = temporary_folder(folder)
    os.makedirs(temporary, 0o700, exist_ok=True)
    environment = {**environment, **dict.fromkeys(("TMPDIR", "TMP", "TEMP"), temporary)}
    if sys.platform == "darwin":
        words = [seatbelt.PROGRAM, "-p", seatbelt.profile(sandbox, temporary), found, *argv[1:]]
        return program.start(seatbelt.PROGRAM, words, environment, stdio)
    rules = _enforced(sandbox, lambda: _rules(sandbox, temporary))

    def confined() -> int:
        _enforced(sandbox, lambda: _enter(sandbox, rules))
        return program.start(found, argv, environment, stdio)

    try:
        if sandbox["network"] == "loopback":
            _enforced(sandbox, _take_a_network_of_ones_own)
        _close_all_on_exec()
        return _apart(confined)
    finally:
        os.close(rules)


def main() -> None:
    """As a process of its own: enter a sandbox with the network that the last argument names. Its exit code, and what
    it prints, say whether that can be done here."""
    sandbox = {"profile": "read-only", "network": sys.argv[-1], "write": [], "read": [], "hidden": [], "home": "/"}
    try:
        if sandbox["network"] == "loopback":
            _take_a_network_of_ones_own()
        _enter(sandbox, _rules(sandbox, "/"))
    except OSError as error:
        sys.exit(_why(error))


def _rules(sandbox: Sandbox, temporary: str) -> int:
    if sys.platform != "linux":
        raise OSError(f"there is no sandbox for {sys.platform}")
    hidden = sandbox["hidden"]
    own = [sandbox["home"], *SHARED, *sandbox["read"]]
    homes = os.path.dirname(sandbox["home"])
    system = landlock.granted("/", [*hidden, *APART, *([homes] if homes != "/" else [])])
    reading = [*system, *(path for top in own for path in landlock.granted(top, hidden))]
    changing = [path for top in sandbox["write"] for path in landlock.granted(top, hidden)]
    return landlock.ruleset(reading, [*changing, temporary])


def _apart(work: Callable[[], T]) -> T:
    """Do it in a thread of its own: what that is held to, so is whatever it starts, and nobody else here."""
    done = _thread.allocate_lock()
    came: list[T] = []
    trouble: list[BaseException] = []

    def do() -> None:
        try:
            came.append(work())
        except BaseException as error:
            trouble.append(error)
        finally:
            done.release()

    done.acquire()
    _thread.start_new_thread(do, ())
    done.acquire()
    if trouble:
        raise trouble[0]
    return came[0]


def _enter(sandbox: Sandbox, rules: int) -> None:
    """Never to come out again."""
    _be_no_more_than_a_user()
    seccomp.gain_nothing()
    landlock.restrict(rules)
    seccomp.restrict(sandbox["network"])


def _take_a_network_of_ones_own() -> None:
    """One that has a loopback and nothing else, for this whole process, which runs this one command. Whoever may not
    make one may in a user namespace, where everybody stays who they are."""
    user, group = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_NETWORK) < 0:
        if libc.unshare(_NEW_USER | _NEW_NETWORK) < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"a network of its own cannot be made here ({os.strerror(number)})")
        for file, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{file}", "w") as opened:
                opened.write(text)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_of_it:
        fcntl.ioctl(any_of_it, _SET_FLAGS, struct.pack("16sH14x", b"lo", _UP))


def _be_no_more_than_a_user() -> None:
    """Of the rights of root, keep those about files of its own: by others it could look into every process."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for right in range(_MOST_RIGHTS):
            if right not in _RIGHTS_KEPT and libc.prctl(_DROP_RIGHT, right, 0, 0, 0) < 0:
                break  # this kernel knows no more of them


def _close_all_on_exec() -> None:
    """Whatever this process has open stays out of the program's hands."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(_CLOSE_RANGE, 3, ctypes.c_uint(0xFFFFFFFF), _ON_EXEC) < 0:
        for name in os.listdir("/proc/self/fd"):
            if int(name) > 2:
                fcntl.fcntl(int(name), fcntl.F_SETFD, fcntl.FD_CLOEXEC)


def _enforced(sandbox: Sandbox, work: Callable[[], T]) -> T:
    try:
        return work()
    except OSError as error:
        raise OSError(
            f"It was not run: its sandbox ({sandbox['profile']}, network {sandbox['network']}) cannot be enforced "
            f"here: {_why(error)}. `sayso doctor` shows what can be."
        ) from error


def _why(error: OSError) -> str:
    return str(error.strerror or error)
