"""Being told by push, as the settings page has it: turning it on and off, and what a browser wants to be told of."""

from __future__ import annotations

from importlib.util import find_spec

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from sayso.web.fields import Fields, read_form
from sayso.web.pusher import Pusher
from sayso.web.sessions import CSRF_FIELD, Visitor, required_browser
from sayso.web.site import Site, site_of
from sayso.wishes import NewsKind, Wishes

PUSH_KINDS = {
    NewsKind.QUESTION: "Questions",
    NewsKind.PERMISSION: "Permissions",
    NewsKind.TURN: "Turns in Talk that end or fail",
}
PUSH_SAID = {"saved": "Saved for this browser.", "ended": "That browser is told nothing any more."}
"""What the settings page says after a change."""
NEEDS_PACKAGE = "Push needs one more package. Install Sayso again, with '.[push]' in place of the dot."


def can_push() -> bool:
    return find_spec("cryptography") is not None


async def about(request: Request) -> Response:
    """What the page and its service worker need to subscribe and to answer."""
    visitor = await required_browser(request)
    if not can_push():
        raise HTTPException(501, NEEDS_PACKAGE)
    pusher: Pusher = request.app.state.pusher
    key = await site_of(request).do(pusher.public_key)
    return JSONResponse({"csrf": visitor.csrf, "key": key})


async def subscribe(request: Request) -> Response:
    visitor, site, fields = await _form(request)
    if not can_push():
        raise HTTPException(501, NEEDS_PACKAGE)
    given = [fields.one(name) for name in ("endpoint", "p256dh", "auth", "zone")]
    await site.do(site.desks.pushes.subscribe, visitor.session, *given)
    return Response(status_code=204)


async def wish(request: Request) -> Response:
    """Keep what this browser wants to be told of, and when not."""
    visitor, site, fields = await _form(request)
    await site.do(site.desks.pushes.wish, visitor.session, read_wishes_form(fields))
    return RedirectResponse("/settings?push=saved#push", 303)


async def end(request: Request) -> Response:
    visitor, site, fields = await _form(request)
    await site.do(site.desks.pushes.end, fields.one("session") or visitor.session, visitor.user)
    return RedirectResponse("/settings?push=ended#push", 303)


async def _form(request: Request) -> tuple[Visitor, Site, Fields]:
    visitor, site = await required_browser(request), site_of(request)
    fields = await read_form(request)
    visitor.check_form(fields.one(CSRF_FIELD))
    return visitor, site, fields


def read_wishes_form(fields: Fields) -> Wishes:
    """What a form of the settings page says of being told."""
    names = (name.strip() for name in fields.one("not_from").split(","))
    return Wishes(
        kinds=tuple(kind for kind in NewsKind if kind in fields.all("kind")),
        quiet_from=fields.one("quiet_from"),
        quiet_until=fields.one("quiet_until"),
        zone=fields.one("zone"),
        not_from=tuple(dict.fromkeys(name for name in names if name)),
    )
