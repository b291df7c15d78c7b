"""WriteQueue at writing: who waits sleeps and is woken, and nobody can keep the others from writing."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.asks.samples import ask

from sayso.asks.desk import AskDesk
from sayso.store.sqlite import SqliteStore
from sayso.store.write_queue import WriteQueue

SECONDS = 60.0
HOLDER = """
import sys, time
from pathlib import Path
from sayso.store.write_queue import WriteQueue

with WriteQueue(Path(sys.argv[1])).turn():
    print("mine", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def a_turn_of_somebody_else(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process has it until it is written to, or killed."""
    words = [sys.executable, "-c", HOLDER, str(folder)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout
            assert other.stdout.readline() == "mine\n"
            yield other
        finally:
            other.kill()


def is_taken(folder: Path) -> bool:
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def let_go(other: subprocess.Popen[str]) -> None:
    assert other.stdin
    other.stdin.write("\n")
    other.stdin.flush()


def kill(other: subprocess.Popen[str]) -> None:
    other.send_signal(signal.SIGKILL)


@pytest.fixture
def queue(tmp_path: Path) -> WriteQueue:
    return WriteQueue(tmp_path)


@pytest.mark.parametrize("end", [let_go, kill])
def test_who_waits_for_a_turn_has_it_when_the_other_gives_it_up_or_dies(
    queue: WriteQueue, tmp_path: Path, end: Callable[[subprocess.Popen[str]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.store.write_queue.PATIENCE", SECONDS)
    has, over = threading.Event(), threading.Event()

    def wait() -> None:
        with queue.turn():
            has.set()
            over.wait(SECONDS)

    with a_turn_of_somebody_else(tmp_path) as other:
        waiting = threading.Thread(target=wait)
        waiting.start()
        while not any(thread.name == "sayso-turn" for thread in threading.enumerate()):
            assert waiting.is_alive()
        assert not has.is_set()
        end(other)
        assert has.wait(SECONDS)
    # It is a turn like any other: nobody else has it meanwhile.
    assert is_taken(tmp_path)
    over.set()
    waiting.join(SECONDS)
    with queue.turn():
        assert is_taken(tmp_path)


def test_a_turn_that_is_never_given_up_is_waited_for_once(
    queue: WriteQueue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.store.write_queue.PATIENCE", 0.05)
    with a_turn_of_somebody_else(tmp_path) as other:
        with queue.turn():
            pass
        late = queue._in_vain
        assert late is not None
        monkeypatch.setattr("sayso.store.write_queue.PATIENCE", SECONDS)
        for _ in range(100):
            with queue.turn():
                assert queue._in_vain is late
        let_go(other)
        late.join(SECONDS)
    # What came too late was not kept.
    assert not is_taken(tmp_path)
    with queue.turn():
        assert is_taken(tmp_path)


def test_who_is_stopped_in_its_turn_keeps_nobody_from_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sayso.store.write_queue.PATIENCE", 0.05)
    store = SqliteStore(tmp_path / "sayso.db")
    with a_turn_of_somebody_else(tmp_path):
        for number in range(5):
            AskDesk(store).leave(ask(f"Question {number}?"))
    assert AskDesk(store).inbox_size() == 5
    store.close()


def test_where_there_are_no_turns_one_writes_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object) -> None:
        raise OSError("not on this file system")

    before = os.listdir("/proc/self/fd")
    with WriteQueue(tmp_path / "away").turn():
        pass
    monkeypatch.setattr(fcntl, "flock", refuse)
    with WriteQueue(tmp_path).turn():
        pass
    assert os.listdir("/proc/self/fd") == before
