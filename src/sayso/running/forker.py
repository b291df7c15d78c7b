"""The spawner's process: forks a runner for every byte it is sent, and hands over the line to it.

Single-threaded and small, so that a fork is cheap and safe whatever the server has become. It ends when the server
does; runners that are at work go on without it.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import struct
import sys

from sayso.running import runner

BORN = struct.Struct("=i")
"""What comes back for a byte: the pid of a runner, with the line to it, or a negative errno."""


def main() -> None:
    """Serve the control line whose file descriptor is the last argument."""
    control = socket.socket(fileno=int(sys.argv[-1]))
    control.set_inheritable(False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.disable()
    gc.freeze()
    # Endless on purpose: this process lives exactly as long as the server holds the other end.
    while asked := control.recv(256):
        for _ in asked:
            _fork_runner(control)


def _fork_runner(control: socket.socket) -> None:
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
            runner.serve(theirs)
        socket.send_fds(control, [BORN.pack(pid)], [ours.fileno()])
