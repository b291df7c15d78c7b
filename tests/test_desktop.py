"""Telling the desktop: over a played session bus, and what osascript is given."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.asks.samples import ask as new_ask

from sayso import desktop
from sayso.asks.desk import AskDesk
from sayso.config import load
from sayso.errors import NotificationFailed
from sayso.notify import Notifier
from sayso.store.sqlite import SqliteStore


class PlayedBus:
    """A session bus with a notification service behind it, which returns from every call, or refuses it."""

    def __init__(self, path: Path) -> None:
        self.path, self.calls = path, list[bytes]()
        self.capabilities, self.kind = b"body-markup\0", 2
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(path))
        self._door.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def environ(self) -> dict[str, str]:
        return {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.path},guid=00"}

    def close(self) -> None:
        self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._door.accept()
            except OSError:
                return
            with line, line.makefile("rb") as told:
                told.readline()
                line.sendall(b"OK 00\r\n")
                told.readline()
                while head := told.read(16):
                    length, _, fields = struct.unpack("<III", head[4:])
                    called = told.read(fields + -fields % 8) + told.read(length)
                    self.calls.append(called)
                    body = self.capabilities if b"GetCapabilities" in called else b""
                    kind = 2 if b"Hello" in called else self.kind
                    signal = struct.pack("<cBBBIII", b"l", 4, 0, 1, 0, 9, 0)
                    line.sendall(signal + struct.pack("<cBBBIII", b"l", kind, 0, 1, len(body), 9, 0) + body)


@pytest.fixture
def bus(tmp_path: Path) -> Iterator[PlayedBus]:
    played = PlayedBus(tmp_path / "bus")
    yield played
    played.close()


def test_a_notification_goes_over_the_session_bus(bus: PlayedBus) -> None:
    assert desktop.is_there(bus.environ)
    desktop.tell("codex in shop asks", "Ship it?", bus.environ)
    hello, capabilities, notify = bus.calls
    assert b"Hello" in hello
    assert b"GetCapabilities" in capabilities
    assert b"susssasa{sv}i" in notify
    assert b"codex in shop asks\0" in notify
    assert b"Ship it?\0" in notify


def test_what_an_agent_wrote_is_no_markup_on_a_desktop_that_knows_some(bus: PlayedBus) -> None:
    desktop.tell("t", '<a href="http://evil">a & b</a>', bus.environ)
    assert b'&lt;a href="http://evil"&gt;a &amp; b&lt;/a&gt;\0' in bus.calls[-1]
    bus.capabilities = b"body\0"
    desktop.tell("t", "<b> & c", bus.environ)
    assert b"<b> & c\0" in bus.calls[-1]


def test_a_desktop_that_refuses_is_no_desktop(bus: PlayedBus) -> None:
    bus.kind = 3
    with pytest.raises(NotificationFailed, match="refuses GetCapabilities"):
        desktop.tell("t", "b", bus.environ)


@pytest.mark.parametrize("address", ["disabled:", "unix:path=/nowhere/at/all", "tcp:host=localhost,port=1", "unix:"])
def test_where_no_bus_listens_there_is_no_desktop(address: str) -> None:
    environ = {"DBUS_SESSION_BUS_ADDRESS": address}
    assert not desktop.is_there(environ)
    with pytest.raises(NotificationFailed):
        desktop.tell("t", "b", environ)


def test_the_bus_is_found_without_its_variable_too(bus: PlayedBus) -> None:
    assert desktop.is_there({"XDG_RUNTIME_DIR": str(bus.path.parent)})
    assert not desktop.is_there({"XDG_RUNTIME_DIR": "/nowhere"})


def test_osascript_reads_texts_as_texts() -> None:
    assert desktop.script('say "hi"', 'a\\" & (do shell script "x")') == (
        'display notification "a\\\\\\" & (do shell script \\"x\\")" with title "say \\"hi\\""\n'
    )


def test_a_question_that_nobody_sees_comes_to_the_desktop_by_itself_and_not_if_that_is_off(
    bus: PlayedBus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(tmp_path / "state" / "sayso.db")
    ask = AskDesk(store).leave(new_ask("Ship\nit\x1b[31m?", title=""))
    store.close()
    for name, value in bus.environ.items():
        monkeypatch.setenv(name, value)
    off = Notifier(load(environ={"SAYSO_NOTIFY_DESKTOP": "false"}))
    assert not off.reaches
    by_itself = Notifier(load(environ={}))
    assert by_itself.reaches
    assert not by_itself.configured
    asyncio.run(off.tell(ask, 1))
    assert not bus.calls
    asyncio.run(by_itself.tell(ask, 1))
    assert b"Ship it&lt;U+001B&gt;[31m?\0" in bus.calls[-1]
