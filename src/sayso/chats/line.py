"""The line to one chat, in the process that holds it: what is new goes out, what comes in is taken, and messages say
what became of what they asked."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import PurePath
from typing import TypeVar
from weakref import WeakValueDictionary

from sayso.accounts import opens_on_other_devices
from sayso.asks.desk import AskDesk
from sayso.asks.draft import from_json
from sayso.asks.mark import mark
from sayso.asks.model import Ask
from sayso.bridge import BackgroundTasks, Rings, Threads, endless
from sayso.chats import wording
from sayso.chats.adapter import ChatAdapter
from sayso.chats.answering import ChatAnswers
from sayso.chats.desk import ChatDesk
from sayso.chats.kinds import opened
from sayso.chats.model import ChatAccess, ChatLink, ChatMessage, ChatSaid, Pressed, SentMessage, Wrote
from sayso.chats.tokens import new_id, sealed
from sayso.clock import now_ms
from sayso.errors import ChatFailed, ChatGone, NotFound, SaysoError
from sayso.newly_asked import NewlyAsked, is_open
from sayso.wishes import NewsKind

logger = logging.getLogger(__name__)

T = TypeVar("T")
TRIES = 5
FIRST_WAIT, LONGEST_WAIT = 1.0, 300.0
"""Seconds until a chat that fails is tried again, where it names none: the first time, and the most this grows to."""
OUR_FAULT = "Something went wrong here, and this was not taken. Answer in your inbox."
GRACE = 3.0
"""Seconds that what is on its way has at the end."""
GATHER = 0.02
"""Seconds in which further changes join one look."""
STEADY = 5.0
"""Seconds after which a chat that is listened to works."""


@dataclass(frozen=True, kw_only=True)
class ChatParts:
    """What all lines of one process work with."""

    chats: ChatDesk
    asks: AskDesk
    answers: ChatAnswers
    key: bytes
    web_url: str
    threads: Threads
    looks: Callable[[str], bool]
    """Whether a person looks at a page right now."""


class ChatLine:
    """One chat that this process holds."""

    def __init__(self, chat: ChatAccess, parts: ChatParts, asked: NewlyAsked) -> None:
        self.chat, self._parts, self._asked = chat, parts, asked
        self._kind, self._do, self._chats, self._asks = chat.kind, parts.threads.do, parts.chats, parts.asks
        self._rings, self._sending = Rings(), BackgroundTasks()
        self._under_way: set[str] = set()
        """Messages that are being sent or changed."""
        self._seen: dict[str, int] = {}
        """Of messages that say what is so: the version of the ask that was looked at."""
        self._faults: Counter[str] = Counter()
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def look_again(self) -> None:
        self._rings.ring()

    async def run(self) -> None:
        """Endless until cancelled."""
        label = self._kind.label
        try:
            opening = opened(self._kind, self.chat.access)
            async with opening as adapter, self._seeing_through(), asyncio.TaskGroup() as both:
                both.create_task(endless(f"Listening to {label}", partial(self._hear, adapter)))
                both.create_task(endless(f"Telling {label}", partial(self._watch, adapter)))
        except ChatFailed as error:  # it cannot be spoken with at all
            await self._note_trouble(str(error))

    @asynccontextmanager
    async def _seeing_through(self) -> AsyncIterator[None]:
        """What is on its way when the line ends gets a moment: a message that was sent is to be known by its place."""
        try:
            yield
        finally:
            await self._sending.finish(GRACE)

    # What comes in

    async def _hear(self, adapter: ChatAdapter) -> None:
        """Endless: what fails is tried again, after as long as the chat wants to be left alone."""
        wait = FIRST_WAIT
        while True:
            began, steady = _now(), asyncio.get_running_loop().create_task(self._note_no_trouble())
            try:
                read_to = (await self._do(self._chats.get, self._kind)).read_to
                await adapter.listen(partial(self._heard, adapter), read_to)
                after = 0.0
            except SaysoError as error:
                after = (error.retry_after if isinstance(error, ChatFailed) else None) or 0.0
                logger.warning("%s cannot be listened to just now: %s", self._kind.label, error)
                steady.cancel()
                await self._note_trouble(str(error))
            finally:
                steady.cancel()
            wait = FIRST_WAIT if _now() - began > STEADY else min(2 * wait, LONGEST_WAIT)
            await asyncio.sleep(max(after, wait))

    async def _note_no_trouble(self) -> None:
        """Nothing is in the way any more once the chat has been listened to for a while."""
        await asyncio.sleep(STEADY)
        await self._note_trouble("")

    async def _heard(self, adapter: ChatAdapter, what: Pressed | Wrote) -> ChatSaid:
        said = await self._answered(what)
        if isinstance(what, Pressed) and what.read_to and said.room:
            await self._do(self._chats.note_read, self._kind, what.read_to)
        if said.message:
            self._sending.start(self._redraw(adapter, said.message))
        return said

    async def _answered(self, what: Pressed | Wrote) -> ChatSaid:
        """What came of it. What fails by a fault of ours is tried a few times and then told as not taken: it must not
        keep all that comes after it."""
        answers = self._parts.answers
        try:
            if isinstance(what, Pressed):
                return await self._do(answers.pressed, self._kind, what)
            return await self._do(answers.wrote, self._kind, what)
        except SaysoError:  # of the store: once that is back, the chat says it again
            raise
        except Exception:
            self._faults[what.id] += 1
            if self._faults[what.id] < TRIES:
                raise
            logger.exception("What was said in %s could not be taken", self._kind.label)
            return ChatSaid(text=OUR_FAULT)

    async def _note_trouble(self, trouble: str) -> None:
        try:
            await self._do(self._chats.note_trouble, self._kind, trouble)
        except SaysoError as error:
            logger.warning("That cannot be noted: %s", error)

    # What goes out

    async def _watch(self, adapter: ChatAdapter) -> None:
        look, what = partial(self._look, adapter), f"whom to tell by {self._kind.label}"
        await self._rings.look_after_each(look, what, gather=GATHER, again=FIRST_WAIT)

    async def _look(self, adapter: ChatAdapter) -> float | None:
        """Send what is new and change what is settled. How many seconds from now there may be more without a ring."""
        links = sorted(await self._do(self._chats.links_in, self._kind), key=lambda link: link.user)
        self._asked.forget_all_but(link.user for link in links)
        waits: list[float] = []
        for user, theirs in groupby(links, lambda link: link.user):
            wait = await self._tell(adapter, user, list(theirs))
            waits += [wait] if wait else []
        if links:
            await self._look_at_sent(adapter)
        return min(waits, default=None)

    async def _look_at_sent(self, adapter: ChatAdapter) -> None:
        """Change the messages that say something which is not so any more, and send those that never were."""
        sent, versions = await self._do(self._chats.open_messages, self._kind), await self._do(self._asks.versions)
        for message in sent:
            version = versions.get(message.ask)
            if message.id in self._under_way or (message.place and self._seen.get(message.id) == (version or 0)):
                continue
            if version and message.place and await self._do(self._says_so, message):
                self._seen[message.id] = version
            else:
                self._sending.start(self._redraw(adapter, message.id, unsent=not message.place))
        self._seen = {message.id: self._seen[message.id] for message in sent if message.id in self._seen}

    async def _tell(self, adapter: ChatAdapter, user: str, theirs: Sequence[ChatLink]) -> float:
        since = min(link.created_at for link in theirs)
        looks = self._parts.looks(user)
        news = await self._do(self._asked.look, user, theirs[0].system_account, since, looks)
        if news.asks:  # what they wished a moment ago holds for what was asked since
            theirs = [link for link in await self._do(self._chats.links_in, self._kind) if link.user == user]
        for ask in news.asks:
            kind = NewsKind.PERMISSION if ask.is_permission else NewsKind.QUESTION
            for link in theirs:
                if link.wishes.want(kind, PurePath(ask.asker.project).name, now_ms()):
                    self._sending.start(self._send(adapter, link, ask))
        return news.wait

    def _says_so(self, message: SentMessage) -> bool:
        """Whether what a message shows is what is asked."""
        ask = self._ask(message.ask)
        return ask is not None and ask.state.answerable and mark(ask) == message.shown

    def _ask(self, ask_id: str) -> Ask | None:
        try:
            return self._asks.get(ask_id)
        except NotFound:
            return None

    async def _send(self, adapter: ChatAdapter, link: ChatLink, ask: Ask) -> None:
        """Ask somebody."""
        draft = from_json(ask, await self._do(self._asks.draft, ask.id, link.user))
        drawn = wording.drawn(ask, adapter.limits, self._address(ask), draft=draft)
        message = new_id()
        # Before the store has it: whoever looks what was never sent must not send it as well.
        self._under_way.add(message)
        try:
            await self._do(self._chats.begin_message, message, link, ask.id, mark(ask), drawn.digest)
            async with self._turn(link):
                await self._post(adapter, link, message, ask.id, drawn)
        finally:
            self._under_way.discard(message)
        self.look_again()  # it may be settled by now

    async def _post(self, adapter: ChatAdapter, link: ChatLink, message: str, ask: str, drawn: wording.Drawn) -> None:
        shown = drawn.sealed(partial(sealed, self._parts.key, message))
        place = await self._insist(link, lambda: adapter.send(link.room, shown), ask)
        if place:
            await self._do(self._chats.note_place, message, place)
        else:
            await self._do(self._chats.close, message)

    async def _redraw(self, adapter: ChatAdapter, message: str, *, unsent: bool = False) -> None:
        """Have a message say what is so now. `unsent`: as far as was known, it has never been sent."""
        self._under_way.add(message)
        try:
            found = await self._do(self._chats.message, message)
            links = await self._do(self._chats.links_in, self._kind)
            link = next((each for each in links if found and each.id == found.link), None)
            if link:
                async with self._turn(link):
                    await self._redrawn(adapter, link, message, unsent)
        finally:
            self._under_way.discard(message)

    async def _redrawn(self, adapter: ChatAdapter, link: ChatLink, message_id: str, unsent: bool) -> None:
        message = await self._do(self._chats.message, message_id)
        if message is None or message.closed_at:
            return
        # In this order: what was entered is forgotten once it is sent.
        entered, ask = await self._do(self._asks.draft, message.ask, link.user), await self._do(self._ask, message.ask)
        if ask and ask.state.answerable and mark(ask) == message.shown:
            if unsent and message.place:
                return  # it was sent meanwhile, and says so
            confirming, draft = message.confirming_since is not None, from_json(ask, entered)
            drawn = wording.drawn(ask, adapter.limits, self._address(ask), confirming=confirming, draft=draft)
            if message.place:
                shown = drawn.sealed(partial(sealed, self._parts.key, message.id))
                await self._insist(link, lambda: adapter.change(link.room, message.place, shown))
            else:
                await self._post(adapter, link, message.id, ask.id, drawn)
            return
        if message.place:
            shown = self._last_words(ask, link, adapter)
            await self._insist(link, lambda: adapter.change(link.room, message.place, shown))
        await self._do(self._chats.close, message.id)
        if ask and ask.state.answerable:
            self._sending.start(self._send(adapter, link, ask))

    def _last_words(self, ask: Ask | None, link: ChatLink, adapter: ChatAdapter) -> ChatMessage:
        """What a message says for good."""
        if ask is None:
            return wording.gone()
        if ask.state.answerable:
            return wording.changed(ask)
        return wording.settled(ask, adapter.limits, link.user, self._kind.label)

    async def _insist(self, link: ChatLink, work: Callable[[], Awaitable[T]], ask: str = "") -> T | None:
        """What comes of it; None where it was in vain. Who is gone is told nothing any more, nor who was shut out while
        this waited."""
        wait = FIRST_WAIT
        for _ in range(TRIES):
            if all(each.id != link.id for each in await self._do(self._chats.links_in, self._kind)):
                return None
            try:
                return await work()
            except ChatGone as error:
                logger.warning("%s is not linked to %s any more: %s", link.user, self._kind.label, error)
                await self._do(self._drop, link)
                return None
            except ChatFailed as error:
                logger.warning("%s did not take a message: %s", self._kind.label, error)
                if error.retry_after is None:
                    return None
                await asyncio.sleep(max(error.retry_after, wait))
            wait *= 2
            if ask and not await self._do(is_open, self._asks, ask):
                return None
        return None

    def _drop(self, link: ChatLink) -> None:
        try:
            self._chats.unlink(link.id)
        except NotFound:
            logger.debug("That link has ended already")

    def _turn(self, link: ChatLink) -> asyncio.Lock:
        """One message at a time to each person, in the order in which they came."""
        return self._turns.setdefault(link.id, asyncio.Lock())

    def _address(self, ask: Ask) -> str:
        """Where its page is, as far as people can get there from elsewhere."""
        page = self._parts.web_url.rstrip("/")
        return f"{page}/asks/{ask.id}" if page and opens_on_other_devices(page) else ""


def _now() -> float:
    return asyncio.get_running_loop().time()
