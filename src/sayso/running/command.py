"""A command at work: started, its output taken, its deadline kept, its process tree ended to the last descendant.

Stdlib only and small, because every runner carries it. It needs nobody: when the server is gone it goes on.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from functools import partial

from sayso import process_table
from sayso.running import program, record, tree
from sayso.running.capture import STREAMS, Capture, TurnNotes
from sayso.running.readiness import Readiness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sayso.running.open_input import OpenInput

STARTED = b"started"
CANCEL = b"cancel\n"
CHUNK = 1 << 16

HAS_SUBREAPER = sys.platform == "linux"
KILL_SECONDS = 10.0
KILL_ROUND_SECONDS = 0.05
LONGEST_POLL_SECONDS = 3600.0
DRAIN_READS = 64

QUICK_SECONDS = 0.004
"""A command that ends sooner is not reported as started first."""


class RunningCommand:
    """One command, its output and all that descends from it. Made ahead of need, used once."""

    def __init__(self) -> None:
        self._captures: dict[str, Capture] = {}
        self._open: dict[int, str] = {}
        self._turns: TurnNotes | None = None
        self._line: socket.socket | None = None
        self._input: OpenInput | None = None
        self._exit_fd: int | None = None
        self._pid = 0
        self._exit: int | None = None
        self._cancelled = False
        self._childless = True
        self._survivors: list[int] = []
        self._started_at = 0.0
        # The process it was forked from ignores its children, and they would leave no status.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, self._cancel)
        self._mark = ""
        self._identity = {"pid": os.getpid(), "started": process_table.started(os.getpid())}
        self._nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        self._pipes = [os.pipe() for _ in STREAMS]
        self._wake, self._waker = os.pipe()
        self._poll = Readiness()
        for end in (self._wake, self._waker, *(read for read, _ in self._pipes)):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        # Before the command writes anything: what is registered later has no order.
        for read, _ in self._pipes:
            self._poll.register_pipe(read)

    def close(self) -> None:
        """Give back what would otherwise go with the process."""
        self._poll.close()
        for fd in (self._wake, self._waker, *(read for read, _ in self._pipes)):
            os.close(fd)

    def execute(self, launch: dict[str, Any], line: socket.socket, more: bytes) -> dict[str, Any]:
        """Run the command to its end and say how it ended."""
        self._started_at = time.time()
        self._cancelled = bool(more)
        self._mark = tree.mark_of(launch["folder"])
        try:
            stdin = self._prepare(launch)
            found = program.find(launch["argv"][0], launch["env"])
            if refused := _refusal(launch, found, stdin):
                return self._status("cancelled", refused)
            if _is_deserted(line):
                return self._status("spawn_failed", record.NOT_BEGUN)
            self._start(found, launch, stdin)
        except (OSError, ValueError) as error:
            return self._status("spawn_failed", str(error))
        begun = time.monotonic()
        self._listen(launch, line)
        record.write_runner(launch["folder"], self._identity, {"mark": self._mark, "group": self._pid})
        # The end of a quick command also says that it started, and goes straight to whoever waits for the start.
        if not self._pump(begun + QUICK_SECONDS, self._is_over):
            self._heed_children()
            say(line, STARTED)
        timeout = launch["timeout_seconds"]
        reason = self._watch(None if timeout is None else begun + timeout)
        self._end_tree(launch["grace_seconds" if reason == "exit" else "stop_grace_seconds"])
        self._drain()
        if launch.get("sandbox"):
            from sayso.running import confined

            confined.clear(launch["folder"])
        return self._status(reason, "")

    def fail(self, error: Exception) -> dict[str, Any]:
        """The runner itself is at fault: still leave nothing running, and say so."""
        self._end_tree(0)
        return self._status("lost", f"The runner of this command failed: {error!r}")

    def _cancel(self, *_: object) -> None:
        """SIGTERM: cancels the command; a runner without one has nothing to wait for."""
        if not self._started_at:
            os._exit(0)
        self._cancelled = True

    def _listen(self, launch: dict[str, Any], line: socket.socket) -> None:
        self._line = line
        self._poll.register(self._wake, select.POLLIN)
        self._poll.register(line.fileno(), select.POLLIN)
        self._exit_fd = tree.open_exit(self._pid)
        if self._exit_fd is None:
            self._heed_children()
        else:
            self._poll.register(self._exit_fd, select.POLLIN)
        for (read, _), name in zip(self._pipes, STREAMS, strict=True):
            self._captures[name] = Capture(launch["folder"], name, launch["max_bytes"])
            self._open[read] = name
        self._turns = TurnNotes(launch["folder"])
        if self._input:
            self._input.listen(self._poll)

    def _heed_children(self) -> None:
        """From now on the end of any child wakes the poll. Before, only the command's does, which is faster."""
        signal.signal(signal.SIGCHLD, _noted)
        self._reap()

    def _prepare(self, launch: dict[str, Any]) -> int | None:
        """Go where the command is to run, and take its input, if it has any."""
        program.enter(launch["cwd"])
        if launch.get("spoken_to"):
            from sayso.running.open_input import OpenInput  # no other command pays for it

            self._input = OpenInput(launch["folder"], launch["timeout_seconds"])
            return self._input.read_end
        return record.open_stdin(launch["folder"]) if launch["stdin"] else None

    def _start(self, found: str, launch: dict[str, Any], stdin: int | None) -> None:
        stdin = self._nothing if stdin is None else stdin
        stdio = [stdin, *(write for _, write in self._pipes)]
        environment = {**launch["env"], tree.MARK: self._mark}
        if sandbox := launch.get("sandbox"):
            from sayso.running import confined  # only for those that have one: no other command pays for it

            self._pid = confined.start(found, launch["argv"], environment, stdio, sandbox, launch["folder"])
        else:
            self._pid = program.start(found, launch["argv"], environment, stdio)
        self._childless = False
        for fd in stdio:
            os.close(fd)

    def _is_over(self) -> bool:
        return self._exit is not None or self._cancelled

    def _watch(self, deadline: float | None) -> str:
        if self._input:
            self._watch_spoken_to(self._input)
        else:
            self._pump(deadline, self._is_over)
        if self._exit is not None:
            return "exit"
        return "cancelled" if self._cancelled else "timed_out"

    def _watch_spoken_to(self, spoken: OpenInput) -> None:
        """Its time stands still while it rests, and begins anew with what it is told then."""
        while not self._is_over():
            until = spoken.until
            if not self._pump(until, partial(self._has_news, spoken, until)) and spoken.is_over():
                return

    def _has_news(self, spoken: OpenInput, until: float | None) -> bool:
        return self._is_over() or spoken.until != until

    def _pump(self, until: float | None, finished: Callable[[], bool]) -> bool:
        """Move output to disk until it is finished or time is up; says whether it is finished."""
        while not finished():
            left = LONGEST_POLL_SECONDS if until is None else until - time.monotonic()
            if left <= 0:
                return False
            for fd in self._poll.ready(min(left, LONGEST_POLL_SECONDS)):
                self._attend(fd)
        return True

    def _attend(self, fd: int) -> None:
        if fd in (self._wake, self._exit_fd):
            self._reap()
        elif fd in self._open:
            self._take(fd)
        elif self._input and fd in (self._input.bell, self._input.write_end):
            self._input.attend(fd)
        elif self._line and fd == self._line.fileno() and not self._hears_cancel(self._line):
            self._poll.unregister(fd)

    def _hears_cancel(self, line: socket.socket) -> bool:
        """The line carries one word from the server; when the server is gone the command goes on without it."""
        try:
            word = line.recv(len(CANCEL))
        except OSError:
            word = b""
        self._cancelled = self._cancelled or bool(word)
        return bool(word)

    def _take(self, fd: int) -> bool:
        try:
            data = os.read(fd, CHUNK)
        except BlockingIOError:
            return False
        if data:
            self._store(self._open[fd], data)
            if len(data) == CHUNK:
                self._poll.has_more(fd)
            return True
        self._poll.unregister(fd)
        del self._open[fd]
        return False

    def _store(self, stream: str, data: bytes) -> None:
        capture = self._captures[stream]
        if self._turns:
            self._turns.note(stream, capture.seen)
        capture.write(data)

    def _reap(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake, CHUNK)
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                if pid == self._pid:
                    self._exit = status
                    self._close_exit_fd()
        self._childless = True

    def _close_exit_fd(self) -> None:
        if self._exit_fd is not None:
            self._poll.unregister(self._exit_fd)
            os.close(self._exit_fd)
            self._exit_fd = None

    def _alone(self) -> bool:
        """A subreaper without children has no descendants; elsewhere the table has to be searched."""
        return self._childless and (HAS_SUBREAPER or not tree.marked(self._mark))

    def _strays(self) -> list[process_table.Process]:
        found = tree.descendants(os.getpid())
        return found if HAS_SUBREAPER else found + tree.marked(self._mark)

    def _end_tree(self, grace: float) -> None:
        if self._alone():
            return
        self._heed_children()
        if grace:
            tree.send(signal.SIGTERM, self._strays())
            if self._pump(time.monotonic() + grace, self._alone):
                return
        else:
            # Else one of them could still act on the end of another.
            tree.freeze(self._strays)
        give_up = time.monotonic() + KILL_SECONDS
        while time.monotonic() < give_up:
            tree.kill(self._strays())
            if self._pump(time.monotonic() + KILL_ROUND_SECONDS, self._alone):
                return
        self._survivors = [process.pid for process in self._strays()]

    def _drain(self) -> None:
        """Take what is left in the pipes, as it came, without waiting for whoever may still hold them open."""
        for fd in self._poll.ready(0):
            if fd in self._open:
                self._take(fd)
        for fd in list(self._open):
            for _ in range(DRAIN_READS):
                if not self._take(fd):
                    break

    def _status(self, reason: str, text: str) -> dict[str, Any]:
        code = None if self._exit is None else os.waitstatus_to_exitcode(self._exit)
        streams = {
            name: {"seen": capture.seen, "kept": capture.kept, "fault": capture.fault}
            for name, capture in self._captures.items()
        }
        return {
            "reason": reason,
            "exit_code": code if code is not None and code >= 0 else None,
            "signal": -code if code is not None and code < 0 else None,
            "text": text,
            "started_at": self._started_at,
            "ended_at": time.time(),
            "survivors": self._survivors,
            **streams,
        }


def _refusal(launch: dict[str, Any], found: str, stdin: int | None) -> str:
    """Why a command must not run that is not what somebody allowed, or not where its paths led when it was called."""
    if not launch.get("allowed") and not launch.get("leads_to"):
        return ""
    from sayso.running import recheck  # only for those that need it: no other command pays for it

    refused = recheck.refusal(launch, found, stdin) if launch.get("allowed") else ""
    return refused or recheck.astray(launch.get("leads_to") or {})


def say(line: socket.socket, text: bytes) -> None:
    """Say one word to whoever is at the other end, if anyone still is."""
    with contextlib.suppress(OSError):
        line.sendall(text + b"\n")


def _is_deserted(line: socket.socket) -> bool:
    """Whether nobody is there any more who could see the command through."""
    try:
        return not line.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True


def _noted(*_: object) -> None:
    """A signal that only has to wake the poll."""
