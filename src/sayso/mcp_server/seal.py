"""Seals what a client hands back to us between two rounds of a call, with a key that all processes share."""

from __future__ import annotations

from collections.abc import Callable

from mcp.server.request_state import AESGCMRequestStateCodec, RequestStateCodec


class StoreSeal:
    """The SDK's sealing with a key from the store, fetched when something is first sealed or opened."""

    def __init__(self, key: Callable[[], bytes]) -> None:
        self._key = key
        self._codec: RequestStateCodec | None = None

    def seal(self, payload: bytes) -> str:
        return self._opened().seal(payload)

    def unseal(self, token: str) -> bytes:
        return self._opened().unseal(token)

    def _opened(self) -> RequestStateCodec:
        if self._codec is None:
            self._codec = AESGCMRequestStateCodec([self._key()])
        return self._codec
