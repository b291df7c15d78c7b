"""Where each person finds the inbox: a host name, and a path for other names, that nobody else can guess.

Browsers send a cookie to every port of a host, but only below the path it was set for. So what keeps a session from the
other servers of a machine is a name or a path that they do not know; and each person has their own, because whoever
shares one could take it from the others. Whatever is below `localhost` leads to the machine itself.

A name shows by itself that it is one of ours, without a look into the store: who it is for, and a signature of that.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from functools import lru_cache

_ID = 5
_SIGNATURE = 10
_HOST, _PATH = b"host name", b"path"
_BEFORE, _AFTER = "sayso-", ".localhost"


class PrivateAddresses:
    """The host names and paths of all people of one store."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._label = lru_cache(maxsize=1024)(self._new_label)
        self._shared_label = _letters(self._digest(_HOST)[:10])
        self._shared_path = _letters(self._digest(_PATH)[:15])

    def host(self, user: str, since: int) -> str:
        """Always the same for a user who was added then."""
        return f"{_BEFORE}{self._label(_HOST, user, since)}{_AFTER}"

    def path(self, user: str, since: int) -> str:
        """Below what they are let in under any other name. No slash at its end."""
        return f"/{self._label(_PATH, user, since)}"

    def is_host(self, host: str) -> bool:
        """Whether this is somebody's name."""
        label = host.removeprefix(_BEFORE).removesuffix(_AFTER)
        return host == f"{_BEFORE}{label}{_AFTER}" and self._is_signed(_HOST, label)

    def is_path(self, first: str) -> bool:
        """Whether this first part of a path is somebody's."""
        return self._is_signed(_PATH, first)

    def was_host(self, host: str) -> bool:
        """Whether this is the name that all people shared once. Nobody is let in under it."""
        return hmac.compare_digest(host.encode(), f"{_BEFORE}{self._shared_label}{_AFTER}".encode())

    def was_path(self, first: str) -> bool:
        return hmac.compare_digest(first.encode(), self._shared_path.encode())

    def _new_label(self, kind: bytes, user: str, since: int) -> str:
        return self._signed(kind, _letters(self._digest(f"{kind.decode()} of {since} {user}".encode())[:_ID]))

    def _is_signed(self, kind: bytes, label: str) -> bool:
        return hmac.compare_digest(label.encode(), self._signed(kind, label[: _ID * 8 // 5]).encode())

    def _signed(self, kind: bytes, whose: str) -> str:
        return whose + _letters(self._digest(kind + b" for " + whose.encode())[:_SIGNATURE])

    def _digest(self, text: bytes) -> bytes:
        return hmac.new(self._key, text, hashlib.sha256).digest()


def _letters(digest: bytes) -> str:
    return base64.b32encode(digest).decode().lower()
