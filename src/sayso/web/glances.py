"""What the rows of sessions in terminals tell besides: whether each is in the middle of a turn, and what was last said.

It is read from the agents' own files, which may be long and change all the time: only when they have changed, not again
for a while, and the later the longer it took.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

from starlette.requests import Request

from sayso.agents.file_news import ManyFilesNews
from sayso.agents.takeover import Takeovers
from sayso.agents.terminal_sessions import QUEUE_PATIENCE, TerminalMessage, stamp_of
from sayso.records import replace
from sayso.roster import AgentAtWork
from sayso.text import one_line
from sayso.web.markdown import plain_line
from sayso.web.sessions import Visitor
from sayso.web.site import site_of

EVERY = 2.0
"""Seconds from one look at a session to the next, at least."""
_SHARE = 20
"""A look takes at most one in so many parts of the time."""
_WIDTH = 160


@dataclass(frozen=True, kw_only=True)
class _Glance:
    """What one look found, from when on there may be another, and what has to differ for that."""

    next_at: float
    again_at: float = inf
    """When it is to be looked at again whether or not anything differs."""
    places: tuple[tuple[Path, int], ...] = ()
    stamp: tuple[object, ...] = ()
    in_turn: bool | None = None
    said: str = ""
    said_at: int = 0

    def is_due(self, now: float) -> bool:
        return now >= self.next_at and (now >= self.again_at or self.has_changed)

    @property
    def has_changed(self) -> bool:
        return stamp_of(path for path, _ in self.places) != self.stamp


class Glances:
    """The sessions in terminals that people look at through this process. Plain code that reads files."""

    def __init__(self, takeovers: Takeovers, clock: Callable[[], float] = time.monotonic) -> None:
        self._takeovers, self._clock = takeovers, clock
        self._known: dict[tuple[str, str], _Glance] = {}

    def is_due(self, agents: Sequence[AgentAtWork], user: str) -> bool:
        """Whether `told` would read any file."""
        return any(self._wants_look(agent, user) for agent in agents)

    def is_new(self, agents: Sequence[AgentAtWork], user: str) -> bool:
        """Whether one of them was never looked at."""
        return any(not agent.asker.run and (user, agent.id) not in self._known for agent in agents)

    def told(self, agents: Sequence[AgentAtWork], user: str) -> list[AgentAtWork]:
        """The same agents with what is known of their sessions."""
        for agent in agents:
            if self._wants_look(agent, user):
                self._known[user, agent.id] = self._look(agent, user)
        there = {agent.id for agent in agents}
        self._known = {key: found for key, found in self._known.items() if key[0] != user or key[1] in there}
        return [self.known(agent, user) for agent in agents]

    def known(self, agent: AgentAtWork, user: str) -> AgentAtWork:
        """The same of one, without a look."""
        found = self._known.get((user, agent.id))
        return replace(agent, in_turn=found.in_turn, said=found.said, said_at=found.said_at) if found else agent

    def places_to_watch(self, users: Collection[str]) -> set[tuple[Path, int]]:
        """Where the sessions are kept that these people look at, for `file_events`."""
        return {place for found in self._of(users) for place in found.places}

    def due_in(self, users: Collection[str]) -> float | None:
        """In how many seconds what has changed in one of these people's sessions may be looked at; None where nothing
        has."""
        return self._until(found.next_at for found in self._of(users) if found.has_changed)

    def due_anyway_in(self, users: Collection[str]) -> float | None:
        """In how many seconds one is to be looked at though nothing has changed; None where none is."""
        return self._until(found.again_at for found in self._of(users) if found.again_at < inf)

    def _of(self, users: Collection[str]) -> list[_Glance]:
        return [found for (user, _), found in self._known.items() if user in users]

    def _until(self, moments: Iterable[float]) -> float | None:
        soonest = min(moments, default=None)
        return None if soonest is None else max(0.0, soonest - self._clock())

    def _wants_look(self, agent: AgentAtWork, user: str) -> bool:
        found = self._known.get((user, agent.id))
        return not agent.asker.run and (found is None or found.is_due(self._clock()))

    def _look(self, agent: AgentAtWork, user: str) -> _Glance:
        begun = self._clock()
        places = tuple(self._takeovers.places_to_watch(agent.asker, user))
        stamp = stamp_of(path for path, _ in places)  # first: what is written while it is read has yet to be seen
        found = self._takeovers.of(agent.asker, user) if places else None
        ended = self._clock()
        next_at = ended + max(EVERY, _SHARE * (ended - begun))
        if found is None:
            return _Glance(next_at=next_at, places=places, stamp=stamp)
        last, session = found.session.messages[-1], found.session
        again_at = ended + QUEUE_PATIENCE / 1000 if session.begins else inf
        return _Glance(
            next_at=next_at,
            again_at=again_at,
            places=places,
            stamp=stamp,
            in_turn=session.in_turn,
            said=_line(last),
            said_at=last.at,
        )


class SessionNews:
    """Has somebody look when there may be something new in those sessions: the system says when their files are written
    to. While they are quiet, nothing happens here."""

    def __init__(self, glances: Glances, look: Callable[[], object]) -> None:
        self._glances, self._look = glances, look
        self._files, self._heard = ManyFilesNews(self._hear), False
        self._watched = set[tuple[Path, int]]()
        self._timer: asyncio.TimerHandle | None = None

    def is_due(self, agents: Sequence[AgentAtWork], user: str) -> bool:
        """Whether there may be something to be read of one of these agents."""
        may_be = self._heard or not self._files.are_told or self._glances.is_new(agents, user)
        return may_be and self._glances.is_due(agents, user)

    async def go_on(self, users: Collection[str], read: Callable[..., Awaitable[float | None]]) -> None:
        """After a look at what these people see: say when it is time for the next. `read` runs plain code."""
        places = self._glances.places_to_watch(users)
        if not self._heard and places == self._watched:
            return
        self._heard, self._watched = False, places
        self._set_timer(None)
        due = await read(self._glances.due_in, users)
        if due is None and self._files.go_on(places):
            # It may have been written to between the look and now.
            due = await read(self._glances.due_in, users)
        # What was written to is not listened to until then: it may be written to all the time.
        self._set_timer(self._glances.due_anyway_in(users) if due is None else due)

    def stop(self) -> None:
        """Nobody looks any more."""
        self._set_timer(None)
        self._watched = set()
        self._files.go_on(())

    def _set_timer(self, seconds: float | None) -> None:
        if self._timer:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = None if seconds is None else loop.call_later(seconds, self._hear)

    def _hear(self) -> None:
        self._heard = True
        self._look()


def _line(message: TerminalMessage) -> str:
    return f"You: {one_line(message.text, _WIDTH)}" if message.by_person else plain_line(message.text, _WIDTH)


async def agents_at_work(request: Request, visitor: Visitor) -> list[AgentAtWork]:
    """Those that this person may see, with what is known of their sessions."""
    site = site_of(request)
    glances: Glances = request.app.state.glances
    found = await site.do(site.desks.agents_at_work, visitor.user)
    return await site.read(glances.told, found, visitor.user)
