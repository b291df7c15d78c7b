"""Transactions of every kind of store: what is noted is there at once, and nobody who looks waits for who writes."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.conftest import OpenStore

from sayso.errors import NotFound
from sayso.store import Store, Transaction
from sayso.store.sqlite import SqliteStore

WAIT = 60


def claim(tx: Transaction) -> int:
    return tx.run("claim", key="mine", now=1)


def is_claimed(store: Store) -> bool:
    """Whether somebody has claimed it; nothing is kept of the look."""

    def work(tx: Transaction) -> None:
        raise NotFound(str(claim(tx)))

    with pytest.raises(NotFound) as told:
        store.write(work)
    return str(told.value) == "0"


def test_what_is_noted_is_seen_by_others_at_once_who_are_woken_and_a_failure_leaves_nothing(
    open_shared: OpenStore,
) -> None:
    store, other = open_shared(), open_shared()
    bell = other.bell()

    def fail(tx: Transaction) -> None:
        claim(tx)
        raise NotFound("no")

    with pytest.raises(NotFound):
        store.note(fail)
    assert not is_claimed(other)
    assert store.note(claim) == 1
    assert bell.wait(WAIT)
    assert is_claimed(other)


def test_after_a_note_whatever_became_of_it_answers_are_as_durable_as_before(tmp_path: Path) -> None:
    levels: list[int] = []

    def level(tx: Transaction) -> None:
        connection = tx._connection  # type: ignore[attr-defined]
        levels.append(connection.execute("PRAGMA synchronous").fetchone()[0])
        if len(levels) == 2:
            raise NotFound("no")

    store = SqliteStore(tmp_path / "sayso.db")
    store.note(level)
    with pytest.raises(NotFound):
        store.note(level)
    store.write(level)
    store.close()
    assert levels == [1, 1, 2]


def test_who_looks_does_not_wait_for_who_writes_and_sees_what_was_there_before(open_shared: OpenStore) -> None:
    store, writing, looked = open_shared(), threading.Event(), threading.Event()

    def write(tx: Transaction) -> bool:
        tx.run("put_meta_once", key="slow", value="1")
        writing.set()
        return looked.wait(WAIT)

    def look() -> str:
        row = store.read(lambda tx: tx.one("meta", key="slow"))
        return row["value"] if row else ""

    with ThreadPoolExecutor() as threads:
        written = threads.submit(store.write, write)
        assert writing.wait(WAIT)
        try:
            assert threads.submit(look).result(WAIT) == ""
        finally:
            looked.set()
        assert written.result(WAIT)
    assert look() == "1"
