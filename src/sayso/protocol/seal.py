"""Seals what a client is handed between two rounds of a call, so that it brings back nothing but that, with that call.

Signed, not hidden: nothing inside is secret to whoever made the call.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from typing import Any

from sayso.errors import ProtocolError
from sayso.protocol.messages import INVALID_PARAMS

_FORMAT = "s1."
_PURPOSE = b"sayso/request-state/1:"


class Seal:
    """Seals and opens with one key, fetched when it is first needed. Whoever has the same key opens the same seals."""

    def __init__(self, key: Callable[[], bytes], audience: str) -> None:
        """`audience` is the server that hands it out: what another one with the same key sealed is not for this one."""
        self._key, self._audience = key, audience

    def seal(self, state: str, params: Mapping[str, Any], holder: str) -> str:
        """`holder` is who may bring it back, and only with a call of these parameters."""
        body = _text(state.encode())
        return f"{_FORMAT}{body}.{_text(self._mark(body, params, holder))}"

    def open(self, sealed: object, params: Mapping[str, Any], holder: str) -> str:
        """What was sealed. ProtocolError where it was not sealed here, for this holder and this call."""
        try:
            if not isinstance(sealed, str) or not sealed.startswith(_FORMAT):
                raise ValueError
            body, mark = sealed.removeprefix(_FORMAT).split(".")
            ours = _text(self._mark(body, params, holder))
            if not hmac.compare_digest(mark.encode(), ours.encode()):
                raise ValueError
            return _bytes(body).decode()
        except ValueError:
            data = {"reason": "invalid_request_state"}
            raise ProtocolError(INVALID_PARAMS, "Invalid or expired requestState", data) from None

    def _mark(self, body: str, params: Mapping[str, Any], holder: str) -> bytes:
        call = [self._audience, holder, params.get("name"), params.get("arguments") or {}]
        bound = json.dumps([body, *call], sort_keys=True, separators=(",", ":")).encode()
        return hmac.new(self._key(), _PURPOSE + bound, hashlib.sha256).digest()


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True)
