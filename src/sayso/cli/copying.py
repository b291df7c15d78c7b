"""What is said of a whole store while it is copied, and after: for `sayso backup` and `sayso restore`."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from sayso.backup import COUNTED, Count, Progress
from sayso.cli.texts import plural, tr

_WAIT = 1.0
"""Seconds after which it is shown that something happens."""


def counted(rows: Count) -> str:
    """How much there is of what people know."""
    told = {
        "asks": plural(rows.get("asks", 0), "1 ask", "{n} asks"),
        "operations": plural(rows.get("operations", 0), "1 command", "{n} commands"),
        "runs": plural(rows.get("runs", 0), "1 turn of an agent", "{n} turns of agents"),
        "projects": plural(rows.get("projects", 0), "1 project", "{n} projects"),
        "users": plural(rows.get("users", 0), "1 user", "{n} users"),
        "tokens": plural(rows.get("tokens", 0), "1 token", "{n} tokens"),
        "permission_log": plural(rows.get("permission_log", 0), "1 entry of the log", "{n} entries of the log"),
    }
    return ", ".join(text for table, text in told.items() if rows.get(table)) or tr("nothing yet")


def count_data(rows: Count) -> dict[str, int]:
    return {table: rows.get(table, 0) for table in COUNTED}


def _end(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)


@contextmanager
def shown_while_copying() -> Iterator[Progress]:
    """Shows in a terminal how far it is, once it takes longer than a moment. Whoever is told to end meanwhile, or whose
    terminal is closed, leaves no part of a copy behind."""
    began, shown = time.monotonic(), False
    before = {number: signal.signal(number, _end) for number in (signal.SIGTERM, signal.SIGHUP)}

    def progress(table: str, number: int) -> None:
        nonlocal shown
        if sys.stderr.isatty() and time.monotonic() - began > _WAIT:
            shown = True
            sys.stderr.write(f"\r{table} {number:,}\x1b[K")
            sys.stderr.flush()

    try:
        yield progress
    finally:
        for number, was in before.items():
            signal.signal(number, was)
        if shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
