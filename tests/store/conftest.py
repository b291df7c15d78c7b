"""Where the tests of the embedded store keep it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests import memory

from sayso.store import Store
from sayso.store.sqlite import SqliteStore


@pytest.fixture(autouse=True)
def _new_stores_are_copies() -> None:
    """Here they are made: what happens then is what these tests are about."""


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    """A store of each kind, also of that which only tests have."""
    if request.param != "memory":
        yield request.getfixturevalue(f"open_{request.param}")()
        return
    with closing(SqliteStore.in_memory()) as in_memory:
        yield in_memory


@pytest.fixture
def file() -> Iterator[Path]:
    """A store that is not there yet, where the path is short enough for its bells however the tests are run."""
    with tempfile.TemporaryDirectory(prefix="sayso-", dir=memory.SHORT, ignore_cleanup_errors=True) as folder:
        yield Path(folder) / "state" / "sayso.db"
