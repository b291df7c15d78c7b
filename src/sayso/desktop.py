"""A notification on the desktop of this machine: by the session bus on Linux, by osascript on macOS.

The words go over the bus or standard input, never into a command line: the process list is read by everybody. They are
shown as they are, and no markup of theirs is any.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress

from sayso.errors import NotificationFailed

PATIENCE = 5.0
"""Seconds that the desktop may take for one step."""

_SERVICE, _PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
_BUS, _BUS_PATH = "org.freedesktop.DBus", "/org/freedesktop/DBus"
_CALL, _RETURN, _ERROR = 1, 2, 3
_MOST = 1024 * 1024
"""Bytes of a message that a bus may send us; those that we wait for have some hundred."""


def is_there(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether this machine seems to have a desktop that can be told something."""
    if sys.platform == "darwin":
        import shutil

        return shutil.which("osascript") is not None
    return any(_exists(address) for address in _addresses(environ))


def tell(title: str, body: str, environ: Mapping[str, str] = os.environ) -> None:
    """Show a notification. NotificationFailed says why that is not possible."""
    try:
        if sys.platform == "darwin":
            _by_osascript(title, body)
        else:
            _by_bus(title, body, environ)
    except (OSError, ValueError, struct.error) as error:
        raise NotificationFailed(f"the desktop cannot be told: {error or type(error).__name__}") from error


# macOS


def script(title: str, body: str) -> str:
    """AppleScript that shows a notification. It reads the texts as texts, whatever they hold."""
    return f"display notification {_literal(body)} with title {_literal(title)}\n"


def _literal(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _by_osascript(title: str, body: str) -> None:
    import subprocess

    source = script(title, body).encode()
    try:
        done = subprocess.run(["osascript", "-"], input=source, capture_output=True, timeout=PATIENCE, check=False)
    except subprocess.SubprocessError as error:
        raise NotificationFailed("osascript does not end") from error
    if done.returncode:
        raise NotificationFailed(f"osascript ended with exit code {done.returncode}")


# Linux


def _addresses(environ: Mapping[str, str]) -> Iterator[str]:
    """Where the session bus may listen, as a socket's name. Clients often start servers without the variables."""
    if named := environ.get("DBUS_SESSION_BUS_ADDRESS"):
        for address in named.split(";"):
            kind, _, rest = address.partition(":")
            told = dict(part.partition("=")[::2] for part in rest.split(","))
            if kind == "unix" and "path" in told:
                yield _unquoted(told["path"])
            elif kind == "unix" and "abstract" in told:
                yield "\0" + _unquoted(told["abstract"])
    elif folder := environ.get("XDG_RUNTIME_DIR"):
        yield f"{folder}/bus"
    else:
        yield f"/run/user/{os.getuid()}/bus"


def _unquoted(name: str) -> str:
    from urllib.parse import unquote

    return unquote(name)


def _exists(address: str) -> bool:
    return address.startswith("\0") or os.path.exists(address)


def _by_bus(title: str, body: str, environ: Mapping[str, str]) -> None:
    for address in filter(_exists, _addresses(environ)):
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(PATIENCE)
            with suppress(ConnectionRefusedError, FileNotFoundError):
                line.connect(address)
                _notify(_Bus(line), title, body)
                return
    raise NotificationFailed("no session bus listens")


def _notify(bus: _Bus, title: str, body: str) -> None:
    if b"body-markup\0" in bus.call(_SERVICE, _PATH, "GetCapabilities"):
        body = body.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    words = _Words()
    words.text("Sayso").number(0).text("").text(title).text(body)
    words.number(0)  # no actions
    words.number(0).align(8)  # no hints
    words.number(0xFFFFFFFF)  # shown as long as the desktop sees fit
    bus.call(_SERVICE, _PATH, "Notify", "susssasa{sv}i", bytes(words.data))


class _Bus:
    """A connection to a message bus, for one call after the other."""

    def __init__(self, line: socket.socket) -> None:
        self._line, self._serial = line, 0
        line.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
        if not self._reply_line().startswith(b"OK"):
            raise NotificationFailed("the session bus does not let us in")
        line.sendall(b"BEGIN\r\n")
        self.call(_BUS, _BUS_PATH, "Hello")

    def call(self, service: str, path: str, method: str, signature: str = "", body: bytes = b"") -> bytes:
        """What a method returns, as bytes of the bus."""
        self._serial += 1
        fields = _Words()
        for code, kind, value in ((1, "o", path), (2, "s", service), (3, "s", method), (6, "s", service)):
            fields.field(code, kind, value)
        if signature:
            fields.field(8, "g", signature)
        head = struct.pack("<cBBBIII", b"l", _CALL, 0, 1, len(body), self._serial, len(fields.data))
        self._line.sendall(head + bytes(fields.align(8).data) + body)
        return self._returned(method)

    def _returned(self, method: str) -> bytes:
        """The reply to the call that was made last; signals in between are of no interest."""
        while True:
            head = self._exactly(16)
            order = "<" if head[:1] == b"l" else ">"
            length, _, fields = struct.unpack(f"{order}III", head[4:])
            if length + fields > _MOST:
                raise NotificationFailed("the session bus sends too much")
            self._exactly(fields + -fields % 8)
            body = self._exactly(length)
            if head[1] == _ERROR:
                raise NotificationFailed(f"the desktop refuses {method}")
            if head[1] == _RETURN:
                return body

    def _reply_line(self) -> bytes:
        said = b""
        while not said.endswith(b"\r\n") and len(said) < 1024:
            said += self._exactly(1)
        return said

    def _exactly(self, size: int) -> bytes:
        parts = b""
        while len(parts) < size:
            part = self._line.recv(size - len(parts))
            if not part:
                raise NotificationFailed("the session bus hung up")
            parts += part
        return parts


class _Words:
    """Values as the bus writes them, each where its alignment wants it."""

    def __init__(self) -> None:
        self.data = bytearray()

    def align(self, size: int) -> _Words:
        self.data += bytes(-len(self.data) % size)
        return self

    def number(self, value: int) -> _Words:
        self.align(4).data += struct.pack("<I", value)
        return self

    def text(self, value: str) -> _Words:
        encoded = value.replace("\0", "").encode()
        self.number(len(encoded)).data += encoded + b"\0"
        return self

    def field(self, code: int, kind: str, value: str) -> None:
        """One field of a message's head: a code, and a value that says of what kind it is."""
        self.align(8).data += bytes([code, 1]) + kind.encode() + b"\0"
        if kind == "g":
            self.data += bytes([len(value)]) + value.encode() + b"\0"
        else:
            self.text(value)
