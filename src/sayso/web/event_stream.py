"""Answers that go on for as long as there is news: server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

BEAT = 10.0
"""Seconds between two signs of life on a quiet stream, and two looks whether the person is still signed in."""
BEAT_EVENT = b"event: beat\ndata: \n\n"
BYE_EVENT = b"event: bye\ndata: \n\n"
OPENING = b"retry: 1000\n\n"
"""What every stream begins with: how soon a browser that lost it comes again, in milliseconds."""
_KIND = "text/event-stream"


def event_stream(request: Request, messages: AsyncIterator[bytes]) -> Response:
    """The messages as they come. Who asks for the head alone gets that, and nothing begins."""
    if request.method == "HEAD":
        return Response(media_type=_KIND)
    # A proxy that gathered the events first would hold them back.
    return StreamingResponse(messages, media_type=_KIND, headers={"X-Accel-Buffering": "no"})
