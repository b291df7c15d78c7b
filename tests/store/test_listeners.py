"""Several parts of one process may listen to its one bell: each of them hears every ring."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sayso.store.bell import Listener
from sayso.store.sqlite import SqliteStore

WAIT = 10.0
RINGS = 50


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "sayso.db")
    yield store
    store.close()


class Ear:
    """Hears a bell and lets a test wait for that."""

    def __init__(self, store: SqliteStore) -> None:
        self._heard = threading.Event()
        self._listener = Listener(store.bell(), self._heard.set)

    def heard(self) -> bool:
        """Whether it rang within a bounded time; a listener that only looks by itself would need a second each."""
        found = self._heard.wait(WAIT)
        self._heard.clear()
        return found

    def close(self) -> None:
        self._listener.close()


def _ring(store: SqliteStore, name: str) -> None:
    store.claim(name, 0)


def test_every_listener_of_a_bell_hears_every_ring(store: SqliteStore) -> None:
    ears = [Ear(store) for _ in range(3)]
    for number in range(RINGS):
        _ring(store, str(number))
        heard = [ear.heard() for ear in ears]
        assert all(heard), f"ring {number} was lost"
    for ear in ears:
        ear.close()


def test_a_listener_that_leaves_does_not_deafen_the_others(store: SqliteStore) -> None:
    leaving, staying = Ear(store), Ear(store)
    leaving.close()
    _ring(store, "one")
    assert staying.heard()
    staying.close()


def test_a_bell_is_listened_to_again_after_the_last_listener_has_left(store: SqliteStore) -> None:
    Ear(store).close()
    again = Ear(store)
    _ring(store, "one")
    assert again.heard()
    again.close()
