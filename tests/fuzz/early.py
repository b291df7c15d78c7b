"""The plain loop of a stdio server under fire, in this process: it must answer whole lines, and keep what it leaves to
others in order and as it came."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence

from sayso.mcp_server.early import EarlyServer
from sayso.mcp_server.lines import LineCutter
from sayso.mcp_server.offer import ASKING
from sayso.protocol.connection import Connection, Served
from sayso.protocol.messages import MAX_LINE, Json
from sayso.protocol.request import ClientInfo


class NoTools:
    """Lists nothing."""

    def look(self) -> None:
        """There is nothing to look at."""

    def listed(self, client: ClientInfo) -> Json:
        return {"tools": []}


def fire(sent: Sequence[bytes]) -> None:
    """Send this to a plain loop and hang up."""
    (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
    connection = Connection(Served(name="fuzz", version="1", methods=ASKING))
    server = EarlyServer((theirs_in, theirs_out), connection, NoTools())
    writer = threading.Thread(target=_write, args=(ours_out, sent), daemon=True)
    answers: list[bytes] = []
    reader = threading.Thread(target=lambda: answers.extend(_lines(ours_in)), daemon=True)
    writer.start()
    reader.start()
    try:
        has_more = server.serve()
    finally:
        os.close(theirs_in)
        os.close(theirs_out)
        writer.join()
        reader.join()
        os.close(ours_in)
    assert all(json.loads(line)["jsonrpc"] == "2.0" and line.endswith(b"\n") for line in answers)
    heard = [bytes(line) for line in LineCutter(MAX_LINE).cut(b"".join(sent) + b"\n") if line is not None]
    left = [bytes(line) for line in server.lines if line is not None]
    assert not left or left == heard[-len(left) :] or b"\n".join(left) in b"\n".join(heard)
    assert has_more or not (server.left or server.lines)


def _write(fd: int, sent: Sequence[bytes]) -> None:
    try:
        for piece in sent:
            rest = memoryview(piece)
            while rest:
                rest = rest[os.write(fd, rest) :]
    except BrokenPipeError:
        # It is the event loop's turn, which would read on.
        return
    finally:
        os.close(fd)


def _lines(fd: int) -> list[bytes]:
    heard = b""
    while chunk := os.read(fd, 65_536):
        heard += chunk
    return heard.splitlines(keepends=True)
