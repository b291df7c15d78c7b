"""Event streams as HTTP carries them: messages, signs of life, and how a client finds its way back to a lost one."""

from __future__ import annotations

from sayso.protocol.messages import Json, encode
from sayso.protocol.versions import EMPTY_EVENTS

RETRY = 5_000
"""Milliseconds after which clients come back. They try twice, and a server takes a few seconds to restart."""

END = "end"
"""The mark of an answer: nothing comes after it. Some clients come back all the same."""

AFTER_MARK = "."
"""What divides a mark from what makes an id the only one of its kind."""

PING = b": ping\n\n"

_TAKEN_FOR_LINE_ENDS = {b"\xc2\x85": rb"\u0085", b"\xe2\x80\xa8": rb"\u2028", b"\xe2\x80\xa9": rb"\u2029"}
"""By some clients. JSON has another way to write them."""


def event(message: Json, id: str = "") -> bytes:
    data = encode(message)
    for character, escaped in _TAKEN_FOR_LINE_ENDS.items():
        data = data.replace(character, escaped)
    named = f"id: {id}\n".encode() if id else b""
    return named + b"event: message\ndata: " + data + b"\n"


def bookmark(id: str, version: str) -> bytes:
    """An event without data. From now on, a client that loses the stream comes back with this id."""
    # Clients of older versions read the data of every event, but for those of a kind that they do not know.
    kind = "" if version >= EMPTY_EVENTS else "event: bookmark\n"
    return f"id: {id}\nretry: {RETRY}\n{kind}data: \n\n".encode()
