"""The embedded store's files: private, made by many at once, and one clear error for each way they can be wrong."""

from __future__ import annotations

import errno
import os
import pwd
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from tests.asks.samples import ANNA, RED, ask
from tests.disks import other_than
from tests.store.other import OtherProcess

from sayso.asks.desk import AskDesk
from sayso.config import Config
from sayso.errors import (
    ConfigError,
    NotFound,
    StoreCorrupt,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from sayso.store import open_store, sqlite
from sayso.store.sqlite import SqliteStore
from sayso.store.store import Transaction


def test_the_folder_and_every_file_are_private(file: Path) -> None:
    before = os.umask(0)
    try:
        store = SqliteStore(file)
        AskDesk(store).hold(ask())
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in file.parent.rglob("*")}
        assert {modes.pop(socket) for socket in list(modes) if socket.endswith(".sock")} == {0o600}
        assert modes == {"sayso.db": 0o600, "sayso.db-wal": 0o600, "sayso.db-shm": 0o600, "bell": 0o700}
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        store.close()
    finally:
        os.umask(before)


def test_eight_processes_make_a_fresh_store_at_once(file: Path) -> None:
    others = [OtherProcess(file) for _ in range(8)]
    try:
        for number, other in enumerate(others):
            other.begin("leave", f"Question {number}?")
        ids = {other.result() for other in others}
        assert len(ids) == 8
        assert set(others[0].do("inbox")) == ids
    finally:
        for other in others:
            other.kill()


def test_what_is_stored_is_there_when_it_is_opened_again(file: Path) -> None:
    store = SqliteStore(file)
    left = AskDesk(store).leave(ask())
    store.close()
    store = SqliteStore(file)
    assert AskDesk(store).get(left.id) == left
    store.close()


def test_the_settings_name_the_store(tmp_path: Path) -> None:
    store = open_store(Config(state_dir=tmp_path / "state"))
    assert (tmp_path / "state" / "sayso.db").exists()
    store.close()
    with pytest.raises(ConfigError, match=r"it must be a postgresql:// address, or empty"):
        open_store(Config(store="mysql://db", state_dir=tmp_path))


def _of_garbage(file: Path) -> None:
    file.write_bytes(b"this is no database at all, but long enough to look like one\n" * 100)


def _of_another_program(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")


def _without_a_version(file: Path) -> None:
    SqliteStore(file).close()
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("DELETE FROM meta")


def _with_a_hole(file: Path) -> None:
    store = SqliteStore(file)
    for number in range(50):
        AskDesk(store).leave(ask(f"Question {number}?" * 50))
    store.close()
    with file.open("r+b") as opened:
        opened.seek(8192)
        opened.write(b"\xff" * (file.stat().st_size - 8192))


@pytest.mark.parametrize("make", [_of_garbage, _of_another_program, _without_a_version, Path.mkdir, _with_a_hole])
def test_a_file_that_is_no_store_is_refused_and_left_as_it_is(file: Path, make: Callable[[Path], None]) -> None:
    file.parent.mkdir()
    make(file)
    before = file.read_bytes() if file.is_file() else None
    with pytest.raises(StoreCorrupt) as raised:
        _open_and_ask(file)
    assert str(file) in str(raised.value)
    assert "Move" in str(raised.value)
    assert (file.read_bytes() if file.is_file() else None) == before


def test_a_file_in_the_place_of_the_folder_is_told(file: Path) -> None:
    file.parent.write_text("in the way")
    with pytest.raises(StoreUnavailable, match=r"SAYSO_STATE_DIR"):
        SqliteStore(file)


def test_trouble_that_comes_without_a_file_is_told_with_that_of_the_store(file: Path) -> None:
    def on_a_disk_that_went_read_only(_: Transaction) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    with closing(SqliteStore(file)) as store, pytest.raises(StoreReadOnly) as raised:
        store.write(on_a_disk_that_went_read_only)
    assert f"cannot be used: Read-only file system ({file})." in str(raised.value)


def test_a_full_store_says_so_and_leaves_no_half_of_an_ask(file: Path) -> None:
    store = SqliteStore(file)
    desk = AskDesk(store)
    with closing(sqlite3.connect(file)) as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreFull, match="No space is left"):
        desk.hold(ask("x" * 100_000))
    assert desk.inbox() == []
    store._connection.execute("PRAGMA max_page_count = 100000")
    assert desk.hold(ask("x" * 100_000)).ask.questions[0].text == "x" * 100_000
    store.close()


FULL = """
import resource, sys
from pathlib import Path
from sayso.asks.desk import AskDesk
from sayso.errors import SaysoError
from sayso.store.sqlite import SqliteStore
from tests.asks.samples import ask

resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    AskDesk(SqliteStore(Path(sys.argv[1]))).hold(ask("x" * 900_000))
except SaysoError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize("limit", [0, 4096, 300_000])
def test_a_disk_that_takes_no_more_is_told_at_any_point(file: Path, limit: int) -> None:
    told = _in_a_process(FULL, file, limit)
    assert told.startswith(f"StoreFull The store at {file} cannot be written"), told
    _still_works(file)


READ_ONLY = """
import os, sys
from pathlib import Path
from sayso.asks.desk import AskDesk
from sayso.errors import SaysoError
from sayso.store.sqlite import SqliteStore
from tests.asks.samples import ask

# All that it needs of the program is read while that is allowed.
store = SqliteStore.in_memory()
AskDesk(store).hold(ask())
store.close()
if user := int(sys.argv[2]):
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
try:
    AskDesk(SqliteStore(Path(sys.argv[1]))).hold(ask())
except SaysoError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize("mode", [0o400, 0o000], ids=["readable", "closed"])
@pytest.mark.parametrize("what", ["file", "folder", "folder above"])
def test_a_store_that_cannot_be_written_is_told(file: Path, what: str, mode: int) -> None:
    if what != "folder above":
        SqliteStore(file).close()
    user = _own_by_somebody_without_rights(file.parents[1])
    locked = {"file": file, "folder": file.parent, "folder above": file.parents[1]}[what]
    locked.chmod(mode | 0o100 if mode and locked.is_dir() else mode)
    try:
        told = _in_a_process(READ_ONLY, file, user)
    finally:
        locked.chmod(0o700)
    assert told.startswith(f"StoreReadOnly The store at {file} cannot be"), told
    _still_works(file)


def test_what_is_written_from_elsewhere_while_it_is_read_as_one_that_nobody_writes_is_told(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(SqliteStore(file)) as store:
        left = AskDesk(store).leave(ask())
    # As in a container that sees the disk read-only.
    with monkeypatch.context() as patched:
        patched.setattr(sqlite, "_is_on_a_read_only_disk", lambda _: True)
        patched.setattr(SqliteStore, "_connected", _cannot_be_opened)
        shown = SqliteStore(file, only_looks=True)
    with closing(shown):
        assert shown.only_shows
        assert AskDesk(shown).get(left.id) == left
        with pytest.raises(StoreReadOnly):
            AskDesk(shown).leave(ask())
        with closing(SqliteStore(file)) as store:
            AskDesk(store).leave(ask())
            with pytest.raises(StoreUnavailable, match="was written while it was read"):
                AskDesk(shown).get(left.id)


def _cannot_be_opened(store: SqliteStore) -> sqlite3.Connection:
    return sqlite3.connect("/nowhere/at/all")


def test_a_store_that_is_busy_for_too_long_is_told(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    SqliteStore(file).close()
    monkeypatch.setattr("sayso.store.sqlite.BUSY_SECONDS", 0.05)
    store = SqliteStore(file)
    with closing(sqlite3.connect(file, isolation_level=None)) as blocking:
        blocking.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="was busy"):
            AskDesk(store).leave(ask())
        blocking.execute("ROLLBACK")
    assert AskDesk(store).leave(ask()).version == 1
    store.close()


@pytest.mark.parametrize("remove", [shutil.rmtree, lambda folder: folder.rename(folder.with_name("moved"))])
def test_a_store_that_is_removed_while_it_is_open_is_made_anew_where_others_see_it(
    file: Path, remove: Callable[[Path], None]
) -> None:
    store = SqliteStore(file)
    held = AskDesk(store).hold(ask())
    remove(file.parent)
    with pytest.raises(NotFound):
        AskDesk(store).get(held.ask.id)
    left = AskDesk(store).leave(ask())
    with OtherProcess(file) as other:
        assert other.do("inbox") == [left.id]
        other.do("answer", left.id, "red")
    assert not AskDesk(store).get(left.id).state.answerable
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    store.close()


def test_a_store_whose_whole_disk_is_gone_for_a_while_is_not_made_anew(file: Path) -> None:
    gone = partial(pytest.raises, StoreUnavailable, match="No other store is made in its place")
    with other_than(file.parent.parent) as disk:
        disk.mount(file.parent)
        store = SqliteStore(file)
        held = AskDesk(store).hold(ask())
        disk.unmount()
        with gone():
            AskDesk(store).leave(ask())
        with gone(), store.aside():
            """Another connection would make it, too."""
        assert not file.exists()
        disk.mount(file.parent)
        assert AskDesk(store).get(held.ask.id) == held.ask
        store.close()


def test_a_store_that_is_replaced_just_as_it_is_opened_is_not_taken_for_the_new_one(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring_up_to_date = SqliteStore._bring_up_to_date

    def bring_up_to_date_and_lose(store: SqliteStore, connection: sqlite3.Connection) -> None:
        monkeypatch.setattr(SqliteStore, "_bring_up_to_date", bring_up_to_date)
        bring_up_to_date(store, connection)
        file.parent.rename(file.parent.with_name("old"))
        SqliteStore(file).close()

    monkeypatch.setattr(SqliteStore, "_bring_up_to_date", bring_up_to_date_and_lose)
    store = SqliteStore(file)
    left = AskDesk(store).leave(ask())
    with OtherProcess(file) as other:
        assert other.do("inbox") == [left.id]
    store.close()


OPEN_AND_CLOSE = """
import sys
from pathlib import Path
from sayso.store.sqlite import SqliteStore

SqliteStore(Path(sys.argv[1])).close()
"""


def test_a_second_opening_in_one_process_takes_no_locks_from_the_first(file: Path) -> None:
    """The system drops all of a process's locks on a file as soon as it closes the file anywhere. Another process
    would then take itself for the last one and remove the log that the first opening still writes."""
    store = SqliteStore(file)
    opened = [AskDesk(store).leave(ask("Before?")).id]
    SqliteStore(file).close()
    assert _in_a_process(OPEN_AND_CLOSE, file) == ""
    opened.append(AskDesk(store).leave(ask("After?")).id)
    with OtherProcess(file) as other:
        assert sorted(other.do("inbox")) == sorted(opened)
    store.close()


def test_a_failure_of_the_work_leaves_nothing_behind(file: Path) -> None:
    store = SqliteStore(file)
    desk = AskDesk(store)
    left = desk.leave(ask())
    broken = AskDesk(store, clock=lambda: 2**63)
    with pytest.raises(OverflowError):
        broken.answer(left.id, RED, ANNA)
    assert desk.get(left.id) == left
    assert desk.answer(left.id, RED, ANNA).version == 2
    store.close()


def _open_and_ask(file: Path) -> None:
    store = SqliteStore(file)
    try:
        for number in range(10):
            AskDesk(store).leave(ask(f"New {number}?"))
    finally:
        store.close()


def _still_works(file: Path) -> None:
    """No half-made ask is there, and a new one can be put."""
    store = SqliteStore(file)
    assert AskDesk(store).inbox() == []
    assert AskDesk(store).hold(ask()).ask.version == 1
    store.close()


def _in_a_process(program: str, *arguments: object) -> str:
    command = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return done.stdout


def _own_by_somebody_without_rights(folder: Path) -> int:
    """Root may write everything, so root's test goes on as nobody; 0 for whoever is not root."""
    if os.geteuid() != 0:
        return 0
    nobody = pwd.getpwnam("nobody")
    for path in (folder, *folder.rglob("*")):
        os.chown(path, nobody.pw_uid, nobody.pw_gid)
    return nobody.pw_uid


def test_who_meets_others_at_a_new_file_waits_for_them() -> None:
    class Met:
        """A connection that SQLite refuses the log until the others have it."""

        refusals = 3

        def execute(self, _: str) -> None:
            if self.refusals:
                self.refusals -= 1
                refused = sqlite3.OperationalError("database is locked")
                refused.sqlite_errorcode = sqlite3.SQLITE_BUSY
                raise refused

    met = Met()
    sqlite._write_ahead(met)  # type: ignore[arg-type]
    assert met.refusals == 0
