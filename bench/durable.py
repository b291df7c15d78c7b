"""What keeping something costs at least: a small row that is durable on the disk when its commit returns."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

COMMIT = "one SQLite commit"


class DurableRows:
    """A file of such rows."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE IF NOT EXISTS rows (body TEXT)")

    def commit(self) -> None:
        self._connection.execute("INSERT INTO rows VALUES ('x')")


@contextmanager
def durable_rows(folder: Path) -> Iterator[DurableRows]:
    """Rows in a folder, which says on which disk."""
    with closing(sqlite3.connect(folder / "rows.db", isolation_level=None)) as connection:
        yield DurableRows(connection)
