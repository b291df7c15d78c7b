"""All chats of one server process: holds on to each that no other process of the store has, and lets go at its end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from sayso.asks.desk import AskDesk
from sayso.bridge import BackgroundTasks, Patience, Rings, Threads, endless, listening
from sayso.chats.answering import ChatAnswers
from sayso.chats.desk import ChatDesk
from sayso.chats.line import ChatLine, ChatParts
from sayso.chats.model import ChatAccess, ChatKind
from sayso.chats.tokens import SECRET
from sayso.clock import now_ms
from sayso.config import Config
from sayso.errors import SaysoError
from sayso.newly_asked import NewlyAsked
from sayso.permissions.desk import PermissionDesk
from sayso.presence import PresenceDesk
from sayso.store import Store

logger = logging.getLogger(__name__)

LOOK_EVERY = 2.0
"""Seconds between two looks whether the process that holds a chat still lives: no bell rings when one dies."""
GATHER = 0.2
"""Seconds in which further rings join one look, while there is no chat here that could have something to say."""


class Chats:
    """The chats that `sayso web` serves. Nothing is done while there are none."""

    def __init__(
        self, config: Config, store: Store, asks: AskDesk, permissions: PermissionDesk, presence: PresenceDesk
    ) -> None:
        self._config, self._store, self._asks = config, store, asks
        self._permissions, self._presence = permissions, presence
        self.desk = ChatDesk(store)
        self._threads = Threads(store.threads, "sayso-chats")
        self._rings, self._running = Rings(), BackgroundTasks()
        self._lines: dict[ChatKind, tuple[ChatLine, asyncio.Task[None]]] = {}

    @asynccontextmanager
    async def running(self, looks: Callable[[str], bool]) -> AsyncIterator[None]:
        """`looks` says whether a person looks at a page of this process right now."""
        watching = BackgroundTasks()
        async with listening(await self._threads.do(self._store.bell), self._rings.ring):
            watching.start(endless("Holding chats", lambda: self._watch(looks)))
            try:
                yield
            finally:
                await watching.cancel()
                await self._end(set(self._lines))
                self._threads.close()

    async def _watch(self, looks: Callable[[str], bool]) -> None:
        """Endless until cancelled: look after each ring, and now and then while another process holds a chat."""
        while True:
            rung, wait = self._rings.next, None
            try:
                if not await self._look(looks):
                    wait = LOOK_EVERY
            except SaysoError as error:
                logger.warning("Cannot look for chats just now: %s", error)
                wait = LOOK_EVERY
            for line, _ in self._lines.values():
                line.look_again()
            if not self._lines:
                await asyncio.sleep(GATHER)
            async with Patience(wait):
                await rung.wait()

    async def _look(self, looks: Callable[[str], bool]) -> bool:
        """Serve those chats that this process holds. Whether it holds all there are."""
        found = await self._threads.do(self.desk.all)
        held = [chat for chat in found if await self._threads.do(self.desk.hold, chat)]
        same = {kind for kind, (line, _) in self._lines.items() if _is_in(line.chat, held)}
        await self._end(self._lines.keys() - same)
        for chat in held:
            if chat.kind not in self._lines:
                line = ChatLine(chat, await self._threads.do(self._parts, looks), self._asked(chat.kind))
                self._lines[chat.kind] = line, self._running.start(line.run())
        return len(held) == len(found)

    def _parts(self, looks: Callable[[str], bool]) -> ChatParts:
        key = self._store.secret(SECRET)
        return ChatParts(
            chats=self.desk,
            asks=self._asks,
            answers=ChatAnswers(self.desk, self._asks, self._permissions, key),
            key=key,
            web_url=self._config.web_url,
            threads=self._threads,
            looks=looks,
        )

    def _asked(self, kind: ChatKind) -> NewlyAsked:
        return NewlyAsked(kind, self._config, self._asks, self._presence, lambda key: self._store.claim(key, now_ms()))

    async def _end(self, kinds: set[ChatKind]) -> None:
        """Serve these no longer."""
        for kind in kinds:
            _, task = self._lines.pop(kind)
            task.cancel()
            await asyncio.wait((task,))
            try:
                await self._threads.do(self.desk.let_go, kind)
            except SaysoError as error:
                logger.warning("%s is not let go of: %s", kind.label, error)


def _is_in(chat: ChatAccess, held: list[ChatAccess]) -> bool:
    return any((each.kind, each.access) == (chat.kind, chat.access) for each in held)
