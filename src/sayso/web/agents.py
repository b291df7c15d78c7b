"""The pages of the agents at work: all of them, and one with what it asks, runs, asked and ran."""

from __future__ import annotations

from secrets import token_hex

from starlette.requests import Request
from starlette.responses import Response

from sayso.agents.supervisor import RunSupervisor
from sayso.agents.takeover import Takeover
from sayso.desks import Desks
from sayso.errors import MAX_TEXT, NotFound, SaysoError
from sayso.roster import AgentAtWork, of_agent
from sayso.web.glances import agents_at_work
from sayso.web.pages import page
from sayso.web.refusal import status_of
from sayso.web.sessions import Visitor, required_browser
from sayso.web.site import site_of

MOST = 30
"""What is shown of an agent's past."""


async def show_list(request: Request) -> Response:
    visitor, site = await required_browser(request), site_of(request)
    await site.do(_end_the_dead, site.desks)
    agents = await agents_at_work(request, visitor)
    absence = await site.do(site.desks.presence.absence, visitor.user)
    return page(request, "agents.html", visitor, agents=agents, absence=absence, words=site.reader.words)


async def show(request: Request) -> Response:
    visitor = await required_browser(request)
    return await shown(request, visitor, await found(request, visitor))


async def found(request: Request, visitor: Visitor) -> AgentAtWork:
    """The agent that a request is about."""
    site = site_of(request)
    await site.do(_end_the_dead, site.desks)
    return _found(await agents_at_work(request, visitor), request.path_params["agent"])


async def takeover_of(request: Request, visitor: Visitor, agent: AgentAtWork) -> Takeover | None:
    """What this person can do about its session from here, if it is in a terminal of theirs."""
    supervisor: RunSupervisor = request.app.state.supervisor
    return await site_of(request).read(supervisor.takeovers.of, agent.asker, visitor.user)


async def shown(
    request: Request, visitor: Visitor, agent: AgentAtWork, *, refused: SaysoError | None = None, prompt: str = ""
) -> Response:
    site = site_of(request)
    desks, user = site.desks, visitor.user
    past = await site.do(desks.asks.ended_of, agent.asker, agent.since, person=user, most=MOST)
    ran = await site.do(desks.operations.ended_of, agent.asker, agent.since, person=user, most=MOST)
    return page(
        request,
        "agent.html",
        visitor,
        status=status_of(refused),
        refused=str(refused or ""),
        prompt=prompt,
        most=MAX_TEXT,
        takeover=await takeover_of(request, visitor, agent),
        attempt=token_hex(12),
        agent=agent,
        past=of_agent(past, agent.id),
        operations=(*agent.commands, *of_agent(ran, agent.id)),
        words=site.reader.words,
    )


def _found(agents: list[AgentAtWork], wanted: str) -> AgentAtWork:
    for agent in agents:
        if agent.id == wanted:
            return agent
    raise NotFound("This agent is not at work any more. The history and the commands keep what it asked and ran.")


def _end_the_dead(desks: Desks) -> None:
    """Only then is it true who still waits."""
    desks.asks.release_the_dead()
    desks.operations.end_the_dead()
