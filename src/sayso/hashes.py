"""SHA-256 of short texts, without `hashlib`, which loads OpenSSL and every other hash: a gate has no time for that."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import Any


def sha256(content: bytes) -> str:
    """In hexadecimal digits."""
    digest: str = _sha256()(content).hexdigest()
    return digest


@cache
def _sha256() -> Any:
    for name in ("_sha2", "_sha256"):  # as Python calls its own since 3.12, and before
        with suppress(ImportError):
            return __import__(name).sha256
    import hashlib

    return hashlib.sha256
