"""What clients carry for us between requests, signed with a key that all processes of the store share: it cannot be
made up or changed. Not hidden: nothing in it is secret to whoever carries it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import zlib
from collections.abc import Callable
from typing import Any

_MARK = 16
_LONGEST = 4 * 1024 * 1024


class Signed:
    """Values of one purpose: what was signed for another is not taken."""

    def __init__(self, key: Callable[[], bytes], purpose: str) -> None:
        self._key, self._purpose = key, purpose.encode()

    def write(self, value: Any) -> str:
        packed = zlib.compress(json.dumps(value, separators=(",", ":")).encode())
        return base64.urlsafe_b64encode(self._mark(packed) + packed).decode().rstrip("=")

    def read(self, text: str) -> Any:
        """The value; None for what was not signed here."""
        try:
            data = base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True)
            mark, packed = data[:_MARK], data[_MARK:]
            if hmac.compare_digest(mark, self._mark(packed)):
                return json.loads(zlib.decompressobj().decompress(packed, _LONGEST))
        except ValueError:
            pass
        return None

    def _mark(self, packed: bytes) -> bytes:
        return hmac.new(self._key(), self._purpose + b":" + packed, hashlib.sha256).digest()[:_MARK]
