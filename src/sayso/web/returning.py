"""Tells whoever Sayso runs as that what they had put off is back: on their desktop, by their command, wherever agents'
own servers tell of what is new. By then such a server may have ended, so `sayso web` does it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from sayso.bridge import BackgroundTasks, Rings, endless, listening
from sayso.config import system_user
from sayso.newly_asked import NewlyAsked
from sayso.notify import Notifier
from sayso.web.site import Site

GATHER = 0.2
"""Seconds in which further changes join one look."""
AGAIN = 2.0
"""Seconds until the store is tried again."""


class Returning:
    """Looks for one server process. `looks` says whether a person looks at a page of it right now."""

    def __init__(self, site: Site, looks: Callable[[str], bool]) -> None:
        self._site, self._looks = site, looks
        self._rings, self._notifier, self._telling = Rings(), Notifier(site.config), BackgroundTasks()
        desks = site.desks
        self._asked = NewlyAsked("back", site.config, site.desk, desks.presence, desks.claim)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        if not self._notifier.reaches:
            yield
            return
        watching = BackgroundTasks()
        async with listening(await self._site.do(self._site.desks.bell), self._rings.ring):
            watching.start(endless("Telling what is back", self._watch))
            try:
                yield
            finally:
                await watching.cancel()
                await self._telling.cancel()

    async def _watch(self) -> None:
        await self._rings.look_after_each(self._look, "what is back", gather=GATHER, again=AGAIN)

    async def _look(self) -> float | None:
        """Tell what is back. How many seconds from now the next is."""
        person = self._site.config.person
        looks = self._looks(person)
        news = await self._site.do(self._asked.look_who_is_back, person, system_user(), looks)
        for ask in news.asks:
            open_of_agent = await self._site.do(self._site.desk.open_of, ask.asker)
            self._telling.start(self._notifier.tell(ask, open_of_agent))
        return news.wait or None
