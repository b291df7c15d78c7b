"""Long work in small steps, so that nobody who wants to write waits for the whole of it."""

from __future__ import annotations

import threading
from collections.abc import Callable

STEP = 50
"""Rows in one step: few, because whoever wants to write waits for the step."""

_PAUSE = 0.1
"""Seconds between two steps. Whoever found SQLite busy tries again within that time, so that none is starved."""


def in_steps(step: Callable[[], int], ending: threading.Event) -> int:
    """Do steps of up to `STEP` rows, until one finds fewer to do; the rest is left for another time once `ending` is
    set. How many rows it was."""
    total = 0
    while not ending.is_set():
        done = step()
        total += done
        if done < STEP or ending.wait(_PAUSE):
            break
    return total
