"""The wall clock of the processes of a proof: Python loads this at their start, and it adds what a file says.

Nothing of Sayso knows of it. Only the wall clock jumps, as on a real machine: what is measured by the monotonic one is
not touched.
"""

from __future__ import annotations

import mmap
import os
import struct
import time

_FILE = os.environ.get("PROOF_CLOCK", "")


def _shift() -> None:
    with open(_FILE, "rb") as file:
        ahead = mmap.mmap(file.fileno(), 8, access=mmap.ACCESS_READ)
    seconds, nanoseconds = time.time, time.time_ns
    time.time = lambda: seconds() + struct.unpack("q", ahead)[0]
    time.time_ns = lambda: nanoseconds() + struct.unpack("q", ahead)[0] * 1_000_000_000


if _FILE:
    _shift()
