"""What becomes of a message that waits until the agent is free: changed, taken back, or sent now after all."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sayso.agents.kinds import AGENTS
from sayso.agents.model import Run, Saying, Spoken
from sayso.errors import InvalidInput, NotFound, RunGoesOn, TooManyRuns
from sayso.web import talk
from sayso.web.fields import Fields
from sayso.web.refusal import as_data
from sayso.web.sessions import Visitor, sent_form
from sayso.web.site import site_of


def routes() -> list[Route]:
    return [Route("/talk/{conversation}/queue/{message}", change, methods=["POST"])]


async def change(request: Request) -> Response:
    visitor, fields = await sent_form(request)
    run, message = (await talk.turns_of(request, visitor))[-1], str(request.path_params["message"])
    try:
        await _done_with(request, visitor, fields, run, message)
    except (InvalidInput, NotFound, TooManyRuns, RunGoesOn) as error:
        if talk.SCRIPT not in request.headers:
            raise
        return as_data(error)
    return talk.done(request, run)


async def _done_with(request: Request, visitor: Visitor, fields: Fields, run: Run, message: str) -> None:
    supervisor, do = talk.supervisor_of(request), site_of(request).do
    match fields.one("do"):
        case "remove":
            await do(supervisor.runs.queue.remove, run, message)
        case "send":
            said = Spoken(what=Saying.MESSAGE, text=talk.checked(fields.one("prompt")))
            await _send(request, visitor, run, said, message)
        case _:
            await do(supervisor.runs.queue.change, run, message, talk.checked(fields.one("prompt")))
            supervisor.look_soon()


async def _send(request: Request, visitor: Visitor, run: Run, said: Spoken, message: str) -> None:
    """At once: to the agent at work, if it takes any; else as the next turn."""
    if not AGENTS[run.agent].steers or not await talk.said_to(request, visitor, run, said, queued=message):
        project = await talk.project_of(request, visitor, str(run.project.id))
        await talk.supervisor_of(request).start(project, said.text, run.conversation, queued=message)
