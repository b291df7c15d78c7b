"""New SQLite stores of the tests' own process are copies of one: to make all tables takes five times as long, in every
second test. `tests/store` makes them, and so does every program that finds none."""

from __future__ import annotations

import os
import secrets
import sqlite3
import tempfile
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

import pytest

from sayso.store import sqlite
from sayso.store.sqlite import SqliteStore

_make_private, _connect = sqlite._make_private, sqlite._connect


def copy_them(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sqlite, "_make_private", _copied)
    patch.setattr(sqlite, "_connect", _connected)


def _copied(file: Path) -> None:
    # Not beside the log of a store that is gone: it would be taken for the copy's.
    if not any(file.parent.glob(f"{file.name}*")):
        _put(file)
    _make_private(file)


def _put(file: Path) -> None:
    """All of it at once, unless another process was faster. What goes wrong is for the program to explain."""
    new = file.with_name(secrets.token_hex(8))
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(new, os.O_CREAT | os.O_EXCL, 0o600))
        new.write_bytes(_new_file())
        os.link(new, file)
    new.unlink(missing_ok=True)


def _connected(file: Path | None) -> sqlite3.Connection:
    connection = _connect(file)
    if file is None:
        connection.deserialize(_new_in_memory())
    return connection


@cache
def _new_file() -> bytes:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite, "_make_private", _make_private)
        file = Path(folder) / "sayso.db"
        SqliteStore(file).close()
        return file.read_bytes()


@cache
def _new_in_memory() -> bytes:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite, "_connect", _connect)
        with closing(SqliteStore.in_memory()) as store:
            return store._connection.serialize()
