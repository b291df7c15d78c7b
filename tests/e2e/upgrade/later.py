"""Sayso as a version to come may be: the same program, which adds a column to each table."""

from __future__ import annotations

from sayso.cli import main as sayso
from sayso.store import store

STEP = "".join(f"ALTER TABLE {table} ADD COLUMN later TEXT NOT NULL DEFAULT '';" for table in store.tables())

if __name__ == "__main__":
    known = {**store.migrations(), store.newest() + 1: STEP}
    store.migrations = lambda: known  # type: ignore[assignment]
    sayso()
