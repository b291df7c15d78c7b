"""An agent that others have started and share, on a socket of theirs: the same face as a process of our own has
(`agent_process.py`). It is joined and left, never started or ended."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from pathlib import Path

from sayso.gates.websocket import WebSocket


class SharedAgent:
    """OSError where it is not there."""

    input = -1
    wants_room = False
    """What it is told is sent at once, or not at all."""

    def __init__(self, path: Path) -> None:
        self._line = WebSocket(path)
        self.output = self._line.fileno()
        self.pid = _peer(self.output)
        self.has_ended = False

    def send(self, line: bytes) -> bool:
        try:
            self._line.send(line.decode().strip())
        except OSError:
            self.has_ended = True
        return not self.has_ended

    def flush(self) -> None:
        """Nothing is ever left to be sent."""

    def read(self) -> Iterator[bytes]:
        """The messages that have come by now."""
        try:
            for text in self._line.read():
                yield text.encode()
        except OSError:
            self.has_ended = True

    def end(self) -> int:
        """Leave it. It goes on."""
        self._line.close()
        return 0


def _peer(fd: int) -> int:
    """The process at the other end; 0 where the system does not tell."""
    if not hasattr(socket, "SO_PEERCRED"):
        return 0
    with socket.fromfd(fd, socket.AF_UNIX, socket.SOCK_STREAM) as line:
        pid, _, _ = struct.unpack("3i", line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    return int(pid)
