"""The store: the one meeting point of all processes. SQL lives only in this package."""

from pathlib import Path

from sayso.config import STORES, Config, unknown_store
from sayso.errors import ConfigError
from sayso.store.bell import Bell
from sayso.store.store import Row, Store, Transaction, tables

__all__ = ["Bell", "Row", "Store", "Transaction", "has_our_tables", "open_file", "open_store", "tables"]


def open_store(config: Config) -> Store:
    """The store that the settings name."""
    if not config.store:
        from sayso.store.sqlite import SqliteStore

        return SqliteStore(config.database, config.bell_dir)
    if not config.store.startswith(STORES):
        raise ConfigError(unknown_store(config.sources.get("store", "store"), config.store))
    from sayso.store.postgres import PostgresStore

    return PostgresStore(config.store)


def open_file(file: Path) -> Store:
    """A store that is one file by itself: made if it is not there, brought up to date if it is."""
    from sayso.store.sqlite import SqliteStore

    return SqliteStore(file)


def has_our_tables(file: Path) -> bool:
    """Whether a file that was opened as a store is one in all its parts."""
    from sayso.store import sqlite

    return sqlite.has_our_tables(file)
