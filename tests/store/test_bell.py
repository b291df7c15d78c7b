"""The bell of the embedded store: it wakes other processes, loses nothing when it fails, and shows who is alive."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from io import FileIO
from pathlib import Path

import pytest
from tests.asks.samples import ask
from tests.store.other import OtherProcess

from sayso import folder_events
from sayso.asks.desk import AskDesk
from sayso.store import Transaction, socket_bell, sqlite
from sayso.store.bell import LOOK_EVERY, Bell, Listener
from sayso.store.socket_bell import SocketBell, bell_folder
from sayso.store.sqlite import SqliteStore


@pytest.fixture
def store(file: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(file)
    yield store
    store.close()


@pytest.fixture
def bell(store: SqliteStore) -> Bell:
    return store.bell()


def test_a_commit_wakes_another_process(store: SqliteStore, file: Path) -> None:
    with OtherProcess(file) as other:
        other.do("process")
        other.begin("wait", 25)
        AskDesk(store).leave(ask())
        assert other.result() is True


def test_a_commit_of_another_process_wakes_this_one(file: Path, bell: Bell) -> None:
    with OtherProcess(file) as other:
        other.do("leave", "Which colour?")
    assert bell.wait(25)
    assert not bell.wait(0)


def test_a_process_hears_its_own_commits(store: SqliteStore, bell: Bell) -> None:
    AskDesk(store).leave(ask())
    assert bell.wait(25)


def test_what_its_own_process_knows_already_wakes_the_others_alone(store: SqliteStore, file: Path, bell: Bell) -> None:
    def work(tx: Transaction) -> None:
        tx.wake_only()
        tx.wake_others()
        tx.run("put_surface", process="1-a", surface="terminal", person="anna", now=1)

    with OtherProcess(file) as other:
        other.do("process")
        other.begin("wait", 25)
        store.write(work)
        assert other.result() is True
    assert bell.wait(0)
    assert bell.named is None, "it was found at a look, and not rung for"


def test_a_lost_ring_is_made_good_by_the_look(store: SqliteStore, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "ring_all", lambda *_: None)
    with OtherProcess(file) as other:
        other.do("process")
        AskDesk(store).leave(ask())
        assert other.do("wait", 0.1) is True
        assert other.do("wait", 0.1) is False


def test_what_was_rolled_back_or_changed_nothing_rings_no_bell(store: SqliteStore, bell: Bell) -> None:
    def fail(tx: Transaction) -> None:
        tx.run("put_surface", process="1-a", surface="terminal", person="anna", now=1)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        store.write(fail)
    assert AskDesk(store).open_surfaces() == []
    store.write(lambda tx: tx.run("drop_surface", process="1-a"))
    assert not bell.wait(0)


def test_a_killed_process_is_found_dead_and_its_asks_are_let_go(store: SqliteStore, file: Path) -> None:
    desk = AskDesk(store)
    with OtherProcess(file) as other:
        ask_id, process = other.do("hold", "Which colour?"), other.do("process")
        assert store.bell().alive([process, "1-never"]) == {process}
        assert desk.release_the_dead() == 0
        other.kill()
    assert store.bell().alive([process]) == set()
    assert desk.release_the_dead() == 1
    assert desk.get(ask_id).wait is None


def test_the_socket_of_a_dead_process_is_taken_down_by_the_next_ring(store: SqliteStore, file: Path) -> None:
    with OtherProcess(file) as other:
        socket_file = file.parent / "bell" / f"{other.do('process')}.sock"
        other.kill()
    assert socket_file.exists()
    AskDesk(store).leave(ask())
    assert not socket_file.exists()


def test_the_last_bell_that_is_closed_takes_down_the_folder(file: Path) -> None:
    first, last = SqliteStore(file), SqliteStore(file)
    folder = file.parent / "bell"
    names = {f"{store.bell().process}.sock" for store in (first, last)}
    assert set(os.listdir(folder)) == names
    first.close()
    assert set(os.listdir(folder)) == {f"{last.bell().process}.sock"}
    last.close()
    assert not folder.exists()


def test_bells_are_hung_and_taken_down_by_many_at_once(file: Path) -> None:
    start, processes = threading.Barrier(8), list[str]()

    def hang_and_take_down() -> None:
        store = SqliteStore(file)
        for _ in range(20):
            start.wait(25)
            other = SqliteStore(file)
            processes.append(other.bell().process)
            other.close()
        store.close()

    threads = [threading.Thread(target=hang_and_take_down) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(set(processes)) == 160


@pytest.mark.parametrize("swept", ["the socket", "the whole folder"])
def test_a_bell_that_was_swept_away_is_hung_again(store: SqliteStore, file: Path, bell: Bell, swept: str) -> None:
    folder = file.parent / "bell"
    with OtherProcess(file) as other:
        other.do("process")
        shutil.rmtree(folder) if swept == "the whole folder" else (folder / f"{bell.process}.sock").unlink()
        other.do("leave", "Which colour?")
        assert bell.wait(0), "the look sees what the ring could not tell"
        other.do("leave", "Which size?")
        assert bell.wait(25)
    with_eyes_of_another = SqliteStore(file)
    assert with_eyes_of_another.bell().alive([bell.process]) == {bell.process}
    with_eyes_of_another.close()


def test_a_bell_that_had_fallen_counts_as_rung(store: SqliteStore, file: Path, bell: Bell) -> None:
    """A file that has taken the store's place may give the look the very number that it has seen."""
    (file.parent / "bell" / f"{bell.process}.sock").unlink()
    assert bell.wait(0), "whoever rang meanwhile was not heard"
    assert not bell.wait(0)


def test_where_a_bell_cannot_hang_again_looking_goes_on(store: SqliteStore, file: Path, bell: Bell) -> None:
    shutil.rmtree(file.parent / "bell")
    (file.parent / "bell").write_text("in the way")
    assert not bell.wait(0)
    with OtherProcess(file) as other:
        other.do("leave", "Which colour?")
    assert bell.wait(0)


def test_the_bells_are_private(store: SqliteStore, file: Path, bell: Bell) -> None:
    folder = file.parent / "bell"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(socket.stat().st_mode) for socket in folder.iterdir()] == [0o600]


@pytest.fixture
def far_away(tmp_path: Path) -> Path:
    """A state folder whose path is too long for a socket."""
    far = tmp_path / ("long" * 20) / ("longer" * 10)
    far.mkdir(parents=True)
    return far


def test_a_long_path_uses_a_short_private_folder_that_all_processes_find(far_away: Path, tmp_path: Path) -> None:
    shorter = tmp_path / "s"
    shorter.symlink_to(far_away)
    store = SqliteStore(far_away / "sayso.db")
    store.bell()
    short = bell_folder(far_away / "bell")
    assert len(os.fsencode(short)) < 60
    assert stat.S_IMODE(short.stat().st_mode) == 0o700
    with OtherProcess(shorter / "sayso.db") as other:
        process = other.do("process")
        assert (short / f"{process}.sock").exists()
        assert store.bell().alive([process]) == {process}
        other.begin("wait", 25)
        AskDesk(store).leave(ask())
        assert other.result() is True
    AskDesk(store).leave(ask("The killed one's socket?"))
    store.close()
    assert not short.exists()


def _link(place: Path) -> None:
    place.symlink_to("/")


def _open_to_all(place: Path) -> None:
    place.mkdir(mode=0o777)
    place.chmod(0o777)


def _of_another_user(place: Path) -> None:
    """As root, really; without those rights, by a link to what is root's."""
    if os.getuid():
        place.symlink_to("/etc")
    else:
        place.mkdir(mode=0o700)
        os.chown(place, 65534, 65534)


def _file(place: Path) -> None:
    place.write_text("mine\n")


@pytest.mark.finding("F-36")
@pytest.mark.parametrize("squat", [_link, _of_another_user, _open_to_all, _file])
def test_where_somebody_else_was_first_another_short_folder_is_taken(
    far_away: Path, squat: Callable[[Path], None]
) -> None:
    taken = bell_folder(far_away / "bell")
    squat(taken)
    store = SqliteStore(far_away / "sayso.db")
    try:
        with OtherProcess(far_away / "sayso.db") as other:
            process = other.do("process")
            assert store.bell().alive([process]) == {process}, "all find the same"
            chosen = bell_folder(far_away / "bell")
            assert chosen != taken
            assert stat.S_IMODE(chosen.lstat().st_mode) == 0o700
    finally:
        store.close()
        if taken.is_dir() and not taken.is_symlink():
            taken.rmdir()
        else:
            taken.unlink()
    assert not chosen.exists()


@pytest.mark.finding("F-36")
def test_short_folders_do_not_stay_behind_even_of_who_was_killed(far_away: Path, tmp_path: Path) -> None:
    with OtherProcess(far_away / "sayso.db") as other:
        other.do("process")
        left = bell_folder(far_away / "bell")
        assert left.exists()
        other.kill()
    assert left.exists(), "nobody was there to take it down"
    another = tmp_path / ("yet another " * 10)
    another.mkdir()
    store = SqliteStore(another / "sayso.db")
    store.bell()
    short = bell_folder(another / "bell")
    assert not left.exists()
    store.close()
    assert not short.exists()


# The witness: what ends a wait when no ring does


def _lose_the_ring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "ring_all", lambda *_: None)


class Sleeper:
    """A listener that sleeps without end, and would look by itself after an hour."""

    def __init__(self, bell: Bell, monkeypatch: pytest.MonkeyPatch, about: str = "") -> None:
        monkeypatch.setattr(socket_bell, "LOOK_EVERY", 3600.0)
        monkeypatch.setattr(socket_bell, "_TRY_AGAIN", 3600.0)
        self._sleeps, self._wait = threading.Event(), bell._heard_something
        monkeypatch.setattr(bell, "_heard_something", self._noting)
        self.heard = threading.Event()
        self._listener = Listener(bell, self.heard.set, about=about)
        assert self._sleeps.wait(25)

    def __enter__(self) -> Sleeper:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _noting(self, *sources: FileIO, timeout: float | None) -> set[int]:
        if len(sources) > 1:
            self._sleeps.set()
        return self._wait(*sources, timeout=timeout)


@pytest.fixture(params=["inotify", "dnotify"])
def witness(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """By what the system tells: by the second where it has no more of the first to give."""
    if request.param == "dnotify":

        def refuse(_: object) -> int:
            raise OSError("no more of them")

        monkeypatch.setattr(socket_bell, "watch", refuse)


def _comes_to_rest(bell: Bell) -> bool:
    """Whether the thread of the listeners sleeps for a while without being woken once."""
    assert bell._listening is not None
    status = Path(f"/proc/self/task/{bell._listening.native_id}/status")
    for _ in range(10):
        before = status.read_text().partition("\nvoluntary_ctxt_switches:")[2]
        threading.Event().wait(1.5 * LOOK_EVERY)
        if status.read_text().partition("\nvoluntary_ctxt_switches:")[2] == before:
            return True
    return False


@pytest.mark.usefixtures("witness")
def test_a_listener_is_never_woken_while_nothing_happens(store: SqliteStore, bell: Bell) -> None:
    heard = threading.Event()
    listener = Listener(bell, heard.set)
    assert _comes_to_rest(bell)
    AskDesk(store).leave(ask())
    assert heard.wait(25)
    assert _comes_to_rest(bell), "and not after what has happened is over"
    listener.close()


@pytest.mark.usefixtures("witness")
def test_a_fault_that_nobody_thought_of_leaves_nobody_deaf(
    store: SqliteStore, bell: Bell, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    faults, wait, heard = [ZeroDivisionError("nobody thought of this")], bell.wait, threading.Event()

    def wait_or_fail(timeout: float | None) -> bool:
        if faults:
            raise faults.pop()
        return wait(timeout)

    monkeypatch.setattr(bell, "wait", wait_or_fail)
    monkeypatch.setattr("sayso.store.bell.LOOK_EVERY", 0.01)
    with closing(Listener(bell, heard.set)):
        assert heard.wait(30), "something may have been missed"
        assert "nobody thought of this" in caplog.text
        heard.clear()
        AskDesk(store).leave(ask())
        assert heard.wait(30)


def test_a_change_whose_ring_was_lost_is_heard_all_the_same(
    bell: Bell, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = SqliteStore(file)
    other.bell()
    _lose_the_ring(monkeypatch)
    with Sleeper(bell, monkeypatch, bell.process) as sleeper:
        AskDesk(other).leave(ask())
        assert sleeper.heard.wait(25)
    other.close()


@pytest.mark.usefixtures("witness")
def test_whoever_is_killed_before_it_rings_is_heard_all_the_same(
    bell: Bell, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OtherProcess(file) as other:
        other.do("process")
        with Sleeper(bell, monkeypatch, bell.process) as sleeper:
            other.begin("leave_and_die", "Which colour?")
            assert sleeper.heard.wait(25)


@pytest.mark.usefixtures("witness")
def test_what_another_program_writes_is_heard(bell: Bell, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Sleeper(bell, monkeypatch) as sleeper:
        with closing(sqlite3.connect(file)) as another, another:
            another.execute("INSERT INTO claims (key, claimed_at) VALUES ('another program', 1)")
        assert sleeper.heard.wait(25)


@pytest.mark.usefixtures("witness")
@pytest.mark.parametrize(
    ("what", "witness"),
    [
        ("bell/{}.sock", "inotify"),
        ("bell/{}.sock", "dnotify"),
        ("bell", "inotify"),
        ("bell", "dnotify"),
        (".", "inotify"),
    ],
    indirect=["witness"],
)
def test_a_sleeping_bell_that_is_swept_away_hangs_again(
    bell: Bell, file: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    with Sleeper(bell, monkeypatch) as sleeper:
        (file.parent / what.format(bell.process)).resolve().rename(file.parent.parent / "elsewhere")
        assert sleeper.heard.wait(25)
        other = SqliteStore(file)
        assert other.bell().alive([bell.process]) == {bell.process}
        other.close()


@pytest.mark.usefixtures("witness")
def test_a_store_that_another_one_takes_the_place_of_is_heard(
    bell: Bell, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    another = file.with_name("another.db")
    with closing(SqliteStore(another)) as store:
        store.claim("something", 1)
    with Sleeper(bell, monkeypatch) as sleeper:
        another.replace(file)
        assert sleeper.heard.wait(25)


def test_among_more_rings_than_a_bell_can_hold_there_may_be_one_for_everybody(bell: Bell, file: Path) -> None:
    with OtherProcess(file) as other:
        for number in range(40):
            other.do("leave", f"Question {number}?")
    heard = threading.Event()
    listener = Listener(bell, heard.set, about=bell.process)
    assert heard.wait(25)
    listener.close()


def test_as_many_rings_as_a_bell_can_hold_may_be_for_everybody(bell: Bell, file: Path) -> None:
    with OtherProcess(file) as other:
        for number in range(socket_bell._MANY_RINGS):
            other.do("leave", f"Question {number}?")
    assert bell.wait(25)
    assert bell.named is None


def test_nobody_goes_to_sleep_while_a_change_is_half_written(bell: Bell, file: Path) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert not bell.wait(None), "it does not wait without end"
        writer.execute("INSERT INTO claims (key, claimed_at) VALUES ('something', 1)")
        writer.execute("COMMIT")
        assert bell.wait(None)


@pytest.mark.parametrize("trouble", ["no more of them", "another file system"])
def test_where_the_system_does_not_tell_the_bell_looks_every_second_and_says_why(
    store: SqliteStore, bell: SocketBell, file: Path, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    tries = []

    def refuse(_: object) -> int:
        tries.append("watch")
        raise OSError("inotify has no more to give")

    def tells_all(_: object) -> bool:
        tries.append("tells_all")
        return False

    def refuse_too(_: object) -> int:
        raise OSError("dnotify is not there")

    if trouble == "no more of them":
        monkeypatch.setattr(socket_bell, "watch", refuse)
        monkeypatch.setattr(folder_events, "FolderEvents", refuse_too)
    else:
        monkeypatch.setattr(socket_bell, "tells_all", tells_all)
    heard, other = threading.Event(), SqliteStore(file)
    listener = Listener(bell, heard.set, about=bell.process)
    _lose_the_ring(monkeypatch)
    AskDesk(other).leave(ask())
    assert heard.wait(25)
    listener.close()
    other.close()
    assert len(tries) == 1, "it tries again after a minute"
    assert ("inotify" in bell.why_untold()) is (trouble == "no more of them")
    assert bell.why_untold()


def test_a_bell_that_is_told_of_folders_alone_looks_once_a_minute(
    bell: SocketBell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> int:
        raise OSError("no more of them")

    monkeypatch.setattr(socket_bell, "watch", refuse)
    waits: list[float | None] = []

    def wait(*sources: object, timeout: float | None) -> set[int]:
        waits.append(timeout)
        return set()

    monkeypatch.setattr(bell, "_heard_something", wait)
    assert not bell.wait(None)
    assert waits == [60.0, bell._soon]


@pytest.mark.usefixtures("witness")
def test_a_bell_that_is_told_says_so(bell: Bell) -> None:
    assert bell.why_untold() == ""


def test_a_listener_that_ticks_joins_one_that_sleeps(bell: Bell) -> None:
    sleeping, ticked = Listener(bell, lambda: None), threading.Event()
    ticking = Listener(bell, lambda: None, ticked.set)
    assert ticked.wait(25)
    ticking.close()
    sleeping.close()


def test_a_listener_hears_rings_and_ticks_while_it_is_quiet(store: SqliteStore, bell: Bell) -> None:
    heard, ticked = threading.Event(), threading.Event()
    listener = Listener(bell, heard.set, ticked.set)
    assert ticked.wait(25)
    assert not heard.is_set()
    AskDesk(store).leave(ask())
    assert heard.wait(25)
    listener.close()


def test_a_bell_can_be_listened_to_anew(bell: Bell) -> None:
    Listener(bell, lambda: None).close()
    assert not bell.wait(0)


def test_a_bell_rings_in_a_process_with_very_many_open_files(file: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard) if hard > 0 else 4096, hard))
    many = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    store = SqliteStore(file)
    try:
        assert not store.bell().wait(0)
        AskDesk(store).leave(ask())
        assert store.bell().wait(25)
    finally:
        store.close()
        for fd in many:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_without_unix_sockets_the_bell_looks_by_itself(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "getuid")
    store, other = SqliteStore(file), SqliteStore(file)
    bell = store.bell()
    assert not (file.parent / "bell").exists()
    AskDesk(other).leave(ask())
    assert bell.wait(1)
    assert not bell.wait(0)
    assert bell.alive(["1-somebody"]) == {"1-somebody"}, "nobody can be called dead"
    bell.nudge()
    assert bell.wait(1)
    other.close()
    store.close()
