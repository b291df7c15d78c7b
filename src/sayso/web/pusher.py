"""Tells browsers that have no page open, by push: looks at the store when the bell rings, and sends each thing once.

Whoever looks at a page or at the terminal inbox is told nothing, as with all other notifications. Several servers on
one store claim what they tell, so that it is told by one of them.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence, Set
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from itertools import groupby
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from sayso.agents.model import RunState
from sayso.bridge import BackgroundTasks, Rings, Threads, endless, listening
from sayso.clock import now_ms
from sayso.errors import NotificationFailed, SaysoError
from sayso.newly_asked import NewlyAsked, is_open
from sayso.push.subscriptions import Subscription
from sayso.web.conversations import Conversations
from sayso.web.push_messages import DAY, PushMessage, of_ask, of_settled, of_turn
from sayso.web.site import Site
from sayso.wishes import NewsKind

if TYPE_CHECKING:
    from sayso.public_hosts import Reach
    from sayso.push.encryption import SenderKey
    from sayso.push.sending import PushReply

logger = logging.getLogger(__name__)

SECRET = "push_key"  # noqa: S105
SENDERS = 8
"""How many messages are on their way at once."""
SENDERS_OF_ONE = 2
"""The same for one person: services that hold us up delay nobody else."""
GATHER = 0.02
"""Seconds in which further changes join one look."""
GATHER_FOR_NOBODY = 0.2
"""The same while no browser is to be told anything."""
TRIES = 5
FIRST_WAIT = 2.0
"""Seconds before a message is sent again, where the service names none; twice as long each time."""
NOBODY = "mailto:sayso@example.com"
"""Whom push services may write to: Apple's and Mozilla's want an address, and we have none to give."""
_DAY_MS = DAY * 1000


def can_push() -> bool:
    return find_spec("cryptography") is not None


@dataclass(frozen=True, kw_only=True)
class PushToSend:
    """A message for one browser."""

    to: Subscription
    message: PushMessage
    waiting: int


class Pusher:
    """Sends for one server process. `looks` says whether a person looks at a page of it right now."""

    def __init__(self, site: Site, conversations: Conversations, looks: Callable[[str], bool]) -> None:
        self._site, self._conversations, self._looks = site, conversations, looks
        self._rings, self._sending = Rings(), BackgroundTasks()
        self._threads, self._turn_to_send = Threads(SENDERS, "sayso-push"), _Turns()
        self._people: dict[str, _Person] = {}
        desks = site.desks
        self._asked = NewlyAsked("push", site.config, site.desk, desks.presence, desks.claim)
        self.reach: Reach | None = None
        """Where messages may go; None: to public addresses alone."""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        watching = BackgroundTasks()
        async with listening(await self._site.do(self._site.desks.bell), self._rings.ring):
            watching.start(endless("Telling browsers", self._watch))
            try:
                yield
            finally:
                await watching.cancel()
                await self._sending.cancel()
                self._threads.close()

    async def _watch(self) -> None:
        await self._rings.look_after_each(self._look, "whom to tell", gather=GATHER, again=FIRST_WAIT)

    async def _look(self) -> float | None:
        """Send what is new. How many seconds from now there may be more without a ring."""
        found = await self._site.do(self._site.desks.pushes.all)
        self._people = {name: self._people.get(name) or _Person() for name in {each.user for each in found}}
        self._asked.forget_all_but(self._people)
        looking = {name for name in self._people if self._looks(name)}
        waits: list[float] = []
        for user, theirs in groupby(sorted(found, key=lambda each: each.user), lambda each: each.user):
            outgoing, wait = await self._news_for(user, list(theirs), user in looking)
            waits += [wait] if wait else []
            for each in outgoing:
                self._sending.start(self._deliver(each))
        if not found:
            await asyncio.sleep(GATHER_FOR_NOBODY)
        return min(waits, default=None)

    async def _news_for(
        self, user: str, theirs: Sequence[Subscription], looks: bool
    ) -> tuple[Sequence[PushToSend], float]:
        """What goes wrong for one person is said once, and keeps nobody else from being told."""
        person = self._people[user]
        try:
            found = await self._site.do(self._news, user, theirs, looks)
        except SaysoError:  # of the store, and so of everybody
            raise
        except Exception:
            if not person.in_trouble:
                logger.exception("Cannot look what to tell %s", user)
            person.in_trouble = True
            return (), 0.0
        person.in_trouble = False
        return found

    # What is new for one person. Plain code, in a thread.

    def _news(self, user: str, theirs: Sequence[Subscription], looks: bool) -> tuple[list[PushToSend], float]:
        person, now = self._people.setdefault(user, _Person()), now_ms()
        since = max(min(each.created_at for each in theirs), now - _DAY_MS)
        found = self._asked.look(user, theirs[0].account, since, looks)
        messages = [of_ask(ask) for ask in found.asks]
        settled = self._settled(person, found.listed)
        person.told |= {message.ask: message for message in messages}
        turns = self._turns(user, theirs, looks, since)
        outgoing = [
            PushToSend(to=each, message=message, waiting=len(found.listed))
            for message in [*messages, *settled, *turns]
            for each in theirs
            if each.wishes.want(message.kind, message.project, now)
        ]
        return outgoing, found.wait

    def _settled(self, person: _Person, listed: Set[str]) -> list[PushMessage]:
        gone = [ask for ask in person.told if ask not in listed and not is_open(self._site.desk, ask)]
        return [of_settled(person.told.pop(ask)) for ask in gone]

    def _turns(self, user: str, theirs: Sequence[Subscription], looks: bool, since: int) -> list[PushMessage]:
        """Turns in Talk that have ended by themselves and were not seen."""
        if not any(NewsKind.TURN in each.wishes.kinds for each in theirs):
            return []
        person, told = self._people[user], []
        for row in self._conversations.newest(user).rows:
            run, seen_at = row.conversation.latest, row.conversation.marks.seen_at
            ended = run.ended_at or 0
            if run.state in (RunState.RUNNING, RunState.STOPPED) or ended < since or run.id in person.turns:
                continue
            person.turns.add(run.id)
            if self._asked.claim(user, run.id) and not looks and seen_at < ended:
                told.append(of_turn(row.conversation))
        return told

    # Sending

    async def _deliver(self, outgoing: PushToSend) -> None:
        """Until it is handed over, nobody is there, or it is not worth it any more."""
        wait = FIRST_WAIT
        for _ in range(TRIES):
            try:
                async with self._turn_to_send.next(outgoing.to):
                    # They may have been signed out while this waited.
                    if not await self._site.do(self._site.desks.pushes.lasts, outgoing.to):
                        return
                    reply = await self._threads.look(self._send, outgoing)
            except NotificationFailed as error:
                logger.warning("A push failed: %s", error)
                return
            if reply.nobody_there:
                await self._site.do(self._site.desks.pushes.forget, outgoing.to.endpoint)
            elif not reply.taken and not reply.worth_another_try:
                logger.warning("A push service refused a message with status %d", reply.status)
            if not reply.worth_another_try:
                return
            await asyncio.sleep(reply.retry_after or wait)
            wait *= 2
            if (ask := outgoing.message.ask) and not await self._site.do(is_open, self._site.desk, ask):
                return
        logger.warning("A push service took a message in none of %d tries", TRIES)

    def _send(self, outgoing: PushToSend) -> PushReply:
        from sayso.public_hosts import Reach
        from sayso.push.encryption import encrypted
        from sayso.push.sending import post

        to, message = outgoing.to, outgoing.message
        body = encrypted(message.as_bytes(outgoing.waiting), to.p256dh, to.auth)
        contact = self._site.config.web_url if self._site.secure else NOBODY
        topic = hmac.new(self._secret, message.topic.encode(), hashlib.sha256).hexdigest()[:32]
        headers = {
            "Authorization": self._key.authorization(to.endpoint, contact, int(time.time())),
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(DAY),
            "Urgency": message.urgency,
            "Topic": topic,
        }
        return post(to.endpoint, headers, body, self.reach or Reach())

    @cached_property
    def _secret(self) -> bytes:
        return self._site.desks.secret(SECRET)

    @cached_property
    def _key(self) -> SenderKey:
        from sayso.push.encryption import SenderKey

        return SenderKey(self._secret)

    def public_key(self) -> str:
        """What browsers subscribe with."""
        return self._key.public


class _Person:
    """What was done for one person by this process."""

    def __init__(self) -> None:
        self.turns: set[str] = set()
        self.told: dict[str, PushMessage] = {}
        self.in_trouble = False


class _Turns:
    """Whose message may go: one to each browser and two to each person at a time. They wait in the order they came."""

    def __init__(self) -> None:
        self._browsers: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._people: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def next(self, to: Subscription) -> AsyncIterator[None]:
        browser = self._browsers.setdefault(to.endpoint, asyncio.Semaphore(1))
        person = self._people.setdefault(to.user, asyncio.Semaphore(SENDERS_OF_ONE))
        async with browser, person:
            yield
