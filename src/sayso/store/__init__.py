"""The store: the one meeting point of all processes. SQL lives only in this package."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from sayso.config import STORES, Config, unknown_store
from sayso.errors import ConfigError, StoreUnavailable
from sayso.store.bell import Bell
from sayso.store.store import Row, Store, Transaction, tables

__all__ = ["Bell", "Row", "Store", "Transaction", "has_our_tables", "open_file", "open_store", "tables"]

_ROOT = 0


def open_store(config: Config, *, only_looks: bool = False) -> Store:
    """The store that the settings name; a StoreUnavailable where what Sayso keeps would be somebody else's. Whoever
    `only_looks` may also have one that cannot be written."""
    _check_whose(config)
    if not config.store:
        from sayso.store.sqlite import SqliteStore

        return SqliteStore(config.database, config.bell_dir, only_looks=only_looks)
    if not config.store.startswith(STORES):
        raise ConfigError(unknown_store(config.sources.get("store", "store"), config.store))
    from sayso.store.postgres import PostgresStore

    return PostgresStore(config.store)


def _check_whose(config: Config) -> None:
    """Whoever owns the folder or the file reads what is kept there, and changes it. Root looks after what others have,
    and what root has made is as good as one's own."""
    if os.name != "posix" or (me := os.geteuid()) == _ROOT:
        return
    for place in (config.state_dir, config.database):
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            found = os.stat(place)
            if found.st_uid not in (_ROOT, me):
                raise StoreUnavailable(
                    f"{place} belongs to another user, who could read and change what is kept there. Set "
                    "SAYSO_STATE_DIR to a folder of your own."
                )
            if found.st_uid == me and found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX:
                raise StoreUnavailable(
                    f"{place} can be written by everybody, who could change what is kept there. Close it: chmod go= "
                    f"{place}"
                )


def open_file(file: Path) -> Store:
    """A store that is one file by itself: made if it is not there, brought up to date if it is."""
    from sayso.store.sqlite import SqliteStore

    return SqliteStore(file)


def has_our_tables(file: Path) -> bool:
    """Whether a file that was opened as a store is one in all its parts."""
    from sayso.store import sqlite

    return sqlite.has_our_tables(file)
