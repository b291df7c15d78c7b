"""Taking over a session from a terminal, on the page of its agent, and handing a conversation back to a terminal."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sayso.agents.model import RunChoices
from sayso.errors import CalledOff, InvalidInput, NotFound, Problem, RunGoesOn, TooManyRuns
from sayso.web import agents, talk


def routes() -> list[Route]:
    return [
        Route("/agents/{agent}/take", take_over, methods=["POST"]),
        Route("/talk/{conversation}/hand-back", hand_back, methods=["POST"]),
    ]


async def take_over(request: Request) -> Response:
    """Begin a conversation that goes on from what was said in a terminal."""
    visitor, fields = await talk.form_of(request)
    supervisor, prompt = talk.supervisor_of(request), fields.one("prompt")
    agent = await agents.found(request, visitor)
    try:
        takeover = await agents.takeover_of(request, visitor, agent)
        if takeover is None or takeover.project is None:
            raise InvalidInput([Problem(path="session", text="cannot be taken over from here.")])
        attempt, choices = visitor.attempt(fields.one("attempt")), RunChoices(copies=agent.asker.session)
        run = await supervisor.start(takeover.project, talk.checked(prompt), attempt=attempt, choices=choices)
    except CalledOff:
        return RedirectResponse("/talk", 303)  # a second press of the same button
    except (InvalidInput, NotFound, TooManyRuns) as error:
        return await agents.shown(request, visitor, agent, refused=error, prompt=prompt)
    return RedirectResponse(f"/talk/{run.conversation}", 303)


async def hand_back(request: Request) -> Response:
    """Let go of a conversation, so that a terminal can go on with it."""
    visitor, _ = await talk.form_of(request)
    run = (await talk.turns_of(request, visitor))[-1]
    try:
        await talk.supervisor_of(request).hand_back(run)
    except (NotFound, RunGoesOn) as error:
        return await talk.conversation_page(request, visitor, refused=error)
    return RedirectResponse(f"/talk/{run.conversation}", 303)
