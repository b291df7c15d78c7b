"""Being told by push, as the settings page has it: turning it on and off, and what a browser wants to be told of."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from sayso.errors import InvalidInput
from sayso.web.pusher import Pusher, can_push
from sayso.web.refusal import in_words
from sayso.web.sessions import required_browser, sent_form
from sayso.web.settings import settings_page
from sayso.web.site import site_of
from sayso.web.wishing import RefusedWishes, read_wishes_form

NEEDS_PACKAGE = "Push needs one more package. Install Sayso again, with '.[push]' in place of the dot."


async def about(request: Request) -> Response:
    """What the page and its service worker need to subscribe and to answer."""
    visitor = await required_browser(request)
    if not can_push():
        raise HTTPException(501, NEEDS_PACKAGE)
    pusher: Pusher = request.app.state.pusher
    key = await site_of(request).do(pusher.public_key)
    return JSONResponse({"csrf": visitor.csrf, "key": key})


async def subscribe(request: Request) -> Response:
    visitor, fields = await sent_form(request)
    site = site_of(request)
    if not can_push():
        raise HTTPException(501, NEEDS_PACKAGE)
    given = [fields.one(name) for name in ("endpoint", "p256dh", "auth", "zone")]
    await site.do(site.desks.pushes.subscribe, visitor.session, *given)
    return Response(status_code=204)


async def wish(request: Request) -> Response:
    """Keep what this browser wants to be told of, and when not."""
    visitor, fields = await sent_form(request)
    site = site_of(request)
    wishes = read_wishes_form(fields)
    try:
        await site.do(site.desks.pushes.wish, visitor.session, wishes)
    except InvalidInput as error:
        return await settings_page(request, visitor, refused=RefusedWishes(wishes=wishes, why=in_words(error)))
    return RedirectResponse("/settings?push=saved#push", 303)


async def end(request: Request) -> Response:
    visitor, fields = await sent_form(request)
    site = site_of(request)
    await site.do(site.desks.pushes.end, fields.one("session") or visitor.session, visitor.user)
    return RedirectResponse("/settings?push=ended#push", 303)
