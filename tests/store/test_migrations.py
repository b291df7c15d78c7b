"""A store is brought up to date when it is opened: whole or not at all, once, and never back."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import psycopg
import pytest
from tests.asks.samples import ask
from tests.conftest import OpenStore
from tests.postgres import Server

from sayso.accounts import Accounts
from sayso.asks.desk import AskDesk
from sayso.clock import now_ms
from sayso.errors import StoreError, StoreTooNew
from sayso.permissions.desk import PermissionDesk
from sayso.store import Store
from sayso.store.postgres import PostgresStore, looks_into_json
from sayso.store.sqlite import SqliteStore
from sayso.store.store import migrations, newest, queries, schema, statements, tables

SCHEMA_1 = Path(__file__).with_name("schema_1.sql")

OFTEN = 10
"""A query that has been asked so often is kept ready by a connection to PostgreSQL."""

NEXT = """
-- A comment; with a semicolon.
ALTER TABLE asks ADD COLUMN mood TEXT;
UPDATE asks SET mood = 'calm';
"""

IN_THE_WAY_TWICE = """
CREATE FUNCTION get_in_the_way() RETURNS BIGINT LANGUAGE plpgsql AS $$
BEGIN
    IF nextval('tries') < 3 THEN
        RAISE deadlock_detected;
    END IF;
    RETURN 0;
END
$$
"""


@pytest.fixture
def open_fresh(request: pytest.FixtureRequest, tmp_path: Path, postgres: Server) -> Iterator[OpenStore]:
    """Opens one store again and again, in a database whose tables the test may change."""
    with ExitStack() as opened:
        address = opened.enter_context(postgres.new_database()) if request.param == "postgres" else None

        def open_it() -> Store:
            store: Store = PostgresStore(address) if address else SqliteStore(tmp_path / "sayso.db")
            opened.callback(store.close)
            return store

        yield open_it


both = pytest.mark.parametrize("open_fresh", ["sqlite", "postgres"], indirect=True)


@both
def test_an_older_store_is_brought_up_to_date_with_what_is_in_it(
    open_fresh: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = AskDesk(open_fresh()).leave(ask())
    _add_migration(monkeypatch, NEXT)
    store = open_fresh()
    assert AskDesk(store).get(left.id) == left
    assert _mood(store, left.id) == "calm"
    assert _version(store) == str(newest())


@both
def test_a_migration_that_fails_leaves_the_store_as_it_was(
    open_fresh: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = AskDesk(open_fresh()).leave(ask())
    with monkeypatch.context() as patched:
        _add_migration(patched, NEXT + "UPDATE nowhere SET mood = 'bad';")
        with pytest.raises(StoreError, match="nowhere"):
            open_fresh()
    store = open_fresh()
    assert _version(store) == str(newest())
    assert "mood" not in store.read(lambda tx: tx.all("ask_by_id", id=left.id))[0]


@both
def test_many_who_open_an_older_store_at_once_bring_it_up_to_date_once(
    open_fresh: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_fresh()
    _add_migration(monkeypatch, "CREATE TABLE again (n INTEGER)")
    start, stores = threading.Barrier(8), list[Store]()

    def open_it() -> None:
        start.wait(25)
        stores.append(open_fresh())

    threads = [threading.Thread(target=open_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [_version(store) for store in stores] == [str(newest())] * 8


def test_a_migration_that_others_at_work_got_in_the_way_of_is_done_again(
    postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL breaks off one of those who wait for each other's tables, and it may be the newcomer."""
    with postgres.new_database() as address:
        PostgresStore(address).close()
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("CREATE SEQUENCE tries")
            connection.execute(IN_THE_WAY_TWICE)
        _add_migration(monkeypatch, f"{NEXT}SELECT get_in_the_way()")
        with closing(PostgresStore(address)) as store:
            assert _version(store) == str(newest())


@both
@pytest.mark.parametrize("way", ["one", "all", "read", "write", "note"])
def test_a_store_that_is_open_goes_on_when_a_newer_program_adds_columns(
    open_fresh: OpenStore, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    store = open_fresh()
    left = AskDesk(store).leave(ask()).id

    def words() -> str:
        match way:
            case "one":
                row = store.one("ask_by_id", id=left)
            case "all":
                row = store.all("ask_by_id", id=left)[0]
            case _:
                row = getattr(store, way)(lambda tx: tx.one("ask_by_id", id=left))
        return str(row and row["id"])

    for _ in range(OFTEN):
        assert words() == left
    with monkeypatch.context() as patched:
        _add_migration(patched, NEXT)
        open_fresh()
    assert [words() for _ in range(OFTEN)] == [left] * OFTEN


@both
def test_people_are_known_to_a_program_that_goes_on_when_a_newer_one_adds_columns(
    open_fresh: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_fresh()
    accounts, permissions = Accounts(store), PermissionDesk(AskDesk(store))
    accounts.add_user("ada")
    accounts.add_user("grace")
    permissions.delegate("ada", "grace", now_ms() + 60_000)
    with monkeypatch.context() as patched:
        _add_migration(patched, "".join(f"ALTER TABLE {table} ADD COLUMN later TEXT;" for table in tables()))
        open_fresh()
    assert [user.name for user in accounts.users()] == ["ada", "grace"]
    assert [each.delegate for each in permissions.delegations()] == ["grace"]


@both
def test_a_store_that_a_newer_program_wrote_is_refused_and_left_as_it_is(
    open_fresh: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = newest()
    with monkeypatch.context() as patched:
        _add_migration(patched, NEXT)
        newer = open_fresh()
        left = AskDesk(newer).leave(ask())
    with pytest.raises(StoreTooNew) as raised:
        open_fresh()
    assert f"has schema version {known + 1}, this Sayso knows up to {known}. Upgrade Sayso here" in str(raised.value)
    assert _version(newer) == str(known + 1)
    assert AskDesk(newer).inbox() == [left]


def test_the_migrations_lead_from_the_first_schema_to_the_one_of_a_new_store(postgres: Server) -> None:
    """Until there is a migration, the first schema is the one of a new store."""
    if migrations():
        assert SCHEMA_1.exists(), f"Keep the schema as it was at version 1 as {SCHEMA_1.name} beside this test."
    first = statements(SCHEMA_1.read_text(encoding="utf-8")) if migrations() else schema()
    migrated = [*first, *(statement for step in migrations().values() for statement in statements(step))]
    assert _sqlite_shape(migrated) == _sqlite_shape(schema())
    assert _postgres_shape(postgres, migrated) == _postgres_shape(postgres, schema())


@pytest.mark.parametrize(
    "difference", ["ALTER TABLE asks ADD COLUMN mood TEXT", "CREATE INDEX more ON asks (state)", "DROP TABLE drafts"]
)
def test_a_difference_between_two_schemas_is_noticed(difference: str) -> None:
    assert _sqlite_shape([*schema(), difference]) != _sqlite_shape(schema())


def test_migrations_are_numbered_without_a_gap_and_follow_the_first_schema() -> None:
    assert list(migrations()) == list(range(2, newest() + 1))


def test_every_query_runs_on_a_new_store_of_either_kind(postgres: Server) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in schema():
            connection.execute(statement)
        for query in queries().values():
            connection.execute(f"EXPLAIN {query}", dict.fromkeys(re.findall(r":(\w+)", query)))
    with postgres.new_database() as address:
        PostgresStore(address).close()
        with psycopg.connect(address, autocommit=True) as checked:
            for name, query in queries().items():
                numbered = re.sub(r"(?<!:):([a-z_]+)", _Numbers(), looks_into_json(query))
                checked.execute(f"PREPARE query_{name} AS {numbered}".encode())


class _Numbers:
    """Writes each named parameter as the number it has in a prepared statement."""

    def __init__(self) -> None:
        self._seen: list[str] = []

    def __call__(self, match: re.Match[str]) -> str:
        if match[1] not in self._seen:
            self._seen.append(match[1])
        return f"${self._seen.index(match[1]) + 1}"


def _add_migration(monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    all_of_them = {**migrations(), newest() + 1: sql}
    monkeypatch.setattr("sayso.store.store.migrations", lambda: all_of_them)


def _version(store: Store) -> str:
    return str(store.read(lambda tx: tx.all("meta", key="schema_version"))[0]["value"])


def _mood(store: Store, ask_id: str) -> str:
    return str(store.read(lambda tx: tx.all("ask_by_id", id=ask_id))[0]["mood"])


def _sqlite_shape(script: list[str]) -> set[tuple[object, ...]]:
    """Every column and index of the tables that a script makes, whatever their order and spelling."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in script:
            connection.execute(statement)
        return set(
            connection.execute(
                'SELECT t.name, c.name, c.type, c."notnull", c.dflt_value, c.pk FROM sqlite_master t '
                "JOIN pragma_table_info(t.name) c WHERE t.type = 'table'"
            )
        ) | {
            (name, re.sub(r"\s+", " ", sql))
            for name, sql in connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql > ''")
        }


def _postgres_shape(server: Server, script: list[str]) -> set[tuple[object, ...]]:
    with server.new_database() as address, psycopg.connect(address, autocommit=True) as connection:
        for statement in script:
            connection.execute(statement.encode())
        columns = connection.execute(
            "SELECT table_name, column_name, data_type, is_nullable, column_default "
            "FROM information_schema.columns WHERE table_schema = 'public'"
        ).fetchall()
        indexes = connection.execute("SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'")
        return {*columns, *indexes.fetchall()}
