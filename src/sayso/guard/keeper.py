"""The process around a guarded server: it outlives the guard by a moment, so that nothing of the server outlives it.

It is forked before the guard has done anything. It adopts whatever the server leaves behind, and ends all of it when
the server ends, when the guard says so, or when the guard is gone, however it went. Stdlib only, and little of it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence

from sayso.process_table import Process
from sayso.running import program, tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

NOT_STARTED = 127
GRACE_SECONDS = 2.0
"""How long the server may take to end when it is told to; clients kill what takes longer."""
KILL_SECONDS = 10.0
ROUND_SECONDS = 0.05

_PR_SET_CHILD_SUBREAPER = 36
_ADOPTS = sys.platform == "linux"


class Keeper:
    """The guard's hold on its server: pipes to it, and the process that keeps it."""

    def __init__(self, command: Sequence[str]) -> None:
        adopt_orphans()
        environment = untouched_environment()
        down, self.stdin = os.pipe()
        self.stdout, up = os.pipe()
        self._line, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            for end in (self.stdin, self.stdout, self._line.detach()):
                os.close(end)
            _keep(command, environment, theirs, (down, up))
        for each in (down, up):
            os.close(each)
        theirs.close()

    def end(self) -> None:
        """Have the server ended, with all that it started."""
        with contextlib.suppress(OSError):
            self._line.send(b"!")

    def exit_code(self) -> int | None:
        """How the server ended; None while it has not. Where its keeper was killed, the server ends here."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid == 0:
            return None
        code = os.waitstatus_to_exitcode(status)
        if code < 0:
            _kill_all(lambda: tree.descendants(os.getpid()))
        return code if code >= 0 else 128 - code


def adopt_orphans() -> None:
    """Become the parent of what the descendants of this process leave behind, where the system can do that."""
    if _ADOPTS:
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def untouched_environment() -> dict[str, str]:
    """As this process was given it: Python itself adds to it where no language is set."""
    try:
        with open("/proc/self/environ", "rb") as file:
            pairs = [pair.partition(b"=") for pair in file.read().split(b"\0") if b"=" in pair]
        return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
    except OSError:
        return dict(os.environ)


# In the process of its own


def _keep(command: Sequence[str], environment: dict[str, str], line: socket.socket, ends: tuple[int, int]) -> NoReturn:
    code = NOT_STARTED
    try:
        code = KeptProgram(line).run(command, environment, (*ends, 2))
    except (OSError, ValueError) as error:
        os.write(2, f"sayso guard: {error}\n".encode(errors="backslashreplace"))
    finally:
        os._exit(code)


class KeptProgram:
    """Sees one server through to its end."""

    def __init__(self, line: socket.socket) -> None:
        os.setsid()
        adopt_orphans()
        _let_go_of_the_client()
        self._line, self._pid = line, 0
        self._exit: int | None = None
        self._told = self._childless = False
        self._wake, waker = os.pipe()
        for end in (self._wake, waker):
            os.set_blocking(end, False)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, self._end)
        signal.signal(signal.SIGCHLD, _noted)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)

    def run(self, command: Sequence[str], environment: dict[str, str], stdio: tuple[int, int, int]) -> int:
        self._pid = program.start(program.find(command[0], environment), list(command), environment, stdio)
        for end in stdio[:2]:
            os.close(end)
        self._wait(None, lambda: self._exit is not None or self._told)
        self._end_all()
        code = os.waitstatus_to_exitcode(self._exit) if self._exit is not None else -signal.SIGKILL
        return code if code >= 0 else 128 - code

    def _end(self, *_: object) -> None:
        self._told = True

    def _wait(self, seconds: float | None, over: Callable[[], bool]) -> bool:
        """Until it is over, or so many seconds have passed; says whether it is."""
        until = None if seconds is None else time.monotonic() + seconds
        lines = [] if self._told else [self._line.fileno()]
        while not over():
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                return False
            # Endless where no time is given: a server lives exactly as long as its client wants.
            ready = select.select([self._wake, *lines], [], [], left)[0]
            if self._wake in ready:
                self._reap()
            if self._line.fileno() in ready:
                self._told, lines = True, []  # whatever is said there, or that nobody is there any more
        return True

    def _reap(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake, 4096)
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                if pid == self._pid:
                    self._exit = status
        self._childless = True

    def _end_all(self) -> None:
        self._reap()
        if self._childless and _ADOPTS:
            return
        tree.send(signal.SIGTERM, self._strays())
        if not self._wait(GRACE_SECONDS, lambda: self._childless):
            _kill_all(self._strays)
            self._wait(KILL_SECONDS, lambda: self._childless)

    def _strays(self) -> list[Process]:
        return tree.descendants(os.getpid())


def _let_go_of_the_client() -> None:
    """Else it would take this process for the server, and wait for its end."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)


def _kill_all(found: Callable[[], list[Process]]) -> None:
    """Kill all that are found, with what they start meanwhile."""
    tree.freeze(found)
    give_up = time.monotonic() + KILL_SECONDS
    while (strays := found()) and time.monotonic() < give_up:
        tree.kill(strays)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(ROUND_SECONDS)


def _noted(*_: object) -> None:
    """A signal that only has to wake who waits."""
