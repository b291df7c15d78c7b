"""What a person puts off on the page: for how long, the list of it, and the way back."""

from __future__ import annotations

from datetime import timedelta

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sayso.asks.crowds import short_name
from sayso.asks.model import Ask
from sayso.asks.quorum import may_see
from sayso.asks.snoozing import Snoozed
from sayso.clock import now_ms
from sayso.moments import local, milliseconds, moment
from sayso.web.fields import Fields
from sayso.web.pages import page
from sayso.web.sessions import Visitor, required_browser, sent_form
from sayso.web.site import Site, site_of
from sayso.web.wording import too_late

_DAY = timedelta(days=1)
END = "end"


def snoozed_by(site: Site, user: str) -> list[Snoozed]:
    """What this person has put off and may see. In a terminal of the same name somebody may see more."""
    return [snoozed for snoozed in site.desk.snoozed(user) if may_see(snoozed.ask, user)]


async def show_list(request: Request) -> Response:
    visitor, site = await required_browser(request), site_of(request)
    return page(request, "snoozed.html", visitor, snoozed=await site.do(snoozed_by, site, visitor.user))


async def change(request: Request) -> Response:
    """Put one ask off, or back."""
    visitor, fields = await sent_form(request)
    site = site_of(request)
    ask = await site.ask(request.path_params["ask"], visitor.user)
    return await _changed(site, visitor, [ask], fields)


async def change_crowd(request: Request) -> Response:
    """The same with all that one agent has open."""
    visitor, fields = await sent_form(request)
    site = site_of(request)
    name = request.path_params["crowd"]
    return await _changed(site, visitor, await site.do(_asks_of, site, visitor.user, name), fields)


async def _changed(site: Site, visitor: Visitor, asks: list[Ask], fields: Fields) -> Response:
    wanted = fields.one("for")
    if wanted == END:
        for ask in asks:
            await site.do(site.desk.wake, ask.id, visitor.user)
        if len(asks) == 1 and not asks[0].state.answerable:
            raise HTTPException(409, too_late(asks[0], visitor.user))
        return RedirectResponse("/snoozed" if fields.one("listed") else "/", 303)
    until = _until(wanted, fields.one("morning"))
    for ask in asks:
        await site.do(site.desk.snooze, ask.id, visitor.user, until)
    return RedirectResponse(f"/?snoozed={asks[0].id}" if len(asks) == 1 else "/", 303)


def _until(wanted: str, morning: str) -> int:
    """`morning` is tomorrow's, where the browser is; without it, where the server is."""
    now = local(now_ms())
    if wanted == "tomorrow" and morning.isdecimal() and now < local(int(morning[:14])) <= now + 2 * _DAY:
        return int(morning)
    try:
        return milliseconds(moment(wanted, now))
    except ValueError as error:
        raise HTTPException(400, f"`for` was {wanted[:40]!r}; it takes {error}, or {END}.") from error


def _asks_of(site: Site, user: str, crowd: str) -> list[Ask]:
    """What an agent has open, whether it is put off or not."""
    put_off = [each.ask for each in snoozed_by(site, user) if short_name(each.ask.asker.crowd) == crowd]
    found = site.desk.crowd(crowd, user)
    asks = site.desk.all_open(person=user, awake_for=user, of=found.newest.asker) if found else ()
    return [ask for ask in [*put_off, *asks] if not ask.is_permission]
