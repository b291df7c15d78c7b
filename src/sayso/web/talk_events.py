"""The event streams of conversations: what is new in each since the place that the browser names.

After a ring of the bell, one look at the store tells for all streams of the process in which of them there is anything
new; only those read it. Nothing is lost by a stream that ends: the next one goes on from the last whole thing that was
told.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sayso.agents.desk import RunDesk
from sayso.agents.file_news import ManyFilesNews
from sayso.bridge import BackgroundTasks, Patience, Rings, endless, listening
from sayso.errors import SaysoError
from sayso.file_events import IN_A_FILE
from sayso.web.event_stream import BEAT, BEAT_EVENT, BYE_EVENT, OPENING, event_stream
from sayso.web.sessions import Visitor, required_browser
from sayso.web.site import Site, site_of
from sayso.web.talk import transcript_of
from sayso.web.transcript import Place, Transcript

logger = logging.getLogger(__name__)

_BETWEEN = 0.01
"""Seconds from one look to the next: what comes meanwhile is told together."""


class _OpenStream:
    """One reader, and how its conversation was found at the last look."""

    signed_out = False

    def __init__(self, transcript: Transcript, session: str) -> None:
        self.transcript, self.session = transcript, session
        self.news = asyncio.Event()
        self._stamp: object = None

    def sign_out(self) -> None:
        self.signed_out = True
        self.news.set()

    def look_at(self, stamp: object) -> None:
        if stamp != self._stamp:
            self._stamp = stamp
            self.news.set()


class Streams:
    """All open streams of this process, and the one watcher that wakes them."""

    def __init__(self, site: Site, runs: RunDesk) -> None:
        self._site, self._runs = site, runs
        self._rings = Rings()
        self._open: set[_OpenStream] = set()
        self._woken_at_end: set[asyncio.Event] = set()
        self.stopping = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Hears the bell. Leaving ends every stream."""
        watching = BackgroundTasks()
        async with listening(await self._site.do(self._site.desks.bell), self._rings.ring):
            watching.start(endless("Looking at the conversations", self._watch))
            try:
                yield
            finally:
                self.stopping = True
                self._wake_all()
                for event in self._woken_at_end:
                    event.set()
                await watching.cancel()

    @contextmanager
    def wakes_at_end(self, event: asyncio.Event) -> Iterator[None]:
        """For a stream that waits for something else than the bell."""
        self._woken_at_end.add(event)
        try:
            yield
        finally:
            self._woken_at_end.discard(event)

    async def stream(self, transcript: Transcript, visitor: Visitor) -> AsyncIterator[bytes]:
        """What one browser is told, until its session ends, it leaves, or the server stops."""
        stream = _OpenStream(transcript, visitor.session)
        terminals = ManyFilesNews(stream.news.set)
        self._open.add(stream)
        try:
            yield OPENING
            while not self.stopping and not stream.signed_out:
                stream.news.clear()
                asked = transcript.asks
                for message in await self._site.read(lambda: list(transcript.news())):
                    yield message
                if terminals.go_on((path, IN_A_FILE) for path in transcript.beside.files):
                    # It may have been written to between the look and now.
                    stream.news.set()
                if transcript.asks != asked:
                    # A card may have changed before anybody knew that it is looked at.
                    self._rings.ring()
                if not await _hears(stream.news):
                    stream.signed_out = not await self._site.do(self._site.accounts.session, visitor.secret)
                    yield BEAT_EVENT
            if stream.signed_out:
                yield BYE_EVENT
        except SaysoError as error:
            # The browser comes back by itself and finds out what is wrong then.
            logger.warning("The stream of a conversation ended: %s", error)
        finally:
            self._open.discard(stream)
            terminals.close()

    # Watching

    async def _watch(self) -> None:
        """Endless until cancelled: look after each ring, at once if it was quiet before."""
        while True:
            rung = self._rings.next
            try:
                await self._look()
            except SaysoError as error:
                logger.warning("Cannot look at the conversations just now: %s", error)
                # Each finds out by itself what is wrong.
                self._wake_all()
            await asyncio.sleep(_BETWEEN)
            await rung.wait()

    async def _look(self) -> None:
        if streams := list(self._open):
            signed_in = await self._site.read(self._site.accounts.signed_in)
            stamps = await self._site.read(self._stamps, [stream.transcript for stream in streams])
            for stream, stamp in zip(streams, stamps, strict=True):
                stream.look_at(stamp) if stream.session in signed_in else stream.sign_out()

    def _stamps(self, transcripts: Sequence[Transcript]) -> list[object]:
        """How far each has come: in its conversation, in its cards, and whether its agent waits."""
        desk, asks = self._site.desk, [transcript.asks for transcript in transcripts]
        stamps = self._runs.stamps({each.conversation for each in transcripts})
        versions = desk.versions_of({ask for told in asks for ask in told})
        waiting = {user: desk.runs_that_wait(user) for user in {each.user for each in transcripts}}
        return [
            (stamp, [(ask, versions.get(ask)) for ask in told], stamp.latest in waiting[transcript.user])
            for transcript, told in zip(transcripts, asks, strict=True)
            if (stamp := stamps[transcript.conversation])
        ]

    def _wake_all(self) -> None:
        for stream in self._open:
            stream.news.set()


async def _hears(news: asyncio.Event) -> bool:
    """Wait for news; False when there was none for so long that a sign of life is due."""
    async with Patience(BEAT):
        await news.wait()
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
    return event_stream(request, streams.stream(transcript, visitor))


async def _reader(request: Request) -> tuple[Visitor, Transcript]:
    """Who reads which conversation; one that is not theirs is not found."""
    visitor = await required_browser(request)
    transcript = transcript_of(request, visitor)
    await site_of(request).do(transcript.check)
    return visitor, transcript
