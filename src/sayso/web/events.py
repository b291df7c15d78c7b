"""The event stream: what is in each person's inbox, which commands run and how their conversations stand, at once on
connecting and then whenever it changes.

One look at the store serves all streams of a person. A stream that was cut off misses nothing: the next one begins
with everything, but for the rows that the page says it has.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sayso.asks.crowds import Crowd
from sayso.asks.desk import BROWSER
from sayso.asks.model import Ask, State
from sayso.bridge import BackgroundTasks, Patience, Rings, endless, listening, seen_through
from sayso.errors import NotFound, SaysoError
from sayso.operations.operation import Operation
from sayso.records import replace
from sayso.web.boards import PAGE, Drawing, OpenStream, SeenByPerson, StreamBoard
from sayso.web.conversations import Conversations
from sayso.web.event_stream import BEAT, BEAT_EVENT, BYE_EVENT, OPENING, event_stream
from sayso.web.glances import Glances, SessionNews
from sayso.web.sessions import Visitor, required_browser, sent_form
from sayso.web.site import Site, site_of
from sayso.web.snoozing import snoozed_by
from sayso.web.tabs import GRACE, Tabs, Told, told
from sayso.web.watching import Watching

logger = logging.getLogger(__name__)

MOST_WATCHED = 16
"""The most commands that one stream follows."""
LOOK_EVERY = 2.0
"""Seconds between two looks whether agents that wait still live."""
HANDOVER = 0.5
"""Seconds in which an outcome usually reaches an agent that waits for it."""
_GATHER = 0.02
"""Seconds in which further changes join one event."""


class News:
    """All open streams of this process, and the one watcher that feeds them."""

    def __init__(self, site: Site, conversations: Conversations, glances: Glances, drawing: Drawing) -> None:
        self._site, self._conversations, self._glances, self._drawing = site, conversations, glances, drawing
        self._boards: dict[str, StreamBoard] = {}
        self._watching = Watching(site.reader)
        self._rung = asyncio.Event()
        self._sessions = SessionNews(glances, self._rung.set)
        self._rings = Rings()
        self.stopping = False
        self._tabs = Tabs(site.config.away_after / 1000)
        self._left_at: dict[str, float] = {}
        self._shown_to: set[str] = set()
        self._showing = asyncio.Lock()
        self._dead_looked_at = 0.0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Watches the store. Leaving ends every stream."""
        watchers = BackgroundTasks()
        async with listening(await self._site.do(self._site.desks.bell), self._ring):
            watchers.start(endless("Looking at the inbox", self._watch))
            watchers.start(endless("Looking at the commands", self._watching.run))
            try:
                yield
            finally:
                self.stopping = True
                self._rings.ring()
                for reader in self._readers():
                    reader.end()
                await seen_through(self._stop(watchers))

    async def _stop(self, watchers: BackgroundTasks) -> None:
        await watchers.cancel()
        self._sessions.stop()
        await self._go_away()

    async def stream(self, visitor: Visitor, watched: Sequence[Operation] = (), has: str = "") -> AsyncIterator[bytes]:
        """What one stream says, until its session ends, it is cut off, or the server stops. With it goes what becomes
        of the commands that are looked at in this browser. `has` is the mark of the inbox that the page shows."""
        reader = OpenStream(visitor)
        try:
            await self._join(reader, has)
            for operation in watched:
                self._watching.begin(operation.id, reader.tell)
            yield OPENING
            while event := await self._next(reader):
                yield event
        except SaysoError as error:
            # The browser comes back by itself and finds out what is wrong then.
            logger.warning("An event stream ended: %s", error)
        finally:
            self._watching.end(reader.tell)
            self._leave(reader)

    def end_session(self, secret: str) -> None:
        """The streams of a browser that signed out, or was signed out."""
        self._tabs.end_session(secret)
        for reader in self._readers():
            if reader.secret == secret:
                reader.end(BYE_EVENT)

    async def delivered(self, ask: Ask) -> Ask:
        """A settled ask once the agent that waits for it has it; for a short while only."""
        async with Patience(HANDOVER):
            while ask.wait:
                rung = self._rings.next
                ask = await self._site.do(self._site.desk.get, ask.id)
                if ask.wait:
                    await rung.wait()
        return ask

    @property
    def next_ring(self) -> asyncio.Event:
        """Set when the store has changed, and when this server stops."""
        return self._rings.next

    async def ended(self, ask_id: str) -> None:
        """Until this ask is no longer pending. Whoever waits limits the time."""
        while True:
            rung = self._rings.next
            if (await self._site.do(self._site.desk.get, ask_id)).state is not State.PENDING:
                return
            await rung.wait()

    # Coming and going

    async def _join(self, reader: OpenStream, has: str) -> None:
        board = self._boards.get(reader.user)
        if board is None:
            # Looked at before anyone else can find it, so that nobody is told an empty inbox.
            fresh = StreamBoard(self._drawing, reader.user)
            for seen in (await self._site.do(self._seen_by, [reader.user])).values():
                fresh.update(seen)
            board = self._boards.setdefault(reader.user, fresh)
        for event in board.whole(has):
            reader.tell(event)
        board.readers.add(reader)
        # Something may have changed since that look.
        self._rung.set()
        await self._show_onlookers()

    async def note(self, visitor: Visitor, told: Told) -> None:
        """Whether somebody can be looking at one of this browser's tabs."""
        self._tabs.note(visitor, told, time.monotonic())
        await self._show_onlookers()

    def is_seen_by(self, user: str) -> bool:
        """Whether this person can be looking at a page of this process right now."""
        open_for = {user} & {*self._boards, *self._left_at}
        return user in self._tabs.onlookers(open_for, time.monotonic())

    async def _show_onlookers(self) -> None:
        """Count as a place where asks are seen only while a page is live and somebody can be looking at it."""
        async with self._showing:
            now = time.monotonic()
            self._left_at = {user: at for user, at in self._left_at.items() if now - at <= GRACE}
            people = self._tabs.onlookers({*self._boards, *self._left_at}, now)
            if people and people != self._shown_to and not self.stopping:
                self._shown_to = people
                await self._site.do(self._site.desk.show_up, BROWSER, *sorted(people))
            elif self._shown_to and not people:
                await self._go_away()

    def _leave(self, reader: OpenStream) -> None:
        board = self._boards.get(reader.user)
        if board:
            board.readers.discard(reader)
            if not board.readers:
                del self._boards[reader.user]
                self._left_at[reader.user] = time.monotonic()

    def _readers(self) -> list[OpenStream]:
        return [reader for board in self._boards.values() for reader in board.readers]

    async def _next(self, reader: OpenStream) -> bytes:
        try:
            async with asyncio.timeout(BEAT):
                return await reader.unread.get()
        except TimeoutError:
            session = await self._site.do(self._site.accounts.session, reader.secret)
            if session is None:
                reader.end(BYE_EVENT)
                return reader.unread.get_nowait()
            return BEAT_EVENT

    # Watching

    def _ring(self) -> None:
        self._rung.set()
        self._rings.ring()
        self._watching.ring()

    async def _watch(self) -> None:
        """Endless until cancelled on leaving: look after each ring, and now and then without."""
        while True:
            async with Patience(LOOK_EVERY):
                await self._rung.wait()
            self._rung.clear()
            try:
                await self._look()
            except SaysoError as error:
                logger.warning("Cannot look at the inbox just now: %s", error)
                self._rung.set()
                await asyncio.sleep(LOOK_EVERY)
            await asyncio.sleep(_GATHER)

    async def _look(self) -> None:
        await self._show_onlookers()
        if not self._boards:
            self._sessions.stop()
            return
        now = time.monotonic()
        boards, readers = dict(self._boards), self._readers()
        signed_in, seen = await self._site.do(self._looked, boards)
        # First of all: who has just been signed out elsewhere is told nothing more.
        for secret in {reader.secret for reader in readers if reader.session not in signed_in}:
            self.end_session(secret)
        for user, board in boards.items():
            if user in seen:
                _tell(board, seen[user])
                await self._glance(board, seen[user], user)
            else:
                for reader in board.readers:
                    reader.end(BYE_EVENT)
        await self._sessions.go_on(boards, self._site.read)
        if now - self._dead_looked_at >= LOOK_EVERY:
            # After the news, which must not wait for this. What it changes rings the bell.
            self._dead_looked_at = now
            await self._site.do(self._end_the_dead)

    async def _glance(self, board: StreamBoard, seen: SeenByPerson, user: str) -> None:
        """After the news, which must not wait for files."""
        if self._sessions.is_due(seen.agents, user):
            agents = await self._site.read(self._glances.told, seen.agents, user)
            _tell(board, replace(seen, agents=agents))

    def _looked(self, users: Iterable[str]) -> tuple[set[str], dict[str, SeenByPerson]]:
        """Whose sessions last, and what these people have before them. In this order: what came after the end of a
        session is not told there."""
        seen = self._seen_by(users)
        return self._site.accounts.signed_in(), seen

    def _seen_by(self, users: Iterable[str]) -> dict[str, SeenByPerson]:
        """What each of these people has before them now, but for those who were shut out. One trip for all."""
        site = self._site
        welcome = site.accounts.welcome()
        return {user: self._seen_by_one(user) for user in users if user in welcome}

    def _seen_by_one(self, user: str) -> SeenByPerson:
        site = self._site
        inbox, commands = site.desk.folded(person=user, most=PAGE), site.reader.overview(person=user)
        put_off = snoozed_by(site, user)
        asks = [entry.newest if isinstance(entry, Crowd) else entry for entry in inbox.entries]
        asks += [one.ask for one in put_off]
        is_all = inbox.last is None and all(isinstance(entry, Ask) for entry in inbox.entries)
        sizes = None if is_all else site.desk.open_by_session(user)
        at_work = site.desks.roster.at_work(asks, commands.under_way, user, sizes)
        return SeenByPerson(
            inbox=inbox,
            snoozed=len(put_off),
            commands=commands,
            talk=self._conversations.newest(user),
            agents=[self._glances.known(agent, user) for agent in at_work],
            absence=site.desks.presence.absence(user),
            connecting=site.desks.waiting_room.all(),
        )

    def _end_the_dead(self) -> None:
        self._site.desk.release_the_dead()
        self._site.reader.desk.end_the_dead()

    async def _go_away(self) -> None:
        self._shown_to = set()
        try:
            await self._site.do(self._site.desk.go_away)
        except SaysoError as error:
            # Others notice that this process is gone.
            logger.warning("Could not say goodbye to the store: %s", error)


def _tell(board: StreamBoard, seen: SeenByPerson) -> None:
    for event in board.update(seen):
        for reader in board.readers:
            reader.tell(event)


async def events(request: Request) -> Response:
    """The stream of one browser."""
    visitor = await required_browser(request)
    news: News = request.app.state.news
    if news.stopping:
        raise HTTPException(503, "This server is stopping.", {"Retry-After": "1"})
    stream = news.stream(visitor, await _watched(request, visitor), request.query_params.get("has", ""))
    return event_stream(request, stream)


async def sight(request: Request) -> Response:
    """A tab tells whether somebody can be looking at it."""
    visitor, fields = await sent_form(request)
    news: News = request.app.state.news
    await news.note(visitor, told(fields))
    return Response(status_code=204)


async def _watched(request: Request, visitor: Visitor) -> list[Operation]:
    """The commands that tabs of this browser show and this person may see."""
    found = []
    for wanted in dict.fromkeys(request.query_params.getlist("watch")[:MOST_WATCHED]):
        try:
            found.append(await site_of(request).operation(wanted, visitor.user))
        except NotFound:
            continue
    return found
