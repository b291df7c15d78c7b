"""The page "Allow like this…": a rule that is made of one permission, with what it would have matched before.

What is saved is what was shown. The form carries a mark of the action, the text of the rule and how far it goes, and a
rule that was changed since is only shown again. It all works without scripts; `like.js` shows it while one types.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from functools import partial

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sayso.asks.model import Ask
from sayso.errors import AlreadySettled, InvalidInput
from sayso.permissions.like_rule import LikeRule, RuleReach
from sayso.permissions.like_view import LikeView, first_rule, look_at
from sayso.records import replace
from sayso.web.fields import Fields
from sayso.web.pages import page
from sayso.web.permission_card import NOT_SHOWN, PermissionCard, card_of, unopened_refusal
from sayso.web.sessions import Visitor, required_browser
from sayso.web.site import Site, site_of
from sayso.web.views import after_settling, begun_elsewhere, crowd_of, form_of, news_of

SAVE, LOOK, TAKE = "allow-like", "look", "take-"
"""What the buttons are called; the last is followed by the number of a proposed rule."""
CHANGED = "You changed the rule, so nothing was allowed yet. Look at what it would match now, then decide."
TALK = "talk"
TOO_LATE = "/asks/{id}?no-rule"
"""Where somebody is told that no rule was made: the ask was over before."""


async def show(request: Request) -> Response:
    visitor, site = await required_browser(request), site_of(request)
    await site.do(site.desk.release_the_dead)
    ask = await site.ask(request.path_params["ask"], visitor.user)
    if not ask.state.answerable or ask.wanted is None:
        return RedirectResponse(f"/asks/{ask.id}", 303)
    asked = request.query_params
    crowd, origin = crowd_of(ask, asked.get("crowd", "")), asked.get("from", "")
    shown = await site.do(_look, site, visitor, ask)
    if shown.offer.why_not and not origin:
        # Its own page says why, and has what can be done instead.
        return RedirectResponse(f"/asks/{ask.id}{f'?crowd={crowd}' if crowd else ''}#no-rule", 303)
    return await _page(request, visitor, ask, shown, crowd=crowd, origin=origin)


async def save(request: Request) -> Response:
    """Allow it and add the rule, or show what the rule in the form comes to."""
    visitor, site, ask, fields = await form_of(request)
    card = card_of(ask)
    if card is None or not ask.state.answerable:
        return RedirectResponse(TOO_LATE.format(id=ask.id), 303)
    shown = await site.do(_look_at_form, site, visitor, ask, fields)
    render = partial(
        _page,
        request,
        visitor,
        ask,
        shown,
        seen=fields.all("seen"),
        crowd=fields.one("crowd"),
        origin=fields.one("from"),
    )
    if fields.one("settle") != SAVE:
        return await render()
    if refused := _refusal(ask, card, shown, fields) or await begun_elsewhere(site, visitor, ask):
        return await render(refused=refused, status=422)
    by = replace(visitor.settler, attempt=visitor.attempt(fields.one("attempt")))
    try:
        settled = await site.do(site.permissions.allow_like, ask.id, fields.one("digest"), by, shown.rule)
    except AlreadySettled:
        return RedirectResponse(TOO_LATE.format(id=ask.id), 303)
    except InvalidInput as error:
        return await render(refused=str(error), status=422)
    await site.do(site.desk.keep_draft, ask.id, visitor.user, "")
    await news_of(request).delivered(settled)
    return RedirectResponse(await _after(request, visitor, ask, fields), 303)


def _look(site: Site, visitor: Visitor, ask: Ask, rule: LikeRule | None = None) -> LikeView:
    return look_at(site.permissions, site.desks.log, ask, visitor.user, rule, sees=visitor.user)


def _look_at_form(site: Site, visitor: Visitor, ask: Ask, fields: Fields) -> LikeView:
    offer = site.permissions.likes.offer(ask, visitor.user)
    pressed, reach = fields.one("settle"), fields.one("reach")
    taken = {f"{TAKE}{place}": text for place, text in enumerate(offer.texts)}
    where = RuleReach(reach) if reach in offer.reaches else first_rule(offer).reach
    return _look(site, visitor, ask, LikeRule(text=taken.get(pressed, fields.one("rule")), reach=where))


def _mark(ask: Ask, rule: LikeRule) -> str:
    """Names exactly this rule, of this action."""
    return hashlib.sha256("\0".join((ask.digest, rule.reach, rule.text)).encode()).hexdigest()


def _refusal(ask: Ask, card: PermissionCard, shown: LikeView, fields: Fields) -> str:
    """Why what was sent is not taken; empty when it is what was shown."""
    if fields.one("digest") != card.digest:
        return NOT_SHOWN
    if fields.one("mark") != _mark(ask, shown.rule):
        return CHANGED
    return shown.refused or unopened_refusal(card, fields)


async def _after(request: Request, visitor: Visitor, ask: Ask, fields: Fields) -> str:
    if fields.one("from") == TALK and ask.asker.run:
        return f"/runs/{ask.asker.run}#ask-{ask.id}"
    return await after_settling(request, visitor, ask, fields.one("crowd"))


async def _page(
    request: Request,
    visitor: Visitor,
    ask: Ask,
    shown: LikeView,
    *,
    crowd: str,
    origin: str,
    seen: Collection[str] = (),
    refused: str = "",
    status: int = 200,
) -> Response:
    site = site_of(request)
    begun = await begun_elsewhere(site, visitor, ask)
    render = partial(
        page,
        request,
        "like.html",
        visitor,
        status=status,
        ask=ask,
        card=card_of(ask),
        shown=shown,
        mark=_mark(ask, shown.rule),
        seen=seen,
        refused=refused or begun,
        begun=begun,
        whole="whole" in request.query_params,
        crowd=crowd_of(ask, crowd),
        origin=TALK if origin == TALK and ask.asker.run else "",
        rules_file=str(site.config.user_rules),
    )
    return await site.read(render)
