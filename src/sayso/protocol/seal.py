"""What clients carry for us between requests, signed with a key that all processes of the store share: it cannot be
made up or changed, nor brought back with anything but what it was bound to.

Not hidden: nothing in it is secret to whoever carries it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from sayso.errors import ProtocolError
from sayso.protocol.messages import INVALID_PARAMS

_MARK = 16
_LONGEST = 4 * 1024 * 1024


class Signed:
    """Values of one purpose: what was signed for another is not taken. The key is fetched when it is first needed."""

    def __init__(self, key: Callable[[], bytes], purpose: str) -> None:
        self._key, self._purpose = key, purpose

    def write(self, value: Any, *bound: Any) -> str:
        """What is read again only with the same values of `bound`."""
        packed = zlib.compress(json.dumps(value, separators=(",", ":")).encode())
        return _text(self._mark(packed, bound) + packed)

    def read(self, text: str, *bound: Any) -> Any:
        """The value; None for what was not signed here, or not for this."""
        try:
            data = base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True)
            mark, packed = data[:_MARK], data[_MARK:]
            # The last letter may be another one and say the same: that was not written here.
            if hmac.compare_digest(mark, self._mark(packed, bound)) and text == _text(data):
                return json.loads(zlib.decompressobj().decompress(packed, _LONGEST))
        except ValueError:
            pass
        return None

    def _mark(self, packed: bytes, bound: tuple[Any, ...]) -> bytes:
        about = self._purpose + (json.dumps(bound, sort_keys=True, separators=(",", ":")) if bound else "")
        return hmac.new(self._key(), about.encode() + b":" + packed, hashlib.sha256).digest()[:_MARK]


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Seal:
    """Seals what a client is handed between two rounds of a call: it brings back nothing but that, with that call."""

    def __init__(self, key: Callable[[], bytes], audience: str) -> None:
        """`audience` is the server that hands it out: what another one with the same key sealed is not for this one."""
        self._signed, self._audience = Signed(key, "request-state"), audience

    def seal(self, state: str, params: Mapping[str, Any], holder: str) -> str:
        """`holder` is who may bring it back, and only with a call of these parameters."""
        return self._signed.write(state, *self._call(params, holder))

    def open(self, sealed: object, params: Mapping[str, Any], holder: str) -> str:
        """What was sealed. ProtocolError where it was not sealed here, for this holder and this call."""
        state = self._signed.read(sealed, *self._call(params, holder)) if isinstance(sealed, str) else None
        if not isinstance(state, str):
            data = {"reason": "invalid_request_state"}
            raise ProtocolError(INVALID_PARAMS, "Invalid or expired requestState", data)
        return state

    def _call(self, params: Mapping[str, Any], holder: str) -> tuple[Any, ...]:
        return self._audience, holder, params.get("name"), params.get("arguments") or {}
