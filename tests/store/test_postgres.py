"""What is special about PostgreSQL: its bell, who is alive, a server that goes away, and errors that say why."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from tests.asks.samples import ANNA, RED, ask
from tests.postgres import Server
from tests.store.other import OtherProcess

from sayso.asks.desk import AskDesk
from sayso.asks.model import State
from sayso.clock import now_ms
from sayso.doctor.ground import clock
from sayso.errors import StoreError, StoreFull, StoreReadOnly, StoreUnavailable
from sayso.store import Transaction
from sayso.store.bell import Bell
from sayso.store.postgres import PostgresStore


@pytest.fixture
def store(postgres_address: str) -> Iterator[PostgresStore]:
    store = PostgresStore(postgres_address)
    yield store
    store.close()


def test_a_commit_wakes_another_process(store: PostgresStore, postgres_address: str) -> None:
    with OtherProcess(postgres_address) as other:
        other.do("process")
        other.begin("wait", 25)
        AskDesk(store).leave(ask())
        assert other.result() is True


def test_a_commit_of_another_process_wakes_this_one(store: PostgresStore, postgres_address: str) -> None:
    bell = store.bell()
    with OtherProcess(postgres_address) as other:
        other.do("leave", "Which colour?")
    assert bell.wait(25)
    assert not bell.wait(0)


def test_a_ring_names_whom_it_is_for_or_is_for_everybody(store: PostgresStore) -> None:
    def change(tx: Transaction) -> None:
        tx.run("put_surface", process="1-a", surface="terminal", person="anna", now=1)

    def change_for(tx: Transaction) -> None:
        tx.wake_only("7-b", "8-c")
        change(tx)

    bell = store.bell()
    store.write(change_for)
    assert bell.wait(25)
    assert bell.named == frozenset({"7-b", "8-c"})
    store.write(change)
    assert bell.wait(25)
    assert bell.named is None


def test_what_was_rolled_back_rings_no_bell(store: PostgresStore) -> None:
    def fail(tx: Transaction) -> None:
        tx.run("put_surface", process="1-a", surface="terminal", person="anna", now=1)
        raise RuntimeError

    bell = store.bell()
    with pytest.raises(RuntimeError):
        store.write(fail)
    assert not bell.wait(0)


def test_a_killed_process_is_found_dead_and_its_asks_are_let_go(store: PostgresStore, postgres_address: str) -> None:
    desk = AskDesk(store)
    with OtherProcess(postgres_address) as other:
        ask_id, process = other.do("hold", "Which colour?"), other.do("process")
        assert store.bell().alive([process, "1-never"]) == {process}
        assert desk.release_the_dead() == 0
        other.kill()
    _until_dead(store.bell(), process)
    assert desk.release_the_dead() == 1
    assert desk.get(ask_id).wait is None


def test_the_living_are_told_from_the_dead_while_every_connection_is_in_use(store: PostgresStore) -> None:
    """Each of these calls holds a connection of the store while it asks whether the others' processes are alive."""
    desk = AskDesk(store)
    first = desk.hold(ask())
    start, opened = threading.Barrier(20), set[str]()

    def hold() -> None:
        start.wait(25)
        opened.add(desk.hold(ask()).ask.id)

    threads = [threading.Thread(target=hold) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(opened - {first.ask.id}) == 20


def test_the_bell_comes_back_after_the_server_was_restarted(
    restartable: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.store.postgres.CONNECT_SECONDS", 2)
    with restartable.new_database() as address:
        store, other = PostgresStore(address), PostgresStore(address)
        bell = store.bell()
        held = AskDesk(store).hold(ask())
        assert bell.wait(25)
        restartable.stop()
        assert bell.wait(25), "a lost connection counts as a ring"
        assert bell.wait(0), "and so does every look while it is away"
        with pytest.raises(StoreUnavailable, match=r"does not work"):
            bell.alive(["1-somebody"])
        restartable.start()
        assert bell.wait(0)
        _until_quiet(bell)
        assert AskDesk(other).release_the_dead() == 0, "the process shows again that it lives"
        AskDesk(other).answer(held.ask.id, RED, ANNA)
        assert bell.wait(25)
        assert AskDesk(store).delivered(held).delivered
        other.close()
        store.close()


def test_a_bell_that_cannot_be_hung_is_told_and_hung_once_it_can(restartable: Server) -> None:
    with restartable.new_database() as address:
        store = PostgresStore(address)
        restartable.stop()
        with pytest.raises(StoreUnavailable):
            store.bell()
        restartable.start()
        AskDesk(store).hold(ask())
        assert store.bell().wait(25)
        store.close()


def test_a_server_that_is_not_there_is_told_at_once_and_without_the_password(tmp_path: Path) -> None:
    begun = time.monotonic()
    with pytest.raises(StoreUnavailable) as raised:
        PostgresStore(f"postgresql://anna:s3cret@/shop?host={tmp_path}&password=s3cret")
    assert f"The store at postgresql://{tmp_path}/shop does not work" in str(raised.value)
    assert "Check that the server runs" in str(raised.value)
    assert "s3cret" not in str(raised.value)
    assert time.monotonic() - begun < 9, "the pool would have tried for ten seconds"


@pytest.mark.parametrize("address", ["postgresql://[", "postgresql://h/d?nonsense=s3cret", "postgresql://h:port/d"])
def test_an_address_that_makes_no_sense_is_refused(address: str) -> None:
    with pytest.raises(StoreUnavailable):
        PostgresStore(address)


def test_a_database_that_is_not_there_is_told(postgres: Server) -> None:
    with pytest.raises(StoreUnavailable, match='database "nowhere" does not exist'):
        PostgresStore(postgres.address("nowhere"))


def test_options_of_the_address_are_honoured_so_that_a_read_only_store_says_so(postgres_address: str) -> None:
    PostgresStore(postgres_address).close()
    store = PostgresStore(f"{postgres_address}&options=-cdefault_transaction_read_only%3Don")
    _refuses(store, StoreReadOnly, match="cannot be written: cannot execute INSERT in a read-only transaction")
    store.close()


def test_a_full_disk_is_told_and_leaves_no_half_of_an_ask(postgres: Server) -> None:
    with postgres.new_database() as address:
        store = PostgresStore(address)
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(
                "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS "
                "$$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$"
            )
            connection.execute("CREATE TRIGGER full_disk BEFORE INSERT ON events EXECUTE FUNCTION full_disk()")
        _refuses(store, StoreFull, match="No space is left")
        store.close()


def test_a_server_that_was_restarted_between_two_calls_is_used_again(restartable: Server) -> None:
    with restartable.new_database() as address:
        store = PostgresStore(address)
        left = AskDesk(store).leave(ask())
        restartable.stop()
        restartable.start()
        assert AskDesk(store).answer(left.id, RED, ANNA).state is State.ANSWERED
        store.close()


def _refuses(store: PostgresStore, error: type[StoreError], match: str) -> None:
    with pytest.raises(error, match=match):
        AskDesk(store).hold(ask())
    assert AskDesk(store).inbox() == []
    assert AskDesk(store).held_here() == {}


def _until_dead(bell: Bell, process: str) -> None:
    """The server notices a moment after the system does."""
    deadline = time.monotonic() + 120
    while bell.alive([process]):
        assert time.monotonic() < deadline
        bell.wait(0.02)


def _until_quiet(bell: Bell) -> None:
    deadline = time.monotonic() + 120
    while bell.wait(0.1):
        assert time.monotonic() < deadline


def test_why_no_connection_can_be_made_is_told_and_not_logged_beside(
    restartable: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    restartable.make("closed")
    store = PostgresStore(restartable.address("closed"))
    store.secret("mine")
    with psycopg.connect(restartable.address("postgres"), autocommit=True) as other:
        other.execute("ALTER DATABASE closed ALLOW_CONNECTIONS false")
        other.execute("SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = 'closed'")
    with pytest.raises(StoreUnavailable, match="not currently accepting connections"):
        store.secret("mine")
    store.close()
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(("minutes", "told"), [(0, []), (5, ["ahead of"]), (-5, ["behind"])])
def test_a_clock_that_differs_from_that_of_the_store_is_told(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch, minutes: int, told: list[str]
) -> None:
    monkeypatch.setattr("sayso.store.postgres.now_ms", lambda: now_ms() + minutes * 60_000)
    found = [re.sub(r".* \d+ s | that of the store.*", "", finding.text) for finding in clock(store)]
    assert found == told
