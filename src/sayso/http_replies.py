"""Replies over HTTP that were read to their end, taken apart by `http.client`, which reads from sockets alone."""

from __future__ import annotations

import http.client
import io


def reply_in(received: bytes) -> http.client.HTTPResponse:
    """The reply in these bytes, read up to its body. An HTTPException where they are none."""
    reply = http.client.HTTPResponse(_Received(received))  # type: ignore[arg-type]
    reply.begin()
    return reply


class _Received:
    """Bytes, as a socket from which they can be read."""

    def __init__(self, received: bytes) -> None:
        self._received = received

    def makefile(self, _mode: str) -> io.BytesIO:
        return io.BytesIO(self._received)
