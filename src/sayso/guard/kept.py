"""Runs one program that ends with whoever started this, however they end: `python -m sayso.guard.kept LINE WORDS`.

LINE is a socket that was handed down. Once its other end is closed, the program is ended with all that it started.
"""

from __future__ import annotations

import os
import socket
import sys

from sayso.guard.keeper import KeptProgram


def main() -> int:
    line = socket.socket(fileno=int(sys.argv[1]))
    # What it prints is for whoever started it. This process itself has nothing to say there.
    silence, output = os.open(os.devnull, os.O_RDONLY), os.dup(1)
    return KeptProgram(line).run(sys.argv[2:], dict(os.environ), (silence, output, output))


if __name__ == "__main__":
    sys.exit(main())
