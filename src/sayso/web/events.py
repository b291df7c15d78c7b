"""The event stream: what is in each person's inbox, at once on connecting and then whenever it changes.

One look at the store serves all streams of a person. A stream that was cut off misses nothing: the next one begins
with everything.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from sayso.asks.model import Ask
from sayso.errors import SaysoError
from sayso.store.bell import Listener
from sayso.text import json_line
from sayso.web.sessions import Visitor, required_browser
from sayso.web.site import Site

logger = logging.getLogger(__name__)

SURFACE = "browser"
PAGE = 100
"""The most asks that one inbox shows."""
BEAT = 10.0
"""Seconds between two signs of life on a quiet stream."""
LOOK_EVERY = 2.0
"""Seconds between two looks whether agents that wait still live."""
HANDOVER = 0.5
"""Seconds in which an outcome usually reaches an agent that waits for it."""
_GATHER = 0.02
"""Seconds in which further changes join one event."""
_GRACE = 5.0
"""Seconds for which a page that reloads still counts as open."""
_MOST_UNREAD = 64

_OPENING = b"retry: 1000\n\n"
_BEAT_EVENT = b"event: beat\ndata: \n\n"
_BYE_EVENT = b"event: bye\ndata: \n\n"
_END = b""


class Reader:
    """One open stream."""

    def __init__(self, visitor: Visitor) -> None:
        self.user, self.secret = visitor.user, visitor.secret
        self.unread: asyncio.Queue[bytes] = asyncio.Queue()

    def tell(self, event: bytes) -> None:
        """Hand over an event. A reader that does not read is cut off; it comes back and gets everything anew."""
        unread = self.unread.qsize()
        if unread <= _MOST_UNREAD:
            self.unread.put_nowait(event if unread < _MOST_UNREAD else _END)

    def end(self, *last: bytes) -> None:
        for event in (*last, _END):
            self.unread.put_nowait(event)


class Board:
    """One person's inbox as it was last told to that person's streams."""

    def __init__(self, render: Callable[[Ask], str]) -> None:
        self.readers: set[Reader] = set()
        self._render = render
        self._rows: dict[str, tuple[int, str]] = {}
        self._more = False

    def update(self, asks: Sequence[Ask]) -> bytes | None:
        """Take in the inbox as it is now. The event that tells of what changed, None when nothing did."""
        before, order, more = self._rows, list(self._rows), self._more
        self._rows = {ask.id: self._row(ask) for ask in asks[:PAGE]}
        self._more = len(asks) > PAGE
        changed = [ask_id for ask_id, row in self._rows.items() if before.get(ask_id) != row]
        return self._event(changed) if changed or order != list(self._rows) or more != self._more else None

    def whole(self) -> bytes:
        """The event that tells everything."""
        return self._event(list(self._rows))

    def _row(self, ask: Ask) -> tuple[int, str]:
        known = self._rows.get(ask.id)
        return known if known and known[0] == ask.version else (ask.version, self._render(ask))

    def _event(self, changed: Sequence[str]) -> bytes:
        data = {
            "asks": [[ask_id, version] for ask_id, (version, _) in self._rows.items()],
            "rows": {ask_id: self._rows[ask_id][1] for ask_id in changed},
            "more": self._more,
        }
        return f"event: inbox\ndata: {json_line(data)}\n\n".encode()


class News:
    """All open streams of this process, and the one watcher that feeds them."""

    def __init__(self, site: Site, render: Callable[[Ask], str]) -> None:
        self._site, self._render = site, render
        self._boards: dict[str, Board] = {}
        self._rung = asyncio.Event()
        self._waiters: set[asyncio.Event] = set()
        self.stopping = False
        self._present = False
        self._empty_since = 0.0
        self._dead_looked_at = 0.0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Watches the store. Leaving ends every stream."""
        loop = asyncio.get_running_loop()
        bell = await self._site.do(self._site.store.bell)
        listener = Listener(bell, lambda: _call(loop, self._ring))
        watcher = loop.create_task(self._watch())
        try:
            yield
        finally:
            self.stopping = True
            for reader in self._readers():
                reader.end()
            watcher.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait([watcher])
                await anyio.to_thread.run_sync(listener.close)
                await self._go_away()

    async def stream(self, visitor: Visitor) -> AsyncIterator[bytes]:
        """What one stream says, until its session ends, it is cut off, or the server stops."""
        reader = Reader(visitor)
        try:
            await self._join(reader)
            yield _OPENING
            while event := await self._next(reader):
                yield event
        except SaysoError as error:
            # The browser comes back by itself and finds out what is wrong then.
            logger.warning("An event stream ended: %s", error)
        finally:
            self._leave(reader)

    def end_session(self, secret: str) -> None:
        """The streams of a browser that signed out."""
        for reader in self._readers():
            if reader.secret == secret:
                reader.end(_BYE_EVENT)

    async def delivered(self, ask: Ask) -> Ask:
        """A settled ask once the agent that waits for it has it; for a short while only."""
        rung = asyncio.Event()
        self._waiters.add(rung)
        try:
            with anyio.move_on_after(HANDOVER):
                while ask.wait:
                    ask = await self._site.do(self._site.desk.get, ask.id)
                    if ask.wait:
                        await rung.wait()
                        rung.clear()
        finally:
            self._waiters.discard(rung)
        return ask

    # Coming and going

    async def _join(self, reader: Reader) -> None:
        board = self._boards.get(reader.user)
        if board is None:
            # Looked at before anyone else can find it, so that nobody is told an empty inbox.
            fresh = Board(self._render)
            fresh.update(await self._inbox(reader.user))
            board = self._boards.setdefault(reader.user, fresh)
        reader.tell(board.whole())
        board.readers.add(reader)
        # Something may have changed since that look.
        self._rung.set()
        if not self._present:
            self._present = True
            await self._site.do(self._site.desk.show_up, SURFACE, reader.user)

    def _leave(self, reader: Reader) -> None:
        board = self._boards.get(reader.user)
        if board:
            board.readers.discard(reader)
            if not board.readers:
                del self._boards[reader.user]
        self._empty_since = anyio.current_time()

    def _readers(self) -> list[Reader]:
        return [reader for board in self._boards.values() for reader in board.readers]

    async def _next(self, reader: Reader) -> bytes:
        try:
            async with asyncio.timeout(BEAT):
                return await reader.unread.get()
        except TimeoutError:
            session = await self._site.do(self._site.accounts.session, reader.secret)
            if session is None:
                reader.end(_BYE_EVENT)
                return reader.unread.get_nowait()
            return _BEAT_EVENT

    # Watching

    def _ring(self) -> None:
        for event in (self._rung, *self._waiters):
            event.set()

    async def _watch(self) -> None:
        """Endless until cancelled on leaving: look after each ring, and now and then without."""
        while True:
            with anyio.move_on_after(LOOK_EVERY):
                await self._rung.wait()
            self._rung.clear()
            try:
                await self._look()
            except SaysoError as error:
                logger.warning("Cannot look at the inbox just now: %s", error)
                self._rung.set()
                await anyio.sleep(LOOK_EVERY)
            await anyio.sleep(_GATHER)

    async def _look(self) -> None:
        now = anyio.current_time()
        if not self._boards:
            if self._present and now - self._empty_since > _GRACE:
                await self._go_away()
            return
        if now - self._dead_looked_at >= LOOK_EVERY:
            self._dead_looked_at = now
            await self._site.do(self._site.desk.release_the_dead)
        welcome = {user.name for user in await self._site.do(self._site.accounts.users) if user.revoked_at is None}
        for user, board in list(self._boards.items()):
            if user in welcome:
                await self._tell(user, board)
            else:
                for reader in board.readers:
                    reader.end(_BYE_EVENT)

    async def _tell(self, user: str, board: Board) -> None:
        event = board.update(await self._inbox(user))
        if event:
            for reader in board.readers:
                reader.tell(event)

    async def _inbox(self, user: str) -> list[Ask]:
        return await self._site.do(self._site.desk.inbox, person=user, most=PAGE + 1)

    async def _go_away(self) -> None:
        self._present = False
        try:
            await self._site.do(self._site.desk.go_away)
        except SaysoError as error:
            # Others notice that this process is gone.
            logger.warning("Could not say goodbye to the store: %s", error)


def _call(loop: asyncio.AbstractEventLoop, work: Callable[[], None]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(work)


async def events(request: Request) -> Response:
    """The stream of one browser."""
    visitor = await required_browser(request)
    if request.method == "HEAD":
        return Response(media_type="text/event-stream")
    news: News = request.app.state.news
    if news.stopping:
        raise HTTPException(503, "This server is stopping.", {"Retry-After": "1"})
    # A proxy that gathered the events first would hold them back.
    return StreamingResponse(news.stream(visitor), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})
