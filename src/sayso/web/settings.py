"""The page of settings that are safe to change in a browser: how it looks, and where one is signed in."""

from __future__ import annotations

import io

import segno
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sayso.accounts import LINK_LIFE, opens_on_other_devices
from sayso.chats.desk import CODE_LIFE, TOLD
from sayso.chats.linking import Invitation
from sayso.oauth import can_sign_in
from sayso.web.pages import LOOK_COOKIE, LOOK_LIFE, appearance, page
from sayso.web.pusher import can_push
from sayso.web.security import is_loopback
from sayso.web.serve import address
from sayso.web.sessions import Visitor, home_of, required_browser, sent_form
from sayso.web.site import site_of
from sayso.web.whereabouts import UNTIL, delegation_of, stand_ins
from sayso.web.wishing import KINDS, RefusedWishes

SENT_TO = ("/settings/device", "/push/wishes", "/chats/link", "/chats/wishes")
"""Where forms are sent that the page itself answers."""
PUSH_SAID = {"saved": "Saved for this browser.", "ended": "That browser is told nothing any more."}
CHAT_SAID = {"saved": "Saved for this chat.", "ended": "You are told nothing there any more."}
"""What the page says after a change of a browser or a chat."""


async def show(request: Request) -> Response:
    return await settings_page(request, await required_browser(request))


async def show_again(request: Request) -> Response:
    """Where a form was sent to, opened once more by its address."""
    return RedirectResponse("/settings", 303)


async def change(request: Request) -> Response:
    """Keep the look in this browser; nothing else is touched."""
    _, fields = await sent_form(request)
    look = appearance(fields.one("theme"), fields.one("after"), fields.one("keys"))
    response = RedirectResponse("/settings?saved=1", 303)
    response.set_cookie(
        LOOK_COOKIE,
        str(look),
        max_age=LOOK_LIFE,
        path=home_of(request),
        httponly=True,
        samesite="strict",
        secure=site_of(request).secure,
    )
    return response


async def another_device(request: Request) -> Response:
    """A one-time link for the same person, to be scanned with a phone."""
    visitor, _ = await sent_form(request)
    site = site_of(request)
    secret = await site.do(site.accounts.make_link, visitor.user)
    return await settings_page(request, visitor, link=f"{_reachable(request)}/sign-in?link={secret}")


def _reachable(request: Request) -> str:
    """Where other devices find this server, as far as they can; who opened the page on its own machine sees that name
    of it which only that machine knows."""
    config, own = site_of(request).config, f"{request.url.scheme}://{request.headers['host']}"
    if config.web_url or (not is_loopback(config.web_host) and not opens_on_other_devices(own)):
        return address(config, request.url.port or config.web_port)
    return own


async def end_session(request: Request) -> Response:
    """Sign out one of the places where this person is signed in."""
    visitor, fields = await sent_form(request)
    site = site_of(request)
    await site.do(site.accounts.end_session, fields.one("session"), visitor.user)
    return RedirectResponse("/settings?ended=1#sessions", 303)


async def settings_page(
    request: Request,
    visitor: Visitor,
    link: str = "",
    invitation: Invitation | None = None,
    refused: RefusedWishes | None = None,
) -> Response:
    """The whole page; after a form of it was sent also with what came of that."""
    site = site_of(request)
    chats = await site.do(site.desks.chats.all)
    mine = await site.do(site.desks.chats.links) if chats else []
    return page(
        request,
        "settings.html",
        visitor,
        status=422 if refused else 200,
        refused=refused,
        link=link,
        code=_code(link) if link and opens_on_other_devices(link) else "",
        minutes=LINK_LIFE // 60_000,
        saved="saved" in request.query_params,
        ended="ended" in request.query_params,
        sessions=await site.do(site.accounts.sessions, visitor.user),
        pushes=await site.do(site.desks.pushes.of, visitor.user),
        can_push=can_push(),
        push_kinds=KINDS,
        chats=[chat.kind for chat in chats],
        chat_links=[each for each in mine if each.user == visitor.user],
        chat_kinds={kind: label for kind, label in KINDS.items() if kind in TOLD},
        invitation=invitation,
        code_minutes=CODE_LIFE // 60_000,
        chat_told=CHAT_SAID.get(request.query_params.get("chat", ""), ""),
        told=PUSH_SAID.get(request.query_params.get("push", ""), ""),
        refusals=await site.do(site.accounts.refusals),
        connections=await site.do(site.desks.connections.of, visitor.user),
        connecting=await site.do(site.desks.waiting_room.all),
        disconnected="disconnected" in request.query_params,
        can_sign_in=can_sign_in(),
        mcp=f"{address(site.config, request.url.port or site.config.web_port)}/mcp",
        delegation=await site.do(delegation_of, site, visitor.user),
        stand_ins=await site.do(stand_ins, site, visitor.user),
        until=UNTIL,
    )


def _code(link: str) -> Markup:
    image = io.BytesIO()
    segno.make(link, error="m").save(image, kind="svg", xmldecl=False, svgns=False, scale=5, border=2, light="#fff")
    return Markup(image.getvalue().decode())  # noqa: S704
