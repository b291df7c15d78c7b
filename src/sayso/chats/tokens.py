"""What a button brings back: which message it belongs to and which choice it is, sealed with a key of the store.

Nobody can make one up. It is good for one person, one ask as it was shown and one choice; whether it still is, the
store knows. 51 bytes at most, because Telegram takes no more than 64.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re

from sayso.records import record

SECRET = "chat_key"  # noqa: S105  the name of a key, not the key
_SEAL = 12
_FORM = re.compile(r"([\w-]{16})\.([a-z][0-9a-f-]{0,16})\.([\w-]{16})", re.ASCII)


@record
class ChosenButton:
    message: str
    choice: str


def new_id() -> str:
    return _text(os.urandom(12))


def sealed(key: bytes, message: str, choice: str) -> str:
    return f"{message}.{choice}.{_seal(key, message, choice)}"


def opened(key: bytes, token: str) -> ChosenButton | None:
    """What a token says; None where we have not sealed it."""
    found = _FORM.fullmatch(token)
    if not found or not hmac.compare_digest(_seal(key, found[1], found[2]), found[3]):
        return None
    return ChosenButton(message=found[1], choice=found[2])


def _seal(key: bytes, message: str, choice: str) -> str:
    return _text(hmac.new(key, f"{message}.{choice}".encode(), hashlib.sha256).digest()[:_SEAL])


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode()
