"""The client's side of a WebSocket over a unix socket, for texts alone (RFC 6455). No dependency has one."""

from __future__ import annotations

import base64
import hashlib
import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

SECONDS = 10.0
"""For the server to take a message, or to shake hands."""
MOST = 64 * 1024 * 1024
"""Bytes of one message."""
_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_MORE, _TEXT, _CLOSE, _PING, _PONG = 0, 1, 8, 9, 10
_CHUNK = 256 * 1024


class WebSocket:
    """A line to the server at a socket. What it says is read without waiting; `fileno` tells when there is something.
    OSError from whatever is called says that the line is broken."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(SECONDS)
        self._unread, self._whole, self._is_text = bytearray(), bytearray(), False
        try:
            self._socket.connect(os.path.realpath(path))
            self._shake_hands()
        except BaseException:
            self._socket.close()
            raise

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()

    def send(self, text: str) -> None:
        self._send(_TEXT, text.encode())

    def read(self) -> Iterator[str]:
        """The messages that are there by now."""
        self._socket.settimeout(0)
        try:
            self._unread += self._socket.recv(_CHUNK) or self._ended()
        except BlockingIOError:
            return
        finally:
            self._socket.settimeout(SECONDS)
        while (frame := self._frame()) is not None:
            yield from self._take(*frame)

    def _shake_hands(self) -> None:
        key = base64.b64encode(os.urandom(16))
        lines = (
            *(b"GET / HTTP/1.1", b"Host: localhost", b"Upgrade: websocket", b"Connection: Upgrade"),
            *(b"Sec-WebSocket-Key: " + key, b"Sec-WebSocket-Version: 13", b"", b""),
        )
        self._socket.sendall(b"\r\n".join(lines))
        while b"\r\n\r\n" not in self._unread:
            if len(self._unread) > _CHUNK:
                raise ConnectionError("its answer to the handshake has no end")
            self._unread += self._socket.recv(4096) or self._ended()
        head, _, self._unread = self._unread.partition(b"\r\n\r\n")
        # Proves that it is a WebSocket and no other server; it keeps nothing secret.
        proof = base64.b64encode(hashlib.sha1(key + _MAGIC, usedforsecurity=False).digest())
        if not head.startswith(b"HTTP/1.1 101 ") or proof not in head:
            raise ConnectionError("it is no WebSocket")

    def _ended(self) -> bytes:
        raise ConnectionError("it has ended")

    def _frame(self) -> tuple[bool, int, bytes] | None:
        """The next frame, once all of it is there: whether it is the last of its message, its kind, what it carries."""
        unread = self._unread
        if len(unread) < 2:
            return None
        size, start = unread[1] & 0x7F, 2
        if size > 125:
            form = ">H" if size == 126 else ">Q"
            start += struct.calcsize(form)
            if len(unread) < start:
                return None
            (size,) = struct.unpack_from(form, unread, 2)
        if size > MOST or unread[1] & 0x80:
            raise ConnectionError("what it says is not in the form of a WebSocket's server")
        if len(unread) < start + size:
            return None
        first, carried = unread[0], bytes(unread[start : start + size])
        del unread[: start + size]
        return bool(first & 0x80), first & 0x0F, carried

    def _take(self, is_last: bool, kind: int, carried: bytes) -> Iterator[str]:
        match kind:
            case 8:
                raise ConnectionError("it has closed the line")
            case 9:
                self._send(_PONG, carried)
            case 0 | 1 | 2:
                self._is_text = kind == _TEXT if kind != _MORE else self._is_text
                self._whole += carried
                if len(self._whole) > MOST:
                    raise ConnectionError("a message of its has no end")
                if is_last:
                    whole, self._whole = self._whole, bytearray()
                    yield from [whole.decode(errors="replace")] if self._is_text else []

    def _send(self, kind: int, carried: bytes) -> None:
        size = len(carried)
        length = (
            bytes([size]) if size < 126 else struct.pack(">BH" if size < 65_536 else ">BQ", 126 + (size > 65_535), size)
        )
        head = bytes([0x80 | kind, 0x80 | length[0]]) + length[1:]
        # A mask is due from clients; it protects proxies, of which there are none here.
        self._socket.sendall(head + bytes(4) + carried)
