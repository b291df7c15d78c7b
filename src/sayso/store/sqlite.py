"""The embedded store: one SQLite file, shared by every process of one machine. One connection, one lock; and a second
one, once somebody wants to look while another thread writes."""

from __future__ import annotations

import _sqlite3 as sqlite3  # `sqlite3` itself adds dates, which take their time to import
import errno
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TypeVar

from sayso.errors import Conflict, StoreCorrupt, StoreError, StoreFull, StoreReadOnly, StoreUnavailable
from sayso.store.bell import Bell, LocalBell, LookingBell
from sayso.store.socket_bell import SocketBell, bell_folder, ring_all
from sayso.store.store import Ringing, Row, Store, Transaction, newest, queries, schema, steps_from, tables
from sayso.store.write_queue import WriteQueue

T = TypeVar("T")
BUSY_SECONDS = 10.0
_DURABLE = "FULL"


class SqliteTransaction(Ringing):
    """Named queries on one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def all(self, query: str, /, **parameters: object) -> list[Row]:
        rows: list[sqlite3.Row] = self._connection.execute(queries()[query], parameters).fetchall()
        # Twice the words of `dict(row)`, which looks each value up by its name, and a sixth of the time.
        return [dict(zip(row.keys(), row, strict=True)) for row in rows]

    def one(self, query: str, /, **parameters: object) -> Row | None:
        rows = self.all(query, **parameters)
        return rows[0] if rows else None

    def run(self, query: str, /, **parameters: object) -> int:
        return self._connection.execute(queries()[query], parameters).rowcount

    def rows(self, table: str, /) -> Iterator[Row]:
        yield from map(dict, self._connection.execute(f"SELECT * FROM {table}"))  # noqa: S608

    def put_rows(self, table: str, rows: Iterable[Row], /) -> int:
        columns = [found["name"] for found in self._connection.execute(f"PRAGMA table_info({table})")]
        places = ", ".join("?" for _ in columns)
        command = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})"  # noqa: S608
        return self._connection.executemany(command, ([row[name] for name in columns] for row in rows)).rowcount

    def clear(self, table: str, /) -> None:
        self._connection.execute(f"DELETE FROM {table}")  # noqa: S608

    def look_up(self) -> None:
        """Here the queries say it themselves."""

    def keep_others_out(self) -> None:
        """Whoever writes is alone already."""


def has_our_tables(file: Path) -> bool:
    """Whether a file from elsewhere, brought up to date, has our tables with our columns, and nothing that acts by
    itself or only looks like a table."""
    theirs, ours = sqlite3.connect(str(file)), sqlite3.connect(":memory:")
    try:
        for statement in schema():
            ours.execute(statement)
        acts = theirs.execute("SELECT 1 FROM sqlite_master WHERE type NOT IN ('table', 'index')").fetchone()
        return acts is None and all(_columns(ours, table) <= _columns(theirs, table) for table in tables())
    finally:
        theirs.close()
        ours.close()


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {found[1] for found in connection.execute(f"PRAGMA table_info({table})")}


class SqliteStore(Store):
    """Asks in a file, or for tests in memory (`SqliteStore.in_memory()`)."""

    threads = 1

    def __init__(self, file: Path | None, bell_dir: Path | None = None, *, only_looks: bool = False) -> None:
        """Whoever `only_looks` gets to see a store on a disk that cannot be written, too."""
        self._file, self._wanted_bell_dir, self._only_looks = file, bell_dir, only_looks
        self.where = str(file) if file else "memory"
        self.near = file is not None  # in memory there is one connection, and whoever reads waits for who writes
        self._lock, self._opening = threading.RLock(), threading.Lock()
        self._queue = WriteQueue(file.absolute().parent) if file else None
        self._second: SqliteStore | None = None
        self._local = LocalBell() if file is None else None
        self._bell: Bell | None = None
        self._bell_dir: Path | None = None
        self._opened: _Identity | None = None
        self._as_it_was: tuple[object, ...] | None = None
        """How the file was when it was opened as one that nobody writes."""
        self._disk = 0
        """Where it was when it was opened last."""
        self._connection = self._open()

    @classmethod
    def in_memory(cls) -> SqliteStore:
        return cls(None)

    def read(self, work: Callable[[Transaction], T]) -> T:
        return self._on_a_free_connection(lambda store: store._read(work))

    def all(self, query: str, /, **parameters: object) -> list[Row]:
        return self._on_a_free_connection(lambda store: store._single(query, parameters))

    def one(self, query: str, /, **parameters: object) -> Row | None:
        rows = self.all(query, **parameters)
        return rows[0] if rows else None

    def write(self, work: Callable[[Transaction], T]) -> T:
        return self._written(work, _DURABLE)

    def note(self, work: Callable[[Transaction], T]) -> T:
        return self._written(work, "NORMAL")

    def _on_a_free_connection(self, look: Callable[[SqliteStore], T]) -> T:
        if not self._lock.acquire(blocking=False):
            # Somebody may be waiting for a disk.
            return look(self._beside())
        try:
            return look(self)
        finally:
            self._lock.release()

    def _single(self, query: str, parameters: Mapping[str, object]) -> list[Row]:
        """What a single query finds, which sees one state of the store by itself."""
        with self._lock, self._explained():
            found = SqliteTransaction(self._current()).all(query, **parameters)
            self._check_that_nobody_wrote()
            return found

    def _read(self, work: Callable[[Transaction], T]) -> T:
        with self._lock, self._explained(), self._transaction("BEGIN") as connection:
            result = work(SqliteTransaction(connection))
            self._check_that_nobody_wrote()
            return result

    def _written(self, work: Callable[[Transaction], T], synchronous: str) -> T:
        with (
            self._lock,
            self._explained(),
            self._queue.turn() if self._queue else nullcontext(),
            self._transaction("BEGIN IMMEDIATE", synchronous) as connection,
        ):
            before, transaction = connection.total_changes, SqliteTransaction(connection)
            result = work(transaction)
            changed = connection.total_changes > before
        if changed:
            self._ring(transaction)
        return result

    def bell(self) -> Bell:
        if self._bell is not None:
            return self._bell
        with self._lock, self._explained():
            if self._bell is None:
                self._bell = self._hang_bell()
            return self._bell

    @contextmanager
    def aside(self) -> Iterator[Store]:
        if self._file is None:
            yield self
            return
        other = self._another()
        try:
            yield other
        finally:
            other.close()

    def close(self) -> None:
        with self._lock:
            if bell := self._bell or self._local:
                bell.close()
            self._connection.close()
        with self._opening:
            if self._second:
                self._second.close()

    def _beside(self) -> SqliteStore:
        """The same store by a second connection, opened when it is first needed."""
        if self._file is None:
            return self
        with self._opening:
            if self._second is None:
                self._second = self._another()
            return self._second

    def _another(self) -> SqliteStore:
        with self._explained():
            self._is_there()
        other = SqliteStore(self._file, self._wanted_bell_dir, only_looks=self._only_looks)
        other.begins_anew = self.begins_anew
        return other

    def _open(self) -> sqlite3.Connection:
        with self._explained():
            while True:
                if self._file is not None:
                    _make_private(self._file)
                before = _identity(self._file)
                try:
                    connection = self._connected()
                except sqlite3.Error as error:
                    if (shown := self._open_to_look(error)) is None:
                        raise
                    connection = shown
                try:
                    after = _identity(self._file)
                except BaseException:
                    connection.close()
                    raise
                if self._only_looks and self._file is not None:
                    self.only_shows |= _is_on_a_read_only_disk(self._file) or _is_full(self._file)
                if after == before:
                    self._opened, self._disk = after, _disk(self._file)
                    return connection
                # Replaced meanwhile: this may be the file that is gone.
                connection.close()

    def _connected(self) -> sqlite3.Connection:
        connection = _connect(self._file)
        try:
            self._bring_up_to_date(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_to_look(self, error: sqlite3.Error) -> sqlite3.Connection | None:
        """A connection that writes nothing beside the file, which cannot be done here; None where that is of no use."""
        if self._file is None or not self._only_looks:
            return None
        if _is_on_a_read_only_disk(self._file):
            log = self._file.with_name(f"{self._file.name}-wal")
            # Who writes, from where that can be done, has a log; it is read then, and what keeps writers away as well.
            way = "mode=ro" if log.exists() else "immutable=1"
            self._as_it_was = None if log.exists() else _as_it_is(self._file)
            connection = _connect(self._file, way)
        elif _name_of(error) in _IO_ERRORS_OF_WRITING:
            connection = _connect(self._file, alone=True)
        else:
            return None
        try:
            version = _version(connection)
            is_new = version is not None and steps_from(version, self.where) == {}
        except BaseException:
            connection.close()
            raise
        if not is_new:
            connection.close()
            return None
        self.only_shows = True
        return connection

    def _check_that_nobody_wrote(self) -> None:
        """What is a read-only disk here may be none in another place, a container for example."""
        if self._as_it_was is not None and self._file is not None and self._as_it_was != _as_it_is(self._file):
            raise StoreUnavailable(f"The store at {self.where} was written while it was read. Try again.")

    def _current(self) -> sqlite3.Connection:
        """The connection, opened again if the file was removed or replaced: nobody else would see what it writes."""
        if self._is_there():
            return self._connection
        self._opened = None
        self._connection.close()
        self._connection = self._open()
        return self._connection

    def _is_there(self) -> bool:
        """Whether the file is the one that was opened. An error where it is gone and none is made in its place: where
        people look on, and where the whole disk is gone and may come back."""
        try:
            return self._opened == _identity(self._file)
        except FileNotFoundError:
            if not self.begins_anew:
                raise
            if _disk(self._file) != self._disk:
                raise StoreUnavailable(
                    f"The disk of the store at {self.where} is gone. No other store is made in its place: what is in "
                    "this one is there again when the disk is."
                ) from None
            return False

    def _bring_up_to_date(self, connection: sqlite3.Connection) -> None:
        version = _version(connection)
        steps = None if version is None else steps_from(version, self.where)
        # Only now, because it is written into the file, which may be another program's.
        _write_ahead(connection)
        if steps == {}:
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            self._migrate(connection)
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise

    def _migrate(self, connection: sqlite3.Connection) -> None:
        # Looked up again under the lock: another process may have been faster.
        version = _version(connection)
        steps = {newest(): schema()} if version is None else steps_from(version, self.where)
        for step, statements in steps.items():
            for statement in statements:
                connection.execute(statement)
            connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('schema_version', ?)", (str(step),))

    @contextmanager
    def _transaction(self, begin: str, synchronous: str = _DURABLE) -> Iterator[sqlite3.Connection]:
        connection = self._current()
        if synchronous != _DURABLE:
            connection.execute(f"PRAGMA synchronous = {synchronous}")
        try:
            connection.execute(begin)
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise
        finally:
            if synchronous != _DURABLE:
                connection.execute(f"PRAGMA synchronous = {_DURABLE}")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _explain(error, self.where) from error
        except Conflict as error:
            # One writer at a time sees the newest row, so this cannot be lost to a race.
            raise StoreCorrupt(f"The store at {self.where} changed under a held lock.") from error
        except OSError as error:
            raise _explain_file(error, self.where) from error

    def _hang_bell(self) -> Bell:
        if self._local:
            return self._local
        look = _Look(self._file)
        if self.only_shows or not hasattr(os, "getuid"):
            return LookingBell(look)
        assert self._file is not None
        return SocketBell(self._folder(), look, self._file.absolute())

    def _ring(self, transaction: Ringing) -> None:
        if self._local:
            self._local.nudge()
        elif hasattr(os, "getuid"):
            # The commit stands whatever happens to the bell; listeners look by themselves.
            with suppress(OSError, StoreError):
                but = self._bell.process if self._bell and transaction.known_here else ""
                ring_all(self._folder(), transaction.named, but)

    def _folder(self) -> Path:
        if self._bell_dir is None:
            assert self._file is not None
            self._bell_dir = bell_folder(self._wanted_bell_dir or self._file.parent / "bell")
        return self._bell_dir


class _Look:
    """A number that changes whenever another connection has changed the file. Used by one thread."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._opened: _Identity | None = None
        self._connection: sqlite3.Connection | None = None
        self._failures = 0

    def __call__(self) -> int:
        try:
            if self._connection is None or self._opened != _identity(self._file):
                self.close()
                self._opened, self._connection = _identity(self._file), _connect(self._file)
                self._connection.execute("PRAGMA busy_timeout = 0")
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])
        except (OSError, sqlite3.Error):
            # A store that cannot be looked at counts as changed: whoever listens will find out what is wrong.
            self.close()
            self._failures += 1
            return -self._failures

    def is_being_written(self) -> bool:
        # Whoever has written to the log and not yet said so holds on to what is tried here.
        if self._connection is None:
            return True
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute("ROLLBACK")
        except sqlite3.Error:
            return True
        return False

    def close(self) -> None:
        if self._connection:
            self._connection.close()
        self._connection = None


def _connect(file: Path | None, way: str = "", *, alone: bool = False) -> sqlite3.Connection:
    """A connection, in a way that SQLite has a name for. Alone, others wait, and what lies beside the file for them is
    in memory."""
    name = str(file) if file else ":memory:"
    connection = sqlite3.connect(
        f"file:{_quoted(os.path.abspath(name))}?{way}" if way else name,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        uri=bool(way),
    )
    try:
        connection.row_factory = sqlite3.Row
        if alone:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute(f"PRAGMA synchronous = {_DURABLE}")
        connection.execute("PRAGMA foreign_keys = ON")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Have it keep a log of what is written, for as long as the file is there. Where several processes meet at a new
    file, SQLite refuses this at once to all but one, whatever the time limit: two could wait for each other."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


def _version(connection: sqlite3.Connection) -> str | None:
    """The store's schema version, or None for an empty file."""
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "meta" not in tables:
        return "" if tables else None
    row = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    return str(row[0]) if row else ""


_Identity = tuple[int, int]


def _identity(file: Path | None) -> _Identity:
    """Which file this is, whatever it is called."""
    if file is None:
        return 0, 0
    found = file.stat()
    return found.st_dev, found.st_ino


def _as_it_is(file: Path) -> tuple[object, ...]:
    """Another one once somebody has begun to write."""
    found = file.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, os.path.exists(f"{file}-wal")


def _quoted(path: str) -> str:
    return "".join(f"%{ord(sign):02x}" if sign in "%?#" else sign for sign in path)


def _disk(file: Path | None) -> int:
    """The disk that it lies on, or would. Folders are compared, because in a container files can be on another one."""
    return next(folder.stat().st_dev for folder in file.absolute().parents if folder.exists()) if file else 0


def _make_private(file: Path) -> None:
    """The folder 0700 and the file 0600, before SQLite makes them otherwise."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if file.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
    # Never opened when it is there: closing it again would drop the locks that other connections of this process
    # hold on it, and whoever closes the store next would take their log away from under them.
    with suppress(FileExistsError):
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def _explain_file(error: OSError, where: str) -> StoreError:
    told = f"The store at {where} cannot be used: {error.strerror} ({error.filename or where})."
    match error.errno:
        case errno.EROFS:
            return StoreReadOnly(
                f"{told} Make that disk writable again, or set SAYSO_STATE_DIR to a folder on another."
            )
        case errno.EACCES | errno.EPERM:
            return StoreReadOnly(f"{told} Check who may write there, or set SAYSO_STATE_DIR to a folder that you can.")
        case errno.ENOSPC | errno.EDQUOT:
            return StoreFull(f"{told} Free some space.")
        case errno.EISDIR:
            return StoreCorrupt(f"{told} Move the folder away; a file belongs there.")
    return StoreUnavailable(f"{told} Set SAYSO_STATE_DIR to a folder you can use.")


def _writable(file: str) -> bool:
    return os.access(file, os.R_OK | os.W_OK) and os.access(os.path.dirname(file), os.W_OK | os.X_OK)


def _is_on_a_read_only_disk(file: Path) -> bool:
    """Whether nothing can be written there by anybody, whatever the permissions say."""
    try:
        return bool(os.statvfs(file.parent).f_flag & os.ST_RDONLY)
    except (AttributeError, OSError):
        return False


def _is_full(file: Path) -> bool:
    try:
        found = os.statvfs(file.parent)
    except (AttributeError, OSError):
        return False
    return found.f_bavail * found.f_frsize < _LEAST_SPACE


_LEAST_SPACE = 2**20
"""Bytes without which not even a small change can be counted on: what it takes grows before it is given back."""
_IO_ERRORS_OF_WRITING = {f"SQLITE_IOERR_{what}" for what in ("WRITE", "FSYNC", "DIR_FSYNC", "TRUNCATE", "SHMSIZE")}


def _name_of(error: sqlite3.Error) -> str:
    return str(getattr(error, "sqlite_errorname", ""))


def _explain(error: sqlite3.Error, where: str) -> StoreError:
    kind = _name_of(error)
    if kind.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return StoreCorrupt(
            f"The file {where} is damaged or is not a Sayso store ({error}). "
            "Move it away to start with an empty one, or restore a copy of it."
        )
    if kind.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_IOERR")) and _is_on_a_read_only_disk(Path(where)):
        return StoreReadOnly(
            f"The store at {where} cannot be written: its disk is read-only. Make that disk writable again (one in "
            "trouble becomes read-only by itself), or set SAYSO_STATE_DIR to a folder on another."
        )
    if kind.startswith("SQLITE_READONLY") or (kind.startswith("SQLITE_CANTOPEN") and not _writable(where)):
        return StoreReadOnly(f"The store at {where} cannot be written ({error}). Check the permissions of its folder.")
    if kind.startswith("SQLITE_FULL") or (kind in _IO_ERRORS_OF_WRITING and _is_full(Path(where))):
        return StoreFull(
            f"No space is left for the store at {where}. Free some space; nothing of the last step was kept."
        )
    if kind in _IO_ERRORS_OF_WRITING:
        return StoreFull(
            f"The store at {where} cannot be written ({error}): the disk is full, a quota or limit is reached, or it "
            "fails. Nothing of the last step was kept."
        )
    if kind.startswith("SQLITE_BUSY"):
        return StoreUnavailable(f"The store at {where} was busy for {BUSY_SECONDS:.0f} seconds. Try again.")
    return StoreUnavailable(f"The store at {where} does not work: {error}. `sayso config` shows where it is set.")
