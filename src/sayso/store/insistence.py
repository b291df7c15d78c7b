"""Work that must get into the store, tried again for as long as the store is full or away."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from sayso.errors import StoreError

T = TypeVar("T")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0
"""Seconds until it is tried again: the first time, and the most that this grows to."""


async def insistently(work: Callable[[], Awaitable[T]], on_trouble: Callable[[StoreError], None]) -> T:
    """What comes of it once the store takes it. Endless until cancelled; each failure is told."""
    pause = _FIRST_PAUSE
    while True:
        try:
            return await work()
        except StoreError as error:
            on_trouble(error)
        await anyio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
