"""Several parts of one process may listen to its one bell: each of them hears every ring."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sayso.store import Store, Transaction
from sayso.store.bell import Listener
from sayso.store.postgres import PostgresStore
from sayso.store.socket_bell import bell_folder
from sayso.store.sqlite import SqliteStore

WAIT = 10.0
RINGS = 50


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "sayso.db")
    yield store
    store.close()


@pytest.fixture(params=["sqlite", "postgres"])
def any_store(request: pytest.FixtureRequest) -> Iterator[Store]:
    if request.param == "sqlite":
        yield request.getfixturevalue("store")
        return
    with closing(PostgresStore(request.getfixturevalue("postgres_address"))) as store:
        yield store


class Ear:
    """Hears a bell and lets a test wait for that."""

    def __init__(self, store: Store, about: str = "") -> None:
        self._heard = threading.Event()
        self._listener = Listener(store.bell(), self._heard.set, about=about)

    @property
    def silent(self) -> bool:
        """Whether it has not rung since the last time one asked."""
        rung = self._heard.is_set()
        self._heard.clear()
        return not rung

    def heard(self) -> bool:
        """Whether it rang within a bounded time; a listener that only looks by itself would need a second each."""
        found = self._heard.wait(WAIT)
        self._heard.clear()
        return found

    def close(self) -> None:
        self._listener.close()


def _ring(store: Store, name: str) -> None:
    store.claim(name, 0)


def _ring_for(store: Store, *processes: str) -> None:
    """A change that is news to the waits of these processes only."""

    def work(tx: Transaction) -> None:
        tx.wake_only(*processes)
        tx.run("put_surface", process="1-a", surface="terminal", person="anna", now=1)

    store.write(work)


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


def test_a_ring_that_names_whom_it_concerns_is_passed_over_by_all_others_who_wait(any_store: Store) -> None:
    store = any_store
    surface, mine = Ear(store), Ear(store, store.bell().process)
    passed_over = 0
    for _ in range(RINGS):
        _ring_for(store, "1-somebody")
        assert surface.heard()
        passed_over += mine.silent
    # All but those at which a second was over since the last look.
    assert passed_over > 0
    _ring_for(store, "1-somebody", store.bell().process)
    assert mine.heard()
    _ring(store, "for all")
    assert mine.heard()
    for ear in (surface, mine):
        ear.close()


def test_whoever_is_passed_over_looks_by_itself_before_long(store: SqliteStore) -> None:
    """A ring may be lost among those for others."""
    mine = Ear(store, store.bell().process)
    _ring_for(store, "1-somebody")
    assert mine.heard()
    mine.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the bells of the store hang."""
    return bell_folder(tmp_path / "bell")


def _marks(store: SqliteStore, folder: Path) -> bool:
    return (folder / f"{store.bell().process}.own").exists()


def test_a_process_that_waits_for_its_own_only_is_not_woken_for_others(store: SqliteStore, folder: Path) -> None:
    store.bell()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sleeper:
        sleeper.setblocking(False)
        sleeper.bind(str(folder / "1-sleeper.sock"))
        (folder / "1-sleeper.own").touch()
        _ring_for(store, "1-somebody")
        with pytest.raises(BlockingIOError):
            sleeper.recv(1)
        _ring_for(store, "1-somebody", "1-sleeper")
        assert sleeper.recv(100)
        _ring(store, "for all")
        assert sleeper.recv(100)


def test_a_process_says_beside_its_bell_whether_all_its_listeners_wait_for_their_own(
    store: SqliteStore, folder: Path
) -> None:
    mine = Ear(store, store.bell().process)
    assert _marks(store, folder)
    surface = Ear(store)
    assert not _marks(store, folder), "a surface wants to hear of everything"
    surface.close()
    assert _marks(store, folder)
    mine.close()
    assert not _marks(store, folder)


def test_a_bell_that_few_rings_come_by_is_taken_down_once_its_process_is_dead(tmp_path: Path, folder: Path) -> None:
    with closing(SqliteStore(tmp_path / "sayso.db")) as first:
        first.bell()
        for name in ("1-found.sock", "2-asked.sock"):
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as dead:
                dead.bind(str(folder / name))
            (folder / name).with_suffix(".own").touch()
        assert first.bell().alive(["2-asked"]) == set()
        with closing(SqliteStore(tmp_path / "sayso.db")) as second:
            names = {f"{each.bell().process}.sock" for each in (first, second)}
            assert set(os.listdir(folder)) == names
    assert not folder.exists()
