"""What a person says on the page of where they are: the switch for away and back, and who decides in their place."""

from __future__ import annotations

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sayso.clock import now_ms
from sayso.moments import local, milliseconds, moment
from sayso.permissions.delegations import Delegation
from sayso.presence import Whereabouts
from sayso.text import iso_time
from sayso.web.sessions import sent_form
from sayso.web.site import Site, site_of

UNTIL = {"1d": "for a day", "3d": "for three days", "monday": "until Monday, 8:00", "7d": "for a week"}
"""How long somebody decides in another's place, in the words of `sayso away --until`."""


async def change(request: Request) -> Response:
    visitor, fields = await sent_form(request)
    site = site_of(request)
    ways = {"away": site.desks.presence.go_away, "back": site.desks.presence.come_back}
    said = fields.one("said")
    if said not in ways:
        raise HTTPException(400, "`said` must be away or back.")
    await site.do(ways[said], visitor.user, visitor.surface)
    if said == "back":
        await site.do(site.permissions.end_delegation, visitor.user)
    return RedirectResponse("/agents", 303)


async def delegate(request: Request) -> Response:
    """Let somebody decide in this person's place, or nobody any more."""
    visitor, fields = await sent_form(request)
    site = site_of(request)
    if fields.one("said") == "end":
        await site.do(site.permissions.end_delegation, visitor.user)
        return RedirectResponse("/settings#stand-in", 303)
    to, until = fields.one("to"), fields.one("until")
    if until not in UNTIL or to not in await site.do(stand_ins, site, visitor.user):
        raise HTTPException(400, "Choose somebody who can sign in here, and until when.")
    await site.do(site.permissions.delegate, visitor.user, to, milliseconds(moment(until, local(now_ms()))))
    return RedirectResponse("/settings#stand-in", 303)


def stand_ins(site: Site, user: str) -> list[str]:
    """Who could decide in this person's place."""
    return [each.name for each in site.accounts.users() if each.revoked_at is None and each.name != user]


def delegation_of(site: Site, user: str) -> Delegation | None:
    return next((each for each in site.permissions.delegations() if each.person == user), None)


def absence_data(said: Whereabouts | None) -> dict[str, Any]:
    """What an event stream tells of it."""
    if said is None:
        return {"away": False, "since": None, "until": None}
    return {"away": True, "since": iso_time(said.since), "until": iso_time(said.until)}
