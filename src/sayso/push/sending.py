"""Hands one message to a push service. Its address comes from a browser, so it is called only where it is public."""

from __future__ import annotations

import http.client
import logging
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from urllib.parse import urlsplit

from sayso.errors import NotificationFailed, NotPublic
from sayso.public_hosts import Reach, connected, time_left

logger = logging.getLogger(__name__)

PATIENCE = 20.0
"""Seconds for a whole call, however slowly it goes on. To find the address of a name takes what the system allows."""
LONGEST_REPLY = 8192
"""Bytes of what a service says before the text of its reply, which is not read."""
LONGEST_WAIT = 3600.0
UNREACHED = 0
"""Takes the place of a status where no reply came."""


@dataclass(frozen=True, kw_only=True)
class PushReply:
    """What a push service said."""

    status: int
    retry_after: float | None = None

    @property
    def taken(self) -> bool:
        return 200 <= self.status < 300

    @property
    def nobody_there(self) -> bool:
        return self.status in (404, 410)

    @property
    def worth_another_try(self) -> bool:
        return self.status in (UNREACHED, 429) or self.status >= 500


def post(endpoint: str, headers: Mapping[str, str], body: bytes, reach: Reach) -> PushReply:
    """Post it once. No redirect is followed, no proxy asked. NotificationFailed where it may not go there."""
    if not reach.may_call(endpoint):
        raise NotificationFailed("this is no address of a push service")
    parts = urlsplit(endpoint)
    host, port = parts.hostname or "", parts.port or 443
    ends = time.monotonic() + PATIENCE
    try:
        with connected(host, port, reach, ends) as plain:
            plain.settimeout(time_left(ends))
            with reach.context().wrap_socket(plain, server_hostname=host) as line:
                connection = http.client.HTTPConnection(host, port)
                connection.sock = line
                path = parts.path + (f"?{parts.query}" if parts.query else "")
                line.settimeout(time_left(ends))
                connection.request("POST", path or "/", body, {**headers, "Connection": "close"})
                return _reply(_head(line, ends))
    except NotPublic as error:
        raise NotificationFailed(f"the push service is not called: {error}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        logger.info("The push service at %s was not reached: %s", host, error or type(error).__name__)
        return PushReply(status=UNREACHED)


def _head(line: socket.socket, ends: float) -> bytes:
    """Status and headers of a reply."""
    head = b""
    while b"\r\n\r\n" not in head:
        line.settimeout(time_left(ends))
        more = line.recv(LONGEST_REPLY - len(head))
        if not more:
            raise http.client.HTTPException("its reply has no end of headers")
        head += more
    return head


def _reply(head: bytes) -> PushReply:
    status, _, headers = head.partition(b"\r\n")
    version, _, code = status[: len(b"HTTP/1.1 201")].partition(b" ")
    if not version.startswith(b"HTTP/1.") or not code.isdigit():
        raise http.client.BadStatusLine(repr(status[:40]))
    after = http.client.parse_headers(BytesIO(headers))["Retry-After"]
    return PushReply(status=int(code), retry_after=_seconds(after))


def _seconds(told: str | None) -> float | None:
    """How long a service wants to be left alone; only where it says that as a number."""
    return min(float(told), LONGEST_WAIT) if told and told.isascii() and told.isdigit() else None
