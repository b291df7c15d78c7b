"""A sample question, for who has no agent yet: asked by this server, of the person who wanted it and of nobody else. It
is an ask like any other, never a permission, and is gone from the store some time after it has ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import chain

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sayso.asks.desk import Held
from sayso.asks.model import Asker, Kind, NewAsk, Option, Question
from sayso.bridge import BackgroundTasks, Patience, seen_through
from sayso.web.events import News
from sayso.web.sessions import sent_form
from sayso.web.site import Site

TOOL = "sample question"
OPEN_FOR, SHOWN_FOR = 1800.0, 600.0
"""Seconds after which a sample that nobody has answered is gone; and one that was."""
QUESTION = Question(
    id="1",
    text="This is a sample question. Which fruit goes into the cake?",
    kind=Kind.SELECT,
    options=tuple(Option(id=name.lower(), label=name) for name in ("Apple", "Pear", "Plum")),
)


class Samples:
    """The sample questions of this server, each waited for like an agent's."""

    def __init__(self, site: Site, news: News) -> None:
        self._site, self._news = site, news
        self._followed = BackgroundTasks()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await seen_through(self._followed.cancel())

    async def ask(self, user: str) -> None:
        """Have one in this person's inbox; a second one would teach nothing."""
        held = await self._site.do(self._opened, user)
        if held:
            self._followed.start(self._follow(held))

    def _opened(self, user: str) -> Held | None:
        desk = self._site.desk
        desk.release_the_dead()
        # Found by the search, which keeps nobody from writing, however much has ended.
        found = (desk.inbox(person=user, search=QUESTION.text), desk.history(person=user, search=QUESTION.text))
        samples = [ask for ask in chain(*found) if ask.tool == TOOL]
        if any(ask.attended for ask in samples):
            return None
        # What they have answered already, or a server that was killed has left behind.
        for ask in samples:
            if ask.wait is None:
                desk.forget(ask.id, TOOL)
        asker = Asker(client="Sayso sample", owner=user, session=user)
        return desk.hold(NewAsk(tool=TOOL, questions=(QUESTION,), asker=asker))

    async def _follow(self, held: Held) -> None:
        try:
            async with Patience(OPEN_FOR) as waiting:
                await self._news.ended(held.ask.id)
            if not waiting.over:
                await self._site.do(self._site.desk.delivered, held)
                await asyncio.sleep(SHOWN_FOR)
        finally:
            await seen_through(self._site.do(self._site.desk.forget, held.ask.id, TOOL))


async def ask(request: Request) -> Response:
    visitor, _ = await sent_form(request)
    samples: Samples = request.app.state.samples
    await samples.ask(visitor.user)
    return RedirectResponse("/", 303)
