"""The event stream of one conversation: what is new in it since the place that the browser names.

Each stream reads the store itself, after each ring of the bell. Nothing is lost by a stream that ends: the next one
goes on from the last whole thing that was told.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from sayso.bridge import Patience, Rings, listening
from sayso.errors import SaysoError
from sayso.web.sessions import Visitor, required_browser
from sayso.web.site import Site, site_of
from sayso.web.talk import transcript_of
from sayso.web.transcript import Place, Transcript

logger = logging.getLogger(__name__)

BEAT = 10.0
"""Seconds between two signs of life, and two looks whether the person is still signed in."""
_GATHER = 0.01
"""Seconds in which further events join the ones that just came."""
_OPENING = b"retry: 1000\n\n"
_BEAT_EVENT = b"event: beat\ndata: \n\n"
_BYE_EVENT = b"event: bye\ndata: \n\n"


class Streams:
    """All open streams of this process, which hear the same bell."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._rings = Rings()
        self.stopping = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Hears the bell. Leaving ends every stream."""
        async with listening(await self._site.do(self._site.desks.bell), self._rings.ring):
            try:
                yield
            finally:
                self.stopping = True
                self._rings.ring()

    async def stream(self, transcript: Transcript, visitor: Visitor) -> AsyncIterator[bytes]:
        """What one browser is told, until its session ends, it leaves, or the server stops."""
        try:
            yield _OPENING
            while not self.stopping:
                rung = self._rings.next
                for message in await self._site.read(lambda: list(transcript.news())):
                    yield message
                if not await self._hears(rung):
                    signed_in = await self._site.do(self._site.accounts.session, visitor.secret)
                    yield _BEAT_EVENT if signed_in else _BYE_EVENT
                    if not signed_in:
                        return
        except SaysoError as error:
            # The browser comes back by itself and finds out what is wrong then.
            logger.warning("The stream of a conversation ended: %s", error)

    async def _hears(self, rung: asyncio.Event) -> bool:
        """Wait for the bell; False when it was quiet for so long that a sign of life is due."""
        async with Patience(BEAT):
            await rung.wait()
            await asyncio.sleep(_GATHER)
            return True
        return False


async def events(request: Request) -> Response:
    """The stream of one browser tab, from the place it has come to."""
    visitor, transcript = await _reader(request)
    place = request.headers.get("last-event-id") or request.query_params.get("after", "")
    transcript.begin(Place.parse(place))
    streams: Streams = request.app.state.streams
    if streams.stopping:
        raise HTTPException(503, "This server is stopping.", {"Retry-After": "1"})
    return StreamingResponse(
        streams.stream(transcript, visitor), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"}
    )


async def _reader(request: Request) -> tuple[Visitor, Transcript]:
    """Who reads which conversation; one that is not theirs is not found."""
    visitor = await required_browser(request)
    transcript = transcript_of(request, visitor)
    await site_of(request).do(transcript.check)
    return visitor, transcript
