"""Pages and files as they are sent: packed, where the browser takes that. Event streams never are.

The length of what is packed tells what repeats in it (BREACH): a page with a secret beside words that somebody else
has chosen would give the secret away, guess by guess. The one secret of our pages is the token of their forms, which
`sessions.py` masks anew for every response, so that no guess matches it twice. The token of the sign-in page is not
masked, and its link may come from anybody: pages of those who are not signed in go unpacked, and are short.
"""

from __future__ import annotations

import gzip

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

_LEAST = 1_400
"""Bytes below which packing saves no packet."""
_LEVEL = 5
"""More takes twice the time for a hundredth of the size."""


def takes_packed(scope: Scope) -> bool:
    return "gzip" in Headers(scope=scope).get("accept-encoding", "")


def packed(content: bytes, level: int = 9) -> bytes:
    return gzip.compress(content, level, mtime=0)


def pack(scope: Scope, response: Response) -> Response:
    """The same response, packed if that is worth it."""
    response.headers["Vary"] = "Accept-Encoding"
    if takes_packed(scope) and len(response.body) >= _LEAST:
        response.body = packed(bytes(response.body), _LEVEL)
        response.headers["Content-Encoding"] = "gzip"
        response.headers["Content-Length"] = str(len(response.body))
    return response
