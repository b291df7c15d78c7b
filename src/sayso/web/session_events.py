"""The event stream of a session in a terminal: what was last said in it, whenever its file says something else.

The system tells when the agent has written to it; nothing is read while it is quiet.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response

from sayso.agents.file_news import FileNews
from sayso.agents.takeover import Takeover
from sayso.errors import NotFound, SaysoError
from sayso.file_events import IN_A_FILE
from sayso.roster import AgentAtWork
from sayso.text import json_line
from sayso.web import agents
from sayso.web.event_stream import BEAT, BEAT_EVENT, BYE_EVENT, OPENING, event_stream
from sayso.web.pages import fragment
from sayso.web.sessions import Visitor, required_browser
from sayso.web.site import site_of
from sayso.web.talk_events import Streams

logger = logging.getLogger(__name__)


async def events(request: Request) -> Response:
    visitor = await required_browser(request)
    agent = await agents.found(request, visitor)
    takeover = await agents.takeover_of(request, visitor, agent)
    if takeover is None:
        raise NotFound("Nothing of this agent's session can be shown here.")
    return event_stream(request, _stream(request, visitor, agent, takeover))


async def _stream(request: Request, visitor: Visitor, agent: AgentAtWork, takeover: Takeover) -> AsyncIterator[bytes]:
    """Until the visitor signs out or leaves, nothing can be read any more, or the server stops."""
    streams = _streams(request)
    try:
        yield OPENING
        with FileNews(*((path, IN_A_FILE) for path in takeover.files)) as news, streams.wakes_at_end(news.changed):
            async for message in _news(request, visitor, agent, news):
                yield message
    except SaysoError as error:
        # The browser comes back by itself and finds out what is wrong then.
        logger.warning("The stream of a session in a terminal ended: %s", error)


async def _news(request: Request, visitor: Visitor, agent: AgentAtWork, news: FileNews) -> AsyncIterator[bytes]:
    site, streams, told, beat = site_of(request), _streams(request), None, time.monotonic()
    while not streams.stopping and (takeover := await agents.takeover_of(request, visitor, agent)):
        if takeover.session != told:
            told = takeover.session
            html = fragment("terminal_session.html", takeover=takeover)
            yield f"data: {json_line({'html': html, 'step': takeover.step})}\n\n".encode()
        there_may_be_news = False
        while not there_may_be_news and not streams.stopping:
            there_may_be_news = await news.within(BEAT) or takeover.session.begins
            if time.monotonic() - beat >= BEAT:
                beat, signed_in = time.monotonic(), await site.do(site.accounts.session, visitor.secret)
                yield BEAT_EVENT if signed_in else BYE_EVENT
                if not signed_in:
                    return


def _streams(request: Request) -> Streams:
    streams: Streams = request.app.state.streams
    return streams
