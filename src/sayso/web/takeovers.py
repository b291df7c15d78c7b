"""Taking over a session from a terminal, on the page of its agent, and handing a conversation back to a terminal."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sayso.agents.model import Run, Saying, Spoken
from sayso.agents.takeover import Takeover
from sayso.errors import CalledOff, InvalidInput, NotFound, Problem, RunGoesOn, TooManyRuns
from sayso.records import replace
from sayso.text import one_line
from sayso.web import agents, talk
from sayso.web.sessions import Visitor, sent_form
from sayso.web.site import site_of


def routes() -> list[Route]:
    return [
        Route("/agents/{agent}/take", take_over, methods=["POST"]),
        Route("/talk/{conversation}/hand-back", hand_back, methods=["POST"]),
    ]


async def take_over(request: Request) -> Response:
    """Go on here from what was said in a terminal: in a conversation of its own, or the one that was handed back. With
    a message, or without one: then its agent is there when the first one comes."""
    visitor, fields = await sent_form(request)
    prompt, attempt = fields.one("prompt"), visitor.attempt(fields.one("attempt"))
    agent = await agents.found(request, visitor)
    try:
        takeover = await agents.takeover_of(request, visitor, agent)
        if takeover is None or takeover.project is None:
            raise InvalidInput([Problem(path="session", text="cannot be taken over from here.")])
        prompt = talk.checked(prompt) if prompt else ""
        try:
            run = await _begun(request, visitor, takeover, prompt, attempt, fields.one("shown"))
        except RunGoesOn:
            # Another press was first, of another browser's: this one goes on where that has led.
            run = await _begun(request, visitor, takeover, prompt, attempt, fields.one("shown"))
    except CalledOff:
        # A second press of the same button: it leads where the first one did.
        made = await site_of(request).do(site_of(request).desks.call_off, attempt)
        return RedirectResponse(f"/talk/{made}" if made else "/talk", 303)
    except (InvalidInput, NotFound, RunGoesOn, TooManyRuns) as error:
        return await agents.shown(request, visitor, agent, refused=error, prompt=prompt)
    return RedirectResponse(f"/talk/{run.conversation}", 303)


async def _begun(request: Request, visitor: Visitor, takeover: Takeover, prompt: str, attempt: str, shown: str) -> Run:
    site, supervisor, project = site_of(request), talk.supervisor_of(request), takeover.project
    assert project
    before = await site.do(supervisor.runs.latest_in_session, takeover.name, visitor.user)
    if before and before.project.id == project.id and (before.is_handed_back or before.choices.joins):
        if not prompt and not (before.is_handed_back and before.state.ended):
            return before
        if await talk.said_to(request, visitor, before, Spoken(what=Saying.MESSAGE, text=prompt), attempt):
            return before
        choices = replace(before.choices, joins=takeover.name, server=takeover.server) if takeover.server else None
        return await supervisor.start(project, prompt, before.conversation, attempt, choices=choices)
    run = await supervisor.start(project, prompt, attempt=attempt, choices=takeover.choices(shown))
    if not prompt:
        await site.do(supervisor.runs.marks.name, run.conversation, _title(takeover))
    return run


def _title(takeover: Takeover) -> str:
    """What a conversation is called that begins without a message: by what its person said last."""
    said = [message.text for message in takeover.session.messages if message.by_person]
    return one_line(said[-1], 80) if said else ""


async def hand_back(request: Request) -> Response:
    """Let go of a conversation, so that a terminal can go on with it."""
    visitor, _ = await sent_form(request)
    run = (await talk.turns_of(request, visitor))[-1]
    try:
        await talk.supervisor_of(request).hand_back(run)
    except (NotFound, RunGoesOn) as error:
        return await talk.conversation_page(request, visitor, refused=error, not_done="Not handed back.")
    return RedirectResponse(f"/talk/{run.conversation}", 303)
