"""The store for many machines: PostgreSQL by psycopg, used from threads. LISTEN/NOTIFY is the bell."""

from __future__ import annotations

import hashlib
import logging
import re
import select
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, LiteralString, TypeVar

from sayso.clock import now_ms
from sayso.errors import Conflict, StoreError, StoreFull, StoreReadOnly, StoreUnavailable
from sayso.store.bell import LONGEST_RING, LOOK_EVERY, Bell
from sayso.store.store import Ringing, Row, Store, Transaction, newest, queries, schema, steps_from, tables

try:
    import psycopg
    from psycopg import errors as pg
    from psycopg.conninfo import conninfo_to_dict
    from psycopg.pq import TransactionStatus
    from psycopg.rows import dict_row
    from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout
except ImportError as error:
    raise StoreUnavailable(
        "PostgreSQL needs one more package: install Sayso again, with '.[postgres]' for the dot."
    ) from error

# What it would say of every try, each in a line that looks like nobody's, is in the errors that we raise.
logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)

T = TypeVar("T")
Connection = psycopg.Connection[dict[str, Any]]
CHANNEL = "sayso"
TRIES = 50
CONNECT_SECONDS = 10
"""How long to wait for a connection while others use them all, or for a server that does not answer."""
AWAY_SECONDS = 1.0
"""How long to wait while none can be made at all: whoever asks should hear of it."""
_MIGRATION_LOCK = 5_411_907
_KEEP_ALIVE = {"idle": 10, "interval": 5, "count": 3}
"""Seconds, seconds and tries after which each side takes a silent other one for dead."""


class SharedConnections:
    """Connections that threads share. Made when they are needed, and not waited for when none can be made."""

    def __init__(self, address: str, *, most: int) -> None:
        self._failures: list[psycopg.Error] = []
        """Why no connection could be made the last time; another object each time."""
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            address,
            kwargs=_connection_settings(),
            min_size=0,
            max_size=most,
            connection_class=_noting(self._failures),
            # It would try again later and later; whoever wants a connection tries at once, so that it is back at once.
            reconnect_timeout=0,
            configure=_configure,
            check=_check,
            open=True,
        )

    @contextmanager
    def lent(self) -> Iterator[Connection]:
        connection = self._get()
        try:
            with connection:
                yield connection
        finally:
            self._pool.putconn(connection)

    def close(self) -> None:
        self._pool.close()

    def _get(self) -> Connection:
        give_up = time.monotonic() + CONNECT_SECONDS
        while True:
            before = self._failures[-1:]
            try:
                return self._pool.getconn(timeout=AWAY_SECONDS)
            except PoolTimeout:
                if self._failures[-1:] != before:
                    raise self._failures[-1] from None
                if time.monotonic() > give_up:
                    raise


def _noting(failures: list[psycopg.Error]) -> type[Connection]:
    """Connections that leave behind why the last of them could not be made: the pool keeps that to itself."""

    class Noting(psycopg.Connection[dict[str, Any]]):
        @classmethod
        def connect(cls, conninfo: str = "", **given: Any) -> Noting:
            try:
                return super().connect(conninfo, **given)
            except psycopg.Error as error:
                failures[:] = [error]
                raise

    return Noting


def _configure(connection: Connection) -> None:
    # To compile a query takes longer than any of ours, and what `look_up` forbids looks dear enough for it.
    connection.execute("SET jit = off")


def _check(connection: Connection) -> None:
    """Raise where it has been closed. The server says so when it does: where it has not, no round trip is needed."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    if poll.poll(0):
        ConnectionPool.check_connection(connection)


class PostgresTransaction(Ringing):
    """Named queries on one connection, in PostgreSQL's parameter style."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def all(self, query: str, /, **parameters: object) -> list[Row]:
        return list(self._run(query, parameters).fetchall())

    def one(self, query: str, /, **parameters: object) -> Row | None:
        return self._run(query, parameters).fetchone()

    def run(self, query: str, /, **parameters: object) -> int:
        return self._run(query, parameters).rowcount

    def _run(self, query: str, parameters: Mapping[str, object]) -> psycopg.Cursor[dict[str, Any]]:
        try:
            return self._connection.execute(_in_its_style(query), parameters)
        except pg.FeatureNotSupported as error:
            # A newer version has added columns, and what this connection had ready has fewer.
            if self._connection.info.transaction_status != TransactionStatus.IDLE:
                raise Conflict from error  # its end forgets what was ready
            self._connection.execute("DEALLOCATE ALL")
            return self._connection.execute(_in_its_style(query), parameters)

    def rows(self, table: str, /) -> Iterator[Row]:
        with self._connection.cursor(name=f"rows_of_{table}") as cursor:
            cursor.execute(f"SELECT * FROM {table}".encode())  # noqa: S608
            yield from cursor

    def put_rows(self, table: str, rows: Iterable[Row], /) -> int:
        with self._connection.cursor() as cursor:
            found = cursor.execute(f"SELECT * FROM {table} LIMIT 0".encode()).description or ()  # noqa: S608
            columns = [column.name for column in found]
            with cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN".encode()) as copy:
                for row in rows:
                    copy.write_row([row[name] for name in columns])
            return cursor.rowcount

    def clear(self, table: str, /) -> None:
        self._connection.execute(f"DELETE FROM {table}".encode())  # noqa: S608

    def now(self) -> int:
        """What time it is there."""
        told = self._connection.execute("SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now")
        row = told.fetchone()
        return int(row["now"]) if row else now_ms()

    def look_up(self) -> None:
        # A plan for any values reads a million asks through where these values name a few.
        self._connection.execute("SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL enable_seqscan = off")

    def keep_others_out(self) -> None:
        self._connection.execute(f"LOCK TABLE {', '.join(tables())} IN EXCLUSIVE MODE".encode())


class PostgresStore(Store):
    """Asks in a PostgreSQL database that any number of machines share."""

    threads = 8

    def __init__(self, address: str) -> None:
        self._address = address
        self.where = _without_secrets(address)
        self._bell: PostgresBell | None = None
        self._lock = threading.Lock()
        self._tried(self._bring_up_to_date)
        self._pool = SharedConnections(address, most=2 * self.threads)

    def read(self, work: Callable[[Transaction], T]) -> T:
        return self._tried(lambda: self._read_once(work))

    def _read_once(self, work: Callable[[Transaction], T]) -> T:
        with _explained(self.where), self._pool.lent() as connection, _looking(connection), connection.transaction():
            return work(PostgresTransaction(connection))

    def all(self, query: str, /, **parameters: object) -> list[Row]:
        with self._single() as tx:
            return tx.all(query, **parameters)

    def one(self, query: str, /, **parameters: object) -> Row | None:
        with self._single() as tx:
            return tx.one(query, **parameters)

    @contextmanager
    def _single(self) -> Iterator[PostgresTransaction]:
        """For a single query, which sees one state of the store by itself: two round trips less than a transaction."""
        with _explained(self.where), self._pool.lent() as connection:
            yield PostgresTransaction(connection)

    def write(self, work: Callable[[Transaction], T]) -> T:
        return self._tried(lambda: self._write_once(work))

    def note(self, work: Callable[[Transaction], T]) -> T:
        return self._tried(lambda: self._write_once(work, "SET LOCAL synchronous_commit = off"))

    def _tried(self, step: Callable[[], T]) -> T:
        for _ in range(TRIES):
            with suppress(Conflict, pg.SerializationFailure, pg.DeadlockDetected):
                return step()
        raise StoreUnavailable(f"The store at {self.where} was busy for {TRIES} tries. Try again.")

    def _write_once(self, work: Callable[[Transaction], T], *first: LiteralString) -> T:
        with _explained(self.where), self._pool.lent() as connection, connection.transaction():
            for statement in first:
                connection.execute(statement)
            transaction = PostgresTransaction(connection)
            result = work(transaction)
            # Part of the transaction: heard only if it is kept, and only then.
            connection.execute("SELECT pg_notify(%s, %s)", (CHANNEL, _ring(transaction.named)))
        return result

    def clock_ahead(self) -> int:
        before = now_ms()
        with self._single() as tx:
            theirs = tx.now()
        return (before + now_ms()) // 2 - theirs

    def bell(self) -> Bell:
        with self._lock:
            if self._bell is None:
                with _explained(self.where):
                    self._bell = PostgresBell(self._address)
            return self._bell

    @contextmanager
    def aside(self) -> Iterator[Store]:
        yield self

    def close(self) -> None:
        if self._bell:
            self._bell.close()
        self._pool.close()

    def _bring_up_to_date(self) -> None:
        # Without the pool, which would hide behind its own patience why there is no connection.
        with _explained(self.where), _connect(self._address) as connection:
            version = _version(connection)
            if version is None or steps_from(version, self.where):
                # Held until the connection closes, and taken before the transaction begins: one that began earlier
                # goes on believing its own cache, in which a table that another process made meanwhile is not there.
                connection.execute("SELECT pg_advisory_lock(%s)", (_MIGRATION_LOCK,))
                with connection.transaction():
                    self._migrate(connection)

    def _migrate(self, connection: Connection) -> None:
        # Looked up again under the lock: another process may have been faster.
        version = _version(connection)
        steps = {newest(): schema()} if version is None else steps_from(version, self.where)
        for step, statements in steps.items():
            for statement in statements:
                connection.execute(statement.encode())
            connection.execute("DELETE FROM meta WHERE key = 'schema_version'")
            connection.execute("INSERT INTO meta (key, value) VALUES ('schema_version', %s)", (str(step),))


class PostgresBell(Bell):
    """A connection that listens. An advisory lock on it shows that this process lives: the server drops it with us."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self._address = address
        # Its own: whoever asks who is alive may be holding on to a connection of the store's.
        self._pool = SharedConnections(address, most=2)
        self._connection: Connection | None = None
        try:
            self._connection = self._hang()
        except BaseException:
            self.close()
            raise

    def _hang(self) -> Connection:
        connection = _connect(self._address)
        try:
            for what, value in _KEEP_ALIVE.items():
                connection.execute(f"SET tcp_keepalives_{what} = {value}".encode())
            connection.execute(f"LISTEN {CHANNEL}".encode())
            # Shared: after a lost connection the server may hold the lock of our former one for a while.
            connection.execute("SELECT pg_advisory_lock_shared(%s)", (_lock_of(self.process),))
        except BaseException:
            connection.close()
            raise
        return connection

    def wait(self, timeout: float | None) -> bool:
        self.named = None
        try:
            if self._connection is None:
                self._heard_something(timeout=LOOK_EVERY if timeout is None else timeout)
                self._connection = self._hang()
                self.hung_again += 1
                return True
            # That the other side is gone without a word, the system finds out by itself (_KEEP_ALIVE), and then tells.
            if self._notified():
                return True
            return bool(self._heard_something(self._connection, timeout=timeout)) and self._notified()
        except psycopg.Error:
            # The server is away: try again at the next look. What was missed is seen then.
            self._drop()
            return True

    def _notified(self) -> bool:
        """Take in all notices that are there."""
        if self._connection is None or not (rings := [each.payload for each in self._connection.notifies(timeout=0)]):
            return False
        self.named = None if "" in rings else frozenset(name for ring in rings for name in ring.split())
        return True

    def alive(self, processes: Iterable[str]) -> set[str]:
        wanted = {process: _lock_of(process) for process in processes}
        with _explained(_without_secrets(self._address)), self._pool.lent() as connection:
            held = connection.execute(
                "SELECT (classid::bigint << 32) | objid::bigint AS lock FROM pg_locks "
                "WHERE locktype = 'advisory' AND objsubid = 1 "
                "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
            ).fetchall()
        living = {row["lock"] for row in held}
        return {process for process, lock in wanted.items() if lock in living or process == self.process}

    def close(self) -> None:
        super().close()
        self._drop()
        self._pool.close()

    def _drop(self) -> None:
        if self._connection:
            with suppress(psycopg.Error):
                self._connection.close()
        self._connection = None


@contextmanager
def _looking(connection: Connection) -> Iterator[None]:
    """The next transaction reads one state of the store, and says so with its first word."""
    connection.isolation_level, connection.read_only = psycopg.IsolationLevel.REPEATABLE_READ, True
    try:
        yield
    finally:
        with suppress(psycopg.Error):  # one that broke off takes no more settings, and is not used again
            connection.isolation_level = connection.read_only = None


def _ring(named: frozenset[str] | None) -> str:
    """What is said to all who listen: whose waits it is about, with a blank; nothing where it may be anybody's."""
    ring = "" if named is None else f" {' '.join(sorted(named))}"
    return ring if len(ring) < LONGEST_RING else ""


def _connection_settings() -> dict[str, Any]:
    patience = {f"keepalives_{what}": value for what, value in _KEEP_ALIVE.items()}
    return {"autocommit": True, "row_factory": dict_row, "connect_timeout": CONNECT_SECONDS, **patience}


def _connect(address: str) -> Connection:
    return psycopg.connect(address, **_connection_settings())


@cache
def _without_secrets(address: str) -> str:
    """The address as it may be shown: host, port and name, whatever else stands in it."""
    try:
        parts = conninfo_to_dict(address)
    except psycopg.Error:
        return "an address that cannot be read"
    host, port, name = (str(parts.get(part) or "") for part in ("host", "port", "dbname"))
    return f"postgresql://{host}{port and ':' + port}/{name}"


_JSON = re.compile(r"json_extract\((\w+), '\$\.(\w+)\.(\w+)'\)")


def looks_into_json(sql: str) -> str:
    """A look into JSON as PostgreSQL wants it."""
    return _JSON.sub(r"CAST(\1 AS JSON) #>> '{\2,\3}'", sql)


@cache
def _in_its_style(query: str) -> bytes:
    """A named query with `:name` written as psycopg wants it, and `%` as itself."""
    found = looks_into_json(queries()[query])
    return re.sub(r"(?<!:):([a-z_]+)", r"%(\1)s", found.replace("%", "%%")).encode()


def _lock_of(process: str) -> int:
    """A number below 2^63 for the advisory lock that stands for a process."""
    return int.from_bytes(hashlib.sha256(process.encode()).digest()[:8]) >> 1


def _version(connection: Connection) -> str | None:
    found = connection.execute("SELECT to_regclass('meta') AS found").fetchone()
    if found is None or found["found"] is None:
        return None
    row = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    return str(row["value"]) if row else ""


@contextmanager
def _explained(where: str) -> Iterator[None]:
    try:
        yield
    except (pg.SerializationFailure, pg.DeadlockDetected):
        raise
    except (psycopg.Error, PoolTimeout, PoolClosed) as error:
        raise _explain(error, where) from error


def _explain(error: Exception, where: str) -> StoreError:
    if isinstance(error, pg.DiskFull):
        return StoreFull(f"No space is left for the store at {where}. Nothing of the last step was kept.")
    if isinstance(error, pg.ReadOnlySqlTransaction | pg.InsufficientPrivilege):
        return StoreReadOnly(f"The store at {where} cannot be written: {_line(error)}. Grant this user the rights.")
    return StoreUnavailable(
        f"The store at {where} does not work: {_line(error)}. Check that the server runs and that the address, user "
        "and password are right (`sayso config` shows where it is set)."
    )


def _line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    # Of several servers, the last one that was tried.
    return lines[-1].removeprefix("- ") if lines[0].endswith(":") else lines[0]
