"""Calling off what a page has sent and heard nothing of."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sayso.web.sessions import sent_form
from sayso.web.site import site_of


async def call_off(request: Request) -> Response:
    """What became of an attempt, and the conversation that it began; nothing will become of it any more if it was not
    taken."""
    visitor, fields = await sent_form(request)
    site = site_of(request)
    attempt = visitor.attempt(fields.one("attempt"))
    made = await site.do(site.desks.call_off, attempt) if attempt else None
    return JSONResponse({"taken": made is not None, "made": made or ""})
