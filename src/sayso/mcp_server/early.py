"""The first answers of a server on stdio: a plain loop serves handshake and lists, before the event loop is imported.

What it does not serve itself it hands on, in order and untouched, to whoever goes on with the same connection.
"""

from __future__ import annotations

import logging
import os
import select
from collections import deque
from typing import Protocol

from sayso.mcp_server.lines import LineCutter
from sayso.protocol import messages
from sayso.protocol.connection import Connection, Event, Send
from sayso.protocol.messages import MAX_LINE, Json
from sayso.protocol.request import ClientInfo, Request

logger = logging.getLogger(__name__)

PATIENCE = 0.5
"""Seconds of silence, once the client has said something, after which all that calls need is imported ahead of the
first. From then on changes of the tool files are noticed, too."""

_CHUNK = 64 * 1024


class Lists(Protocol):
    """Knows the tools that a client is shown."""

    def look(self) -> None: ...
    def listed(self, client: ClientInfo) -> Json: ...


class EarlyServer:
    """Meets the client of one server."""

    def __init__(self, fds: tuple[int, int], connection: Connection, offer: Lists) -> None:
        self.connection = connection
        self.left: list[Event] = []
        """What somebody else has to do."""
        self.lines: deque[bytearray | None] = deque()
        """What came after that, unread."""
        self.cutter = LineCutter(MAX_LINE)
        self.listed = False
        """Whether the client has its tools."""
        self._fds, self._offer, self._met = fds, offer, False

    def serve(self) -> bool:
        """Serve what can be served here. Whether there is more to be done: else the client has left."""
        try:
            return self._serve()
        except OSError:  # how a killed client shows
            return False

    def _serve(self) -> bool:
        while not self.left and not self.lines:
            if self._met and not select.select([self._fds[0]], [], [], PATIENCE)[0]:
                return True
            chunk = self._read()
            for line in self.cutter.cut(chunk) if chunk else self.cutter.last():
                self._hear(line)
            if not chunk:
                break
        return bool(self.left or self.lines)

    def _read(self) -> bytes:
        while True:
            try:
                return os.read(self._fds[0], _CHUNK)
            except BlockingIOError:
                select.select([self._fds[0]], [], [])  # endless: a client may be silent for days

    def _hear(self, line: bytearray | None) -> None:
        if self.left or self.lines or line is None:
            self.lines.append(line)
            return
        self._met = True
        for event in self.connection.receive(line):
            if isinstance(event, Send):
                if event.about is None:
                    logger.warning("refused a line from the client: %s", event.message["error"]["message"])
                self._write(event.message)
            elif isinstance(event, Request) and event.method == "tools/list":
                self._list(event)
            else:
                self.left.append(event)

    def _list(self, request: Request) -> None:
        self._offer.look()
        answer = request.result(self._offer.listed(request.client))
        self.connection.answered(request)
        self._write(answer)
        self.listed = True

    def _write(self, message: Json) -> None:
        rest = memoryview(messages.encode(message))
        while rest:
            try:
                rest = rest[os.write(self._fds[1], rest) :]
            except BlockingIOError:
                select.select([], [self._fds[1]], [])  # endless, as a write to a pipe that nobody reads is
