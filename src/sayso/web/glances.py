"""What the rows of sessions in terminals tell besides: whether each is in the middle of a turn, and what was last said.

It is read from the agents' own files, which may be long and change all the time: again after a while only, and the
later the longer it took.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from starlette.requests import Request

from sayso.agents.takeover import Takeovers
from sayso.agents.terminal_sessions import TerminalMessage
from sayso.records import replace
from sayso.roster import AgentAtWork
from sayso.text import one_line
from sayso.web.markdown import plain_line
from sayso.web.sessions import Visitor
from sayso.web.site import site_of

EVERY = 2.0
"""Seconds between two looks at one session."""
_SHARE = 20
"""A look takes at most one in so many parts of the time."""
_WIDTH = 160


@dataclass(frozen=True, kw_only=True)
class _Glance:
    """What one look found, and when the next is due."""

    next_at: float
    in_turn: bool | None = None
    said: str = ""
    said_at: int = 0


class Glances:
    """The sessions in terminals that people look at through this process. Plain code that reads files."""

    def __init__(self, takeovers: Takeovers, clock: Callable[[], float] = time.monotonic) -> None:
        self._takeovers, self._clock = takeovers, clock
        self._known: dict[tuple[str, str], _Glance] = {}

    def is_due(self, agents: Sequence[AgentAtWork], user: str) -> bool:
        """Whether `told` would read any file."""
        return any(self._wants_look(agent, user) for agent in agents)

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

    def _wants_look(self, agent: AgentAtWork, user: str) -> bool:
        found = self._known.get((user, agent.id))
        return not agent.asker.run and (found is None or self._clock() >= found.next_at)

    def _look(self, agent: AgentAtWork, user: str) -> _Glance:
        begun = self._clock()
        found = self._takeovers.of(agent.asker, user)
        ended = self._clock()
        next_at = ended + max(EVERY, _SHARE * (ended - begun))
        if found is None:
            return _Glance(next_at=next_at)
        last = found.session.messages[-1]
        return _Glance(next_at=next_at, in_turn=found.session.in_turn, said=_line(last), said_at=last.at)


def _line(message: TerminalMessage) -> str:
    return f"You: {one_line(message.text, _WIDTH)}" if message.by_person else plain_line(message.text, _WIDTH)


async def agents_at_work(request: Request, visitor: Visitor) -> list[AgentAtWork]:
    """Those that this person may see, with what is known of their sessions."""
    site = site_of(request)
    glances: Glances = request.app.state.glances
    found = await site.do(site.desks.agents_at_work, visitor.user)
    return await site.read(glances.told, found, visitor.user)
