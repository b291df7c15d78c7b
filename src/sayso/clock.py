"""What time it is: in milliseconds since 1970, as every row of the store has it. A clock is a function, so that tests
can stand still."""

from __future__ import annotations

import time
from collections.abc import Callable

Clock = Callable[[], int]

MOST_APART = 5_000
"""Milliseconds by which clocks of machines that share a store may differ before somebody is told."""
FAR_FUTURE = 2**62
"""After every moment: where a list of the newest begins."""


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def ticks_ms() -> int:
    """Milliseconds since some moment of this process, for how long something took: nobody sets this clock."""
    return time.monotonic_ns() // 1_000_000
