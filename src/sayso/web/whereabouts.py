"""The switch by which a person says on the page that they are away, or back."""

from __future__ import annotations

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sayso.presence import Whereabouts
from sayso.text import iso_time
from sayso.web.fields import read_form
from sayso.web.sessions import CSRF_FIELD, required_browser
from sayso.web.site import site_of


async def change(request: Request) -> Response:
    visitor, site = await required_browser(request), site_of(request)
    fields = await read_form(request)
    visitor.check_form(fields.one(CSRF_FIELD))
    ways = {"away": site.desks.presence.go_away, "back": site.desks.presence.come_back}
    said = fields.one("said")
    if said not in ways:
        raise HTTPException(400, "`said` must be away or back.")
    await site.do(ways[said], visitor.user, visitor.surface)
    return RedirectResponse("/agents", 303)


def absence_data(said: Whereabouts | None) -> dict[str, Any]:
    """What an event stream tells of it."""
    if said is None:
        return {"away": False, "since": None, "until": None}
    return {"away": True, "since": iso_time(said.since), "until": iso_time(said.until)}
