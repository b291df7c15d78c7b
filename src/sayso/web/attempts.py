"""Calling off what a page has sent and heard nothing of."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sayso.web.fields import read_form
from sayso.web.sessions import CSRF_FIELD, required_browser
from sayso.web.site import site_of


async def call_off(request: Request) -> Response:
    """What became of an attempt, and the conversation that it began; nothing will become of it any more if it was not
    taken."""
    visitor, site = await required_browser(request), site_of(request)
    fields = await read_form(request)
    visitor.check_form(fields.one(CSRF_FIELD))
    attempt = visitor.attempt(fields.one("attempt"))
    made = await site.do(site.desks.call_off, attempt) if attempt else None
    return JSONResponse({"taken": made is not None, "made": made or ""})
