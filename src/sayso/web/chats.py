"""Chats on the settings page: linking oneself, what one wants to be told of there, and ending it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sayso.chats.linking import invite
from sayso.chats.model import ChatKind
from sayso.errors import InvalidInput, NotFound
from sayso.web.fields import Fields, read_form
from sayso.web.refusal import in_words
from sayso.web.sessions import CSRF_FIELD, Visitor, required_browser
from sayso.web.settings import settings_page
from sayso.web.site import Site, site_of
from sayso.web.wishing import RefusedWishes, read_wishes_form


async def link(request: Request) -> Response:
    """A code by which this person links themselves."""
    visitor, site, fields = await _form(request)
    found = await invite(site.desks.chats, _kind(fields), visitor.user)
    return await settings_page(request, visitor, invitation=found)


async def wish(request: Request) -> Response:
    visitor, site, fields = await _form(request)
    chat, wishes = fields.one("link"), read_wishes_form(fields)
    try:
        await site.do(site.desks.chats.wish, chat, visitor.user, wishes)
    except InvalidInput as error:
        refused = RefusedWishes(wishes=wishes, why=in_words(error), link=chat)
        return await settings_page(request, visitor, refused=refused)
    return RedirectResponse("/settings?chat=saved#chats", 303)


async def unlink(request: Request) -> Response:
    visitor, site, fields = await _form(request)
    await site.do(site.desks.chats.unlink, fields.one("link"), visitor.user)
    return RedirectResponse("/settings?chat=ended#chats", 303)


def _kind(fields: Fields) -> ChatKind:
    if fields.one("chat") not in list(ChatKind):
        raise NotFound("There is no such chat.")
    return ChatKind(fields.one("chat"))


async def _form(request: Request) -> tuple[Visitor, Site, Fields]:
    visitor, site = await required_browser(request), site_of(request)
    fields = await read_form(request)
    visitor.check_form(fields.one(CSRF_FIELD))
    return visitor, site, fields
