"""What every measuring program prints: where and when it was measured, and tables that read well in a terminal and as
Markdown. Each program has a `main` that prints such tables; `bench/report.py` runs them and keeps what they print."""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import sqlite3
import statistics
from collections.abc import Callable, Coroutine, Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from sayso import __version__

PACKAGES = ("mcp", "anyio", "pydantic")
ROUNDS = 100
"""Of a program that measures ways beside each other, unless another number is wanted."""


def setting() -> str:
    """The machine, the versions and the date, in two lines. Never a host's name."""
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    kernel = ".".join(platform.release().split(".")[:2])
    machine = f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()} {kernel}{load}"
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    programs = f"Sayso {__version__}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {packages}"
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {machine}\n{programs}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table with columns of even width; all but the first are aligned to the right."""
    lines = [list(head), *([*row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    first, *others = [_row(line, widths) for line in lines]
    rule = "|".join(["", "-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:]), ""])
    return "\n".join([first, rule, *others])


def print_ways(
    description: str, measured: Callable[[int], Coroutine[Any, Any, Sequence[Sequence[float]]]], *ways: str
) -> None:
    """The `main` of a program that measures ways beside each other: as many rounds as is wanted, then a table with the
    seconds that each way took."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    samples = asyncio.run(measured(parser.parse_args().rounds))
    print(setting())
    rows = [_way(what, taken) for what, taken in zip(ways, samples, strict=True)]
    print(f"\n{table(['on the way', 'least ms', 'p50 ms', 'p95 ms'], rows)}")


def _way(what: str, samples: Sequence[float]) -> list[str]:
    cuts = statistics.quantiles(samples, n=20)
    return [what, *(f"{seconds * 1000:.1f}" for seconds in (min(samples), statistics.median(samples), cuts[-1]))]


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    others = [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
    return f"| {' | '.join([cells[0].ljust(widths[0]), *others])} |"


def ratio(value: float, unit: float) -> str:
    return f"{value / unit:.2f}x" if value / unit < 10 else f"{value / unit:.0f}x"
