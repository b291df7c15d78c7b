"""Runners: processes forked ahead of need, each of which takes one launch, sees the command through, leaves its status.

The process that forks them is single-threaded and small, so that a fork is cheap and safe whatever the server has
become; it ends when the server does, and runners at work go on. A runner leads its own session and adopts every orphan
of the command. Stdlib only, and little of it. What happens to the command meanwhile is in command.py.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import select
import signal
import socket
import struct
import sys

from sayso.running import record
from sayso.running.command import CHUNK, HAS_SUBREAPER, RunningCommand, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

BORN = struct.Struct("=i")
"""What comes back for a byte: the pid of a runner, with the line to it, or a negative errno."""

FORK, COMPARE, CONFINE = b"+", b"=", b"#"
"""What is said over the control line: one more runner, or that those to come will have to compare what was allowed, or
to keep commands in a sandbox."""

PR_SET_CHILD_SUBREAPER = 36

LINGER_SECONDS = 0.01
"""How long a runner that has said the end stays, unless it hears from the server: to take it down and to fork the next
takes processor time, which whoever waits for the end needs just then."""

REHEARSAL = {
    "folder": os.devnull,
    "argv": ["true"],
    "cwd": "/",
    "env": {"PATH": os.defpath},
    "stdin": False,
    "timeout_seconds": 1.0,
    "grace_seconds": 1.0,
    "stop_grace_seconds": 1.0,
    "max_bytes": 1024,
}

_libc = ctypes.CDLL(None) if HAS_SUBREAPER else None


def main() -> None:
    """Do what each byte says that comes over the control line, whose file descriptor is the last argument."""
    control = socket.socket(fileno=int(sys.argv[-1]))
    control.set_inheritable(False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.disable()
    gc.freeze()
    # Endless on purpose: this process lives exactly as long as the server holds the other end.
    while asked := control.recv(256):
        for byte in asked:
            if byte == COMPARE[0]:
                _learn_to_compare()
            elif byte == CONFINE[0]:
                _learn_to_confine()
            else:
                _fork(control)


def _learn_to_compare() -> None:
    """Only where something was allowed: no other server pays for it, and each of its runners would."""
    from sayso.running import recheck

    recheck.get_ready()


def _learn_to_confine() -> None:
    """The same for sandboxes."""
    from sayso.running import confined

    confined.get_ready()


def _fork(control: socket.socket) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        try:
            pid = os.fork()
        except OSError as error:
            control.sendall(BORN.pack(-(error.errno or 1)))
            return
        if pid == 0:
            control.close()
            ours.close()
            _serve(theirs)
        socket.send_fds(control, [BORN.pack(pid)], [ours.fileno()])


def _serve(line: socket.socket) -> NoReturn:
    """Be a runner: get ready, wait for the launch, see it through. An end of the line while idle is the end."""
    os.setsid()
    if _libc:
        _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if not select.select([line], [], [], 0)[0]:
        _rehearse()
    _serve_once(RunningCommand(), line)
    select.select([line], [], [], LINGER_SECONDS)
    os._exit(0)


def _serve_once(command: RunningCommand, line: socket.socket) -> None:
    # Endless on purpose: an idle runner lives exactly as long as the server that keeps it.
    message, _, more = _read_line(line)
    if not message:
        return
    launch = json.loads(message)
    try:
        status = command.execute(launch, line, more)
    except Exception as error:
        status = command.fail(error)
    say(line, record.write(launch["folder"], record.STATUS_FILE, status))


def _rehearse() -> None:
    """Run a command that does nothing: what a fork shares is copied at the first touch, which is slow, so touch it."""
    command = RunningCommand()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        say(ours, json.dumps(REHEARSAL).encode())
        _serve_once(command, theirs)
    command.close()


def _read_line(line: socket.socket) -> tuple[bytes, bytes, bytes]:
    parts: list[bytes] = []
    while part := line.recv(CHUNK):
        parts.append(part)
        if b"\n" in part:
            return b"".join(parts).partition(b"\n")
    return b"", b"", b""
