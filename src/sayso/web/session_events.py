"""The event stream of a session in a terminal: what was last said in it, whenever its file says something else.

The system tells when the agent has written to it; nothing is read while it is quiet.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from sayso.agents.file_news import FileNews
from sayso.agents.takeover import Takeover
from sayso.errors import NotFound
from sayso.file_events import IN_A_FILE
from sayso.roster import AgentAtWork
from sayso.text import json_line
from sayso.web import agents
from sayso.web.pages import fragment
from sayso.web.sessions import Visitor, required_browser
from sayso.web.site import site_of
from sayso.web.talk_events import BEAT, BEAT_EVENT, BYE_EVENT, OPENING, Streams


async def events(request: Request) -> Response:
    visitor = await required_browser(request)
    agent = await agents.found(request, visitor)
    takeover = await agents.takeover_of(request, visitor, agent)
    if takeover is None:
        raise NotFound("Nothing of this agent's session can be shown here.")
    return StreamingResponse(
        _stream(request, visitor, agent, takeover),
        media_type="text/event-stream",
        headers={"X-Accel-Buffering": "no"},
    )


async def _stream(
    request: Request, visitor: Visitor, agent: AgentAtWork, takeover: Takeover | None
) -> AsyncIterator[bytes]:
    """Until the session or that of the visitor ends, they leave, or the server stops."""
    site, streams, told = site_of(request), _streams(request), None
    yield OPENING
    assert takeover
    with FileNews(*((path, IN_A_FILE) for path in takeover.files)) as news, streams.wakes_at_end(news.changed):
        while not streams.stopping:
            if takeover is None:
                return
            if takeover.session != told:
                told = takeover.session
                html = fragment("terminal_session.html", takeover=takeover)
                yield f"data: {json_line({'html': html, 'step': takeover.step})}\n\n".encode()
            if not await news.within(BEAT):
                signed_in = await site.do(site.accounts.session, visitor.secret)
                yield BEAT_EVENT if signed_in else BYE_EVENT
                if not signed_in:
                    return
            takeover = await agents.takeover_of(request, visitor, agent)


def _streams(request: Request) -> Streams:
    streams: Streams = request.app.state.streams
    return streams
