"""What the queries cost: they use their indexes, and asks that ended long ago cost today's nothing."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.postgres import Server

from sayso.store import Transaction
from sayso.store.postgres import PostgresStore, _in_its_style
from sayso.store.sqlite import SqliteStore
from sayso.store.store import queries

FEW, MANY = 100, 100_000
PENDING = 50
OFTEN = (
    "waits_ended",
    "waiting_processes",
    "overdue",
    "expirable",
    "alike",
    "late_answers",
    "anything_owed",
    "undelivered",
)
"""What is asked with every call, or after every ring."""

OF_A_PERSON = ("inbox_attended_of", "inbox_unattended_of", "crowds_of", "roster_of")
"""What is asked for each person that looks on, after every ring."""

INBOX = {
    "project": None,
    "awake_for": "ada",
    "now": 5,
    "pattern": None,
    "put_by": None,
    "of_client": "",
    "of_project": "",
    "after_time": -1,
    "after_id": "",
    "most": 20,
}
PARAMETERS: dict[str, dict[str, object]] = {
    "inbox_attended": {**INBOX, "few": 5},
    "inbox_unattended": {**INBOX, "few": 5},
    "inbox_attended_of": {**INBOX, "person": "ada", "few": 5},
    "inbox_unattended_of": {**INBOX, "person": "ada", "few": 5},
    "history": {
        "project": None,
        "person": None,
        "pattern": None,
        "most": 20,
        "before_time": 2**62,
        "before_id": "",
        "after_time": -1,
        "after_id": "",
    },
    "history_block_with": {"time": 10**12, "id": "ended-1"},
    "alike": {"fingerprint": "fingerprint-1"},
    "waits_ended": {"process": "1-a"},
    "held_by": {"process": "1-a", "most": 20},
    "waiting_processes": {},
    "crowds": {"awake_for": "ada", "now": 5, "few": 5},
    "crowds_of": {"person": "ada", "awake_for": "ada", "now": 5, "few": 5},
    "roster_of": {"person": "ada"},
    "snoozes_of": {"person": "ada", "now": 5},
    "open_asks_of": {"put_by": "agent-1"},
    "inbox_size": {},
    "open_askers": {"host": "h"},
    "open_by_session": {},
    "open_by_session_of": {"person": "ada"},
    "inbox_versions": {},
    "asks_by_state": {},
    "undelivered_of_session": {"agent": "", "client": "an-agent", "project": "/p", "host": "h", "named": "%x%"},
    "undelivered": {"agent": "", "client": "an-agent", "project": "/p", "host": "h", "most": 20},
    "late_answers": {"agent": "", "client": "an-agent", "project": "/p", "host": "h", "most": 20},
    "anything_owed": {"agent": "", "client": "an-agent", "project": "/p", "host": "h"},
    "asks_of_run": {"run_id": "run-1", "tool": "tool"},
    "undelivered_of_runs": {"tool": "tool", "most": 20},
    "asks_by_prefix": {"prefix": "pending-1", "beyond": "pending-2"},
    "expirable": {"unattended_before": 5, "most": 20},
    "delete_ended": {"ended_before": 5, "undelivered_before": 5, "most": 20},
    "overdue": {"ended_before": 5, "undelivered_before": 5, "unattended_before": 5, "claimed_before": 5},
}

NUMBERS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {}) SELECT n FROM c"

FILL = """
INSERT INTO asks (id, version, state, call_id, tool, fingerprint, agent, client, project, owner, host, body, words,
                  outcome, wait_id, wait_process, unattended_at, created_at, changed_at, ended_at, delivered_at, put_by)
SELECT {name} || n, 1, {state}, 'call', 'tool', 'fingerprint-' || {name} || n, '', 'an-agent', '/p', {owner}, 'h',
       '{{}}', '', '{{}}', {wait}, {wait}, NULL, {time} + n, n, {ended}, {ended}, {agent} || (n % 7)
FROM ({numbers}) AS numbers
"""


def _fill(numbers: str, name: str) -> str:
    """Rows for asks; the ended ones are older than the pending ones."""
    kinds = {
        "ended": {"state": "'answered'", "wait": "NULL", "time": "0", "ended": "1000000 + n"},
        "pending": {"state": "'pending'", "wait": "'1-a'", "time": "10000000", "ended": "NULL"},
    }
    kinds["others"] = {**kinds["pending"], "owner": "'person-' || (n % 200)", "agent": "'another-'"}
    return FILL.format(numbers=numbers, name=f"'{name}-'", **{"owner": "''", "agent": "'agent-'", **kinds[name]})


def _fill_roster(numbers: str) -> str:
    rows = "SELECT 'id-' || n, 'person-' || (n % 200), '', '{}', '', n, n"
    return f"INSERT INTO roster {rows} FROM ({numbers}) AS numbers"


@pytest.fixture(scope="module", params=[FEW, MANY])
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _sqlite_with(tmp_path_factory.mktemp("plans") / "sayso.db", request.param)


def _sqlite_with(file: Path, ended: int, pending: int = PENDING) -> Path:
    SqliteStore(file).close()
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(_fill(NUMBERS.format(ended), "ended"))
        connection.execute(_fill(NUMBERS.format(pending), "pending"))
    return file


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("inbox_unattended", "asks_inbox_unattended"),
        ("inbox_attended", "asks_inbox_attended"),
        ("inbox_unattended_of", "asks_owners"),
        ("inbox_attended_of", "asks_owners"),
        ("inbox_attended_of", "asks_deciders"),
        ("crowds", "asks_crowds"),
        ("crowds_of", "asks_owners"),
        ("roster_of", "roster_owners"),
        ("open_asks_of", "asks_crowds"),
        ("inbox_size", "asks_owners"),
        ("open_askers", "asks_owners"),
        ("open_by_session", "asks_owners"),
        ("open_by_session_of", "asks_owners"),
        ("open_by_session_of", "asks_deciders"),
        ("asks_by_state", "COVERING INDEX asks_ended"),
        ("history", "asks_ended"),
        ("history_block_with", "history_blocks_times"),
        ("alike", "asks_alike"),
        ("waits_ended", "asks_waits"),
        ("held_by", "asks_waits"),
        ("waiting_processes", "asks_waits"),
        ("undelivered", "asks_undelivered"),
        ("undelivered_of_session", "asks_undelivered"),
        ("late_answers", "asks_late"),
        ("anything_owed", "asks_undelivered"),
        ("expirable", "asks_unattended"),
        ("delete_ended", "asks_ended"),
        ("overdue", "asks_ended"),
        ("overdue", "asks_unattended"),
        ("asks_by_prefix", "sqlite_autoindex_asks_1"),
        ("asks_of_run", "asks_runs"),
        ("undelivered_of_runs", "asks_runs"),
    ],
)
def test_a_query_uses_its_index(file: Path, query: str, index: str) -> None:
    with closing(sqlite3.connect(file)) as connection:
        plan = "\n".join(_plan(connection, queries()[query], PARAMETERS[query]))
    assert index in plan, plan
    assert "SCAN asks\n" not in plan + "\n", plan


def test_every_index_is_used_by_some_query(tmp_path: Path) -> None:
    """One that none uses is written with every change for nothing."""
    SqliteStore(tmp_path / "sayso.db").close()
    with closing(sqlite3.connect(tmp_path / "sayso.db")) as connection:
        made = "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
        indexes = {name for (name,) in connection.execute(made)}
        plans = [step for query in queries().values() for step in _plan(connection, query)]
    assert {name for name in indexes if not any(name in step.split() for step in plans)} == set()


def test_no_query_reads_through_all_asks(tmp_path: Path) -> None:
    with closing(sqlite3.connect(_sqlite_with(tmp_path / "sayso.db", FEW))) as connection:
        plans = {name: _plan(connection, query) for name, query in queries().items()}
    assert not [name for name, plan in plans.items() if "SCAN asks" in plan]


def _plan(connection: sqlite3.Connection, query: str, given: Mapping[str, object] | None = None) -> list[str]:
    values = given or dict.fromkeys(re.findall(r":(\w+)", query))
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", values)]


@pytest.mark.parametrize("query", ["inbox_unattended", "inbox_attended", "history"])
def test_a_page_needs_no_sorting(file: Path, query: str) -> None:
    with closing(sqlite3.connect(file)) as connection:
        plan = _plan(connection, queries()[query], PARAMETERS[query])
    assert not [step for step in plan if "TEMP B-TREE" in step]


@pytest.fixture(scope="module")
def small_and_large(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("costs")
    return _sqlite_with(folder / "few.db", FEW), _sqlite_with(folder / "many.db", MANY)


@pytest.mark.parametrize("query", sorted(PARAMETERS.keys() - {"asks_by_state"}))
def test_a_thousand_times_as_many_ended_asks_cost_the_same(small_and_large: tuple[Path, Path], query: str) -> None:
    few, many = (_steps(file, query) for file in small_and_large)
    assert many < 2 * few, f"{few} steps with {FEW} ended asks, {many} with {MANY}"


@pytest.fixture(scope="module")
def some_and_many(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("pending")
    return _sqlite_with(folder / "some.db", FEW, PENDING), _sqlite_with(folder / "many.db", FEW, 200 * PENDING)


@pytest.mark.parametrize("query", sorted(OFTEN))
def test_two_hundred_times_as_many_pending_asks_cost_the_same(some_and_many: tuple[Path, Path], query: str) -> None:
    some, many = (_steps(file, query) for file in some_and_many)
    assert many < 2 * some, f"{some} steps with {PENDING} pending asks, {many} with {200 * PENDING}"


@pytest.mark.parametrize("query", ["inbox_attended", "inbox_unattended"])
def test_a_page_of_the_inbox_costs_the_same_however_much_else_is_open(
    some_and_many: tuple[Path, Path], query: str
) -> None:
    some, many = (_steps(file, query, few=None) for file in some_and_many)
    assert many < 2 * some, f"{some} steps with {PENDING} pending asks, {many} with {200 * PENDING}"


OTHERS = 200 * PENDING


OF_AN_AGENT = ("late_answers", "anything_owed", "undelivered", "undelivered_of_session")
"""What is asked for an agent that calls."""


@pytest.mark.parametrize("query", OF_AN_AGENT)
def test_ten_thousand_agents_with_other_tokens_cost_an_agent_nothing(
    alone_and_among_many: tuple[Path, Path], query: str
) -> None:
    alone, among = (_steps(file, query) for file in alone_and_among_many)
    assert among < 2 * alone, f"{alone} steps alone, {among} among {OTHERS} with other tokens"


@pytest.fixture(scope="module")
def alone_and_among_many(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("others")
    alone, among = (_sqlite_with(folder / f"{name}.db", FEW) for name in ("alone", "among"))
    with closing(sqlite3.connect(among)) as connection, connection:
        connection.execute(_fill(NUMBERS.format(OTHERS), "others"))
        connection.execute("UPDATE asks SET agent = put_by, created_at = -created_at WHERE id LIKE 'others-%'")
        connection.execute(_fill_roster(NUMBERS.format(OTHERS)))
    return alone, among


@pytest.mark.parametrize("query", OF_A_PERSON)
def test_ten_thousand_agents_of_others_cost_a_person_nothing(
    alone_and_among_many: tuple[Path, Path], query: str
) -> None:
    alone, among = (_steps(file, query) for file in alone_and_among_many)
    assert among < 2 * alone, f"{alone} steps alone, {among} among {OTHERS} of others"


def _steps(file: Path, query: str, **otherwise: object) -> int:
    """How many instructions of SQLite's machine the query takes."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    with closing(sqlite3.connect(file)) as connection:
        connection.set_progress_handler(count, 1)
        connection.execute(queries()[query], {**PARAMETERS[query], **otherwise}).fetchall()
        connection.rollback()
    return steps


@pytest.fixture(scope="module")
def addresses(postgres: Server) -> Iterator[tuple[str, str]]:
    with postgres.new_database() as few, postgres.new_database() as many:
        for address, ended in ((few, FEW), (many, MANY)):
            PostgresStore(address).close()
            with psycopg.connect(address, autocommit=True) as connection:
                connection.execute(_fill(f"SELECT generate_series(1, {ended}) AS n", "ended").encode())
                connection.execute(_fill(f"SELECT generate_series(1, {PENDING}) AS n", "pending").encode())
                connection.execute("VACUUM ANALYZE asks")
        yield few, many


@pytest.mark.parametrize(
    "query", ["inbox_unattended", "inbox_attended", "history", "alike", "waits_ended", "undelivered"]
)
def test_they_cost_the_same_on_postgresql(addresses: tuple[str, str], query: str) -> None:
    few, many = (_pages_read(address, query) for address in addresses)
    assert many <= few + 30, f"{few} pages with {FEW} ended asks, {many} with {MANY}"


@pytest.fixture(scope="module")
def pages_read(postgres: Server) -> dict[str, dict[str, int]]:
    """For each of a person's queries: with nobody else, with many others of whom PostgreSQL does not know yet, and when
    it does. What has ended says nothing to it about who owns what is open."""
    many = f"SELECT generate_series(1, {OTHERS}) AS n"
    with postgres.new_database() as address:
        PostgresStore(address).close()
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(_fill(f"SELECT generate_series(1, {PENDING}) AS n", "pending").encode())
            alone = {query: _pages_read(address, query) for query in OF_A_PERSON}
            connection.execute(_fill(f"SELECT generate_series(1, {5 * OTHERS}) AS n", "ended").encode())
            connection.execute(_fill(many, "others").encode())
            connection.execute(_fill_roster(many).encode())
            unknown = {query: _pages_read(address, query) for query in OF_A_PERSON}
            connection.execute("VACUUM ANALYZE asks")
            connection.execute("VACUUM ANALYZE roster")
        known = {query: _pages_read(address, query) for query in OF_A_PERSON}
    return {query: {"alone": alone[query], "unknown": unknown[query], "known": known[query]} for query in OF_A_PERSON}


@pytest.mark.parametrize("query", OF_A_PERSON)
def test_ten_thousand_agents_of_others_cost_a_person_nothing_on_postgresql(
    pages_read: dict[str, dict[str, int]], query: str
) -> None:
    pages = pages_read[query]
    assert max(pages["unknown"], pages["known"]) <= pages["alone"] + 30, pages


def test_a_look_up_is_planned_for_its_own_values_and_nothing_after_it(addresses: tuple[str, str]) -> None:
    """A plan for any values would read through all that has ended, from the tenth search on."""
    with closing(PostgresStore(addresses[1])) as store:

        def setting(tx: Transaction, looks_up: bool) -> str:
            if looks_up:
                tx.look_up()
            connection: Any = vars(tx)["_connection"]
            return str(connection.execute("SHOW plan_cache_mode").fetchone()["plan_cache_mode"])

        told = [store.read(partial(setting, looks_up=looks_up)) for looks_up in (True, False)]
    assert told == ["force_custom_plan", "auto"]


def _pages_read(address: str, query: str) -> int:
    """How many pages of its buffers PostgreSQL touches for the query."""
    explained = b"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + _in_its_style(query)
    with psycopg.connect(address) as connection:
        row: Any = connection.execute(explained, PARAMETERS[query]).fetchone()
    plan = row[0] if isinstance(row[0], list) else json.loads(row[0])
    return int(plan[0]["Plan"]["Shared Hit Blocks"] + plan[0]["Plan"]["Shared Read Blocks"])
