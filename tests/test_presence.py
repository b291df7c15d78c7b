"""Who is away from which terminal: by their own word, else by their last key there; and who is told of what when."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import signal
import socket
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from tests.asks.samples import AGENT, ANNA, RED, FakeClock, ask

from sayso.asks.desk import AskDesk
from sayso.clock import now_ms
from sayso.config import Config
from sayso.gates.watch import Watch
from sayso.moments import moment
from sayso.notify import is_to_be_told, seconds_left
from sayso.presence import PresenceDesk
from sayso.records import replace
from sayso.store import Store
from sayso.store.sqlite import SqliteStore
from sayso.terminals import last_key, terminal_of

SECONDS = 60.0
MINUTE = 60_000
AWAY_AFTER = 5 * MINUTE
SETTINGS = Config(person="anna", away_after=AWAY_AFTER, notify_after_typing=30_000)


class RealTerminal:
    """A program that reads keys in a terminal of its own."""

    def __init__(self) -> None:
        self._keys, theirs = pty.openpty()
        self.device = os.ttyname(theirs)
        self.program = subprocess.Popen(
            [sys.executable, "-c", "import sys\nfor line in sys.stdin: pass"],
            stdin=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)

    def leave_alone_for(self, milliseconds: int) -> None:
        """As if nobody had touched it for so long."""
        then = (now_ms() - milliseconds) * 1_000_000
        os.utime(self.device, ns=(then, then))

    def type(self, text: str) -> None:
        """Until the program has read it."""
        before, end = last_key(self.device), time.monotonic() + SECONDS
        os.write(self._keys, text.encode() + b"\n")
        while last_key(self.device) == before:
            assert time.monotonic() < end, "the terminal never noted the key"

    def close(self) -> None:
        self.program.kill()
        self.program.wait(SECONDS)
        os.close(self._keys)


@pytest.fixture
def terminal() -> Iterator[RealTerminal]:
    opened = RealTerminal()
    yield opened
    opened.close()


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Store]:
    opened = SqliteStore(tmp_path / "state" / "sayso.db")
    yield opened
    opened.close()


def desk_of(store: Store) -> PresenceDesk:
    return PresenceDesk(store, away_after=AWAY_AFTER)


# By one's own word


def test_away_holds_for_that_person_until_they_are_back(store: Store, clock: FakeClock) -> None:
    desk = PresenceDesk(store, away_after=AWAY_AFTER, clock=clock)
    assert desk.absence("anna") is None
    said = desk.go_away("anna", "terminal")
    clock.forward(1000 * MINUTE)
    assert desk.absence("anna") == said
    assert desk.absence("ben") is None
    desk.come_back("anna", "browser")
    assert desk.absence("anna") is None
    assert not desk.is_away("anna")
    clock.forward(AWAY_AFTER)
    assert desk.is_away("anna")


def test_away_ends_by_itself_when_its_time_is_over(clock: FakeClock) -> None:
    store = SqliteStore.in_memory()
    desk = PresenceDesk(store, away_after=AWAY_AFTER, clock=clock)
    desk.go_away("anna", "terminal", until=clock() + MINUTE)
    clock.forward(MINUTE - 1)
    assert desk.absence("anna")
    clock.forward(1)
    assert desk.absence("anna") is None
    store.close()


NOW = datetime(2026, 11, 18, 14, 30)  # a Wednesday


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("18:00", datetime(2026, 11, 18, 18)),
        ("9:05", datetime(2026, 11, 19, 9, 5)),
        ("2h", datetime(2026, 11, 18, 16, 30)),
        ("90 m", datetime(2026, 11, 18, 16)),
        ("tomorrow", datetime(2026, 11, 19, 8)),
        ("Monday", datetime(2026, 11, 23, 8)),
        ("wed", datetime(2026, 11, 25, 8)),
        ("freitag", datetime(2026, 11, 20, 8)),
        ("2030-01-31", datetime(2030, 1, 31, 8)),
        ("2030-01-31  18:00", datetime(2030, 1, 31, 18)),
    ],
)
def test_a_moment_is_the_next_one_that_is_called_so(given: str, meant: datetime) -> None:
    assert moment(given, NOW) == meant


@pytest.mark.parametrize(
    "given", ["", "mo", "noon", "25:00", "12:60", "17", "2020-01-01", "2030-13-01", "0h", "99999d"]
)
def test_what_is_no_moment_to_come_is_refused(given: str) -> None:
    with pytest.raises(ValueError, match="monday"):
        moment(given, NOW)


# By one's last key


def test_a_key_in_the_terminal_of_a_program_says_that_somebody_is_there(terminal: RealTerminal, here: Store) -> None:
    desk, device = desk_of(here), terminal_of(terminal.program.pid)
    assert device == terminal.device
    terminal.leave_alone_for(AWAY_AFTER + 1)
    assert desk.is_away("anna", device)
    terminal.type("x")
    assert not desk.is_away("anna", device)
    assert desk.is_away("anna", "")


def test_a_key_in_its_terminal_wakes_a_gate_that_waits(terminal: RealTerminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # those of this process stay as they are
    with Watch() as watch:
        watch.also_keys(terminal.device)
        assert watch.pause(0) == set()
        terminal.leave_alone_for(MINUTE)
        terminal.type("x")
        assert watch.pause(SECONDS)


def test_who_has_said_away_is_away_whatever_is_typed(terminal: RealTerminal, here: Store) -> None:
    desk = desk_of(here)
    desk.go_away("anna", "browser")
    terminal.leave_alone_for(AWAY_AFTER)
    terminal.type("x")
    assert desk.is_away("anna", terminal.device)
    desk.come_back("anna", "browser")
    terminal.leave_alone_for(AWAY_AFTER)
    assert not desk.is_away("anna", terminal.device)


def test_a_process_without_a_terminal_is_in_none() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True) as alone:
        assert terminal_of(alone.pid) == ""
        assert alone.stdin
        alone.stdin.write(b"\n")
        alone.stdin.close()
    assert terminal_of(2**22 + 1) == ""
    assert last_key("/dev/pts/99999") is None


# Being notified


def test_nobody_is_told_while_they_type_in_the_terminal_of_the_agent(terminal: RealTerminal, here: Store) -> None:
    asks, presence = AskDesk(here), desk_of(here)
    agent = replace(AGENT, host=socket.gethostname(), pid=terminal.program.pid)
    asked = asks.leave(replace(ask(), asker=agent)).id
    terminal.leave_alone_for(10_000)
    left = seconds_left(asked, SETTINGS, asks, presence)
    assert left is not None
    assert 0 < left <= 20
    terminal.leave_alone_for(31_000)
    assert seconds_left(asked, SETTINGS, asks, presence) == 0
    terminal.leave_alone_for(0)
    presence.go_away("anna", "terminal")
    assert seconds_left(asked, SETTINGS, asks, presence) == 0


def test_who_is_away_is_told_though_an_inbox_is_open_and_never_of_what_is_settled(here: Store) -> None:
    asks, presence = AskDesk(here), desk_of(here)
    asked = asks.leave(ask()).id
    asks.show_up("browser", "anna")
    assert seconds_left(asked, SETTINGS, asks, presence) is None
    presence.go_away("anna", "terminal")
    assert seconds_left(asked, SETTINGS, asks, presence) == 0
    asks.answer(asked, RED, ANNA)
    assert seconds_left(asked, SETTINGS, asks, presence) is None


def test_going_away_ends_the_quiet_at_once(here: Store, tmp_path: Path) -> None:
    presence = desk_of(here)
    looked = asyncio.Event()

    async def left() -> float | None:
        looked.set()
        return 0 if presence.absence("anna") else 3600

    async def wait() -> bool:
        told = asyncio.create_task(is_to_be_told(left, here.bell()))
        await looked.wait()
        other = SqliteStore(tmp_path / "state" / "sayso.db")
        await asyncio.to_thread(desk_of(other).go_away, "anna", "terminal")
        other.close()
        return await asyncio.wait_for(told, SECONDS)

    assert asyncio.run(wait())
