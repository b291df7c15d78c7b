"""Clients that are named by the address of a document which describes them (client ID metadata documents).

To look at one is a request to the outside, at an address that a stranger chose. So none is made unless the setting
`client_documents` names its host, only for somebody who is signed in, and only to public addresses, over TLS.
"""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Collection
from urllib.parse import urlsplit

from sayso import untrusted_json
from sayso.errors import InvalidInput, NotPublic, SignInRefused
from sayso.http_replies import reply_in
from sayso.oauth.clients import OAuthClient, described
from sayso.public_hosts import Reach, connected, time_left

PATIENCE = 5.0
"""Seconds for all of it."""
LONGEST = 32 * 1024
"""Bytes of a whole reply. Documents of clients have one or two thousand."""
KEPT = 15 * 60.0
"""Seconds for which a document is not fetched again: what a person agrees to is what they were shown."""
_MOST_KEPT = 50
EVERYWHERE = "*"


class ClientDocuments:
    """The documents of the hosts that are allowed. `*` allows every public one."""

    def __init__(self, hosts: Collection[str], reach: Reach | None = None) -> None:
        self._hosts, self._reach = frozenset(host.lower() for host in hosts), reach or Reach()
        self._known: dict[str, tuple[float, OAuthClient]] = {}

    @property
    def wanted(self) -> bool:
        return bool(self._hosts)

    @staticmethod
    def is_one(client_id: str) -> bool:
        """Whether an id is the address of a document, by its form."""
        return client_id.startswith("https://")

    def client(self, client_id: str) -> OAuthClient:
        """The client that a document describes. SignInRefused says why it cannot be had."""
        now = time.monotonic()
        at, client = self._known.get(client_id, (0.0, None))
        if client is None or at < now - KEPT:
            client = self._fetched(client_id)
            if len(self._known) >= _MOST_KEPT:
                del self._known[next(iter(self._known))]
            self._known[client_id] = (now, client)
        return client

    def _fetched(self, client_id: str) -> OAuthClient:
        host = urlsplit(client_id).hostname or ""
        if host not in self._hosts and EVERYWHERE not in self._hosts:
            raise SignInRefused(
                f"This program is described by a document at {host}, which Sayso does not fetch. "
                f"If you trust that host, allow it where Sayso runs: `sayso config set client_documents {host}`."
            )
        if not _is_plain(client_id) or not self._reach.may_call(client_id):
            raise SignInRefused(f"The document at {host} has no address that Sayso calls: https, public, with a path.")
        try:
            given = untrusted_json.loads(_get(client_id, self._reach))
            if not isinstance(given, dict) or given.get("client_id") != client_id:
                raise SignInRefused(f"The document at {host} is not about this program: its client_id is another.")
            if given.get("token_endpoint_auth_method", "none") != "none":
                raise SignInRefused(f"The document at {host} wants a secret; programs sign in without one here.")
            return described(client_id, given, vouched_by=host)
        except InvalidInput as error:
            raise SignInRefused(f"The document at {host} does not fit: {error}.") from error
        except (OSError, ValueError, http.client.HTTPException, NotPublic) as error:
            why = error or type(error).__name__
            raise SignInRefused(f"The document at {host} could not be had ({why}).") from error


def _is_plain(address: str) -> bool:
    """Whether it is spelt in the one way in which such an address is: with a path, without a fragment or a way up."""
    parts = urlsplit(address)
    steps = parts.path.split("/")
    return parts.path not in ("", "/") and "#" not in address and not {".", ".."} & set(steps)


def _get(address: str, reach: Reach) -> bytes:
    """What is there. No redirect is followed, no proxy asked."""
    parts, ends = urlsplit(address), time.monotonic() + PATIENCE
    host, port = parts.hostname or "", parts.port or 443
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    with connected(host, port, reach, ends) as plain:
        plain.settimeout(time_left(ends))
        with reach.context().wrap_socket(plain, server_hostname=host) as line:
            lines = (f"GET {path} HTTP/1.1", f"Host: {parts.netloc}", "Accept: application/json", "Connection: close")
            line.settimeout(time_left(ends))
            line.sendall("\r\n".join([*lines, "", ""]).encode("ascii"))
            reply = reply_in(_read(line, ends))
    if reply.status != 200:
        raise http.client.HTTPException(f"it answered {reply.status}")
    return reply.read()


def _read(line: socket.socket, ends: float) -> bytes:
    whole = b""
    while len(whole) <= LONGEST:
        line.settimeout(time_left(ends))
        more = line.recv(LONGEST + 1 - len(whole))
        if not more:
            return whole
        whole += more
    raise http.client.HTTPException(f"it is longer than {LONGEST:,} bytes")
