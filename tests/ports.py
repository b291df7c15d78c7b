"""Ports for servers that tests stop and start again."""

from __future__ import annotations

import errno
import random
import socket

LEAST, MOST = 15_000, 32_000
"""Below those that the system lends to connections, so that none has it while the server is away."""


def lasting_port() -> int:
    """A port of this machine that is free, and stays so."""
    for _ in range(100):
        port = random.randrange(LEAST, MOST)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
            else:
                return port
    raise AssertionError("every port is taken")
