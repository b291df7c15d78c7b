"""Chats on the settings page: linking oneself, what one wants to be told of there, and ending it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sayso.chats.linking import invite
from sayso.chats.model import ChatKind
from sayso.errors import InvalidInput, NotFound
from sayso.web.fields import Fields
from sayso.web.refusal import in_words
from sayso.web.sessions import sent_form
from sayso.web.settings import settings_page
from sayso.web.site import site_of
from sayso.web.wishing import RefusedWishes, read_wishes_form


async def link(request: Request) -> Response:
    """A code by which this person links themselves."""
    visitor, fields = await sent_form(request)
    site = site_of(request)
    found = await invite(site.desks.chats, _kind(fields), visitor.user)
    return await settings_page(request, visitor, invitation=found)


async def wish(request: Request) -> Response:
    visitor, fields = await sent_form(request)
    site = site_of(request)
    chat, wishes = fields.one("link"), read_wishes_form(fields)
    try:
        await site.do(site.desks.chats.wish, chat, visitor.user, wishes)
    except InvalidInput as error:
        refused = RefusedWishes(wishes=wishes, why=in_words(error), link=chat)
        return await settings_page(request, visitor, refused=refused)
    return RedirectResponse("/settings?chat=saved#chats", 303)


async def unlink(request: Request) -> Response:
    visitor, fields = await sent_form(request)
    site = site_of(request)
    await site.do(site.desks.chats.unlink, fields.one("link"), visitor.user)
    return RedirectResponse("/settings?chat=ended#chats", 303)


def _kind(fields: Fields) -> ChatKind:
    if fields.one("chat") not in list(ChatKind):
        raise NotFound("There is no such chat.")
    return ChatKind(fields.one("chat"))
