"""The pages of somebody who is signed in: the inbox, one ask, the history."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response

from sayso.asks.crowds import Folded, short_name
from sayso.asks.desk import AskDesk
from sayso.asks.draft import Draft, from_json, is_same, is_told_by, keep_merged, to_json
from sayso.asks.model import Ask, State
from sayso.errors import AlreadySettled, InvalidInput, NotFound
from sayso.permissions.verdict import verdict_of
from sayso.records import replace
from sayso.text import printable
from sayso.web import files
from sayso.web.boards import PAGE
from sayso.web.entries import ANSWER_BEGUN, check, contradiction, from_form, is_answer
from sayso.web.events import News
from sayso.web.fields import Fields
from sayso.web.pages import fragment, look_of, page
from sayso.web.permission_card import (
    AS_ASKED,
    DENY,
    EDIT_BEGUN,
    LOOK,
    TAKE_BACK,
    WORDS_OF_A_NO,
    Editing,
    PermissionCard,
    card_of,
    editing_of,
    looked_at,
    refusal,
    wanted_scope,
)
from sayso.web.sessions import Visitor, required_browser, sent_form
from sayso.web.site import Site, site_of
from sayso.web.snoozing import snoozed_by
from sayso.web.wording import goes_on_with, how_many_found, too_late

HISTORY_PAGE = 50
REJECT = "reject"
"""What a form wants that says no to a question, and to whatever else was marked beside it."""
NOT_UNDERSTOOD = "Nothing was decided: reload the page, then decide again."
BEGUN = "begun"
"""The field with the draft that a page was made from."""


async def inbox(request: Request) -> Response:
    visitor, site = await required_browser(request), site_of(request)
    await site.do(site.desk.release_the_dead)
    after, search = await _marker(request, "after", visitor), _search(request)
    put_off = await site.do(snoozed_by, site, visitor.user)
    theirs = partial(site.desk.inbox, person=visitor.user, awake_for=visitor.user, search=search, most=PAGE + 1)
    asks = await site.do(theirs) if search else []
    render = partial(
        page,
        request,
        "inbox.html",
        visitor,
        inbox=await site.do(site.desk.folded, person=visitor.user, after=after, most=PAGE),
        first_page=after is None,
        all_rows="all" in request.query_params,
        search=search,
        asks=asks[:PAGE],
        found=how_many_found(len(asks), PAGE),
        sent=await _marker(request, "sent", visitor),
        snoozed=len(put_off),
        put_off=next((each for each in put_off if each.ask.id == request.query_params.get("snoozed")), None),
        absence=await site.do(site.desks.presence.absence, visitor.user),
    )
    # A page of a hundred takes its time; nobody else should have to wait for it.
    return await site.read(render)


def _search(request: Request) -> str:
    return request.query_params.get("q", "").strip()[:200]


async def crowd(request: Request) -> Response:
    """What one agent has open, where that is too much for the inbox."""
    visitor, site = await required_browser(request), site_of(request)
    await site.do(site.desk.release_the_dead)
    name, after = request.path_params["crowd"], await _marker(request, "after", visitor)
    found = await site.do(site.desk.crowd, name, visitor.user)
    wanted = partial(site.desk.inbox, person=visitor.user, awake_for=visitor.user, after=after, most=PAGE + 1)
    asks = await site.do(wanted, of=found.newest.asker) if found else []
    return page(
        request,
        "crowd.html",
        visitor,
        name=name,
        crowd=found,
        asks=asks[:PAGE],
        more=len(asks) > PAGE,
        sent=await _marker(request, "sent", visitor),
    )


async def history(request: Request) -> Response:
    visitor, site = await required_browser(request), site_of(request)
    search = _search(request)
    before = await _marker(request, "before", visitor)
    asks = await site.do(site.desk.history, person=visitor.user, search=search, before=before, most=HISTORY_PAGE + 1)
    return page(
        request,
        "history.html",
        visitor,
        asks=asks[:HISTORY_PAGE],
        more=len(asks) > HISTORY_PAGE,
        search=search,
        found=how_many_found(len(asks), HISTORY_PAGE),
        older=f"history?q={quote(search)}&before={asks[HISTORY_PAGE - 1].id}" if len(asks) > HISTORY_PAGE else "",
        first_page=before is None,
    )


async def show_ask(request: Request) -> Response:
    visitor, site = await required_browser(request), site_of(request)
    await site.do(site.desk.release_the_dead)
    ask = await site.ask(request.path_params["ask"], visitor.user)
    draft = from_json(ask, await site.do(site.desk.draft, ask.id, visitor.user))
    draft = await files.with_known(site, visitor, ask, draft)
    wanted = draft.edit is not None or "edit" in request.query_params
    return await _ask_page(request, visitor, ask, draft, editing=editing_of(ask, draft.edit) if wanted else None)


async def show_row(request: Request) -> Response:
    """A permission as it can be decided within its row, whatever its length."""
    visitor, site = await required_browser(request), site_of(request)
    ask = await site.ask(request.path_params["ask"], visitor.user)
    if not ask.state.answerable or ask.wanted is None:
        raise HTTPException(409, "There is nothing to decide here any more.")
    render = partial(fragment, "row_decision.html", ask=ask, card=card_of(ask), visitor=visitor, opened=True)
    return HTMLResponse(await site.read(render))


async def settle(request: Request) -> Response:
    """Answer or reject. What cannot be sent comes back as it was entered, with what is wrong."""
    visitor, site, ask, fields = await form_of(request)
    entries, not_added = await files.with_sent(site, visitor, ask, from_form(ask, fields), fields)
    if card := card_of(ask):
        wish = await _decision(site, visitor, ask, card, fields)
    else:
        wish = await _answer(site, visitor, ask, entries, fields)
        wish = replace(wish, problems={**wish.problems, **not_added}) if is_answer(fields) else wish
    begun = fields.one(BEGUN) if fields.all(BEGUN) else None
    show = partial(_ask_page, request, visitor, seen=fields.all("seen"), editing=wish.editing, begun=begun)
    try:
        if ask.state.answerable and (wish.refused or wish.problems):
            return await show(ask, entries, problems=wish.problems, refused=wish.refused, status=422)
        if fields.one("settle") == AS_ASKED:
            await site.do(site.desk.keep_draft, ask.id, visitor.user, to_json(ask, replace(entries, edit=None)))
            return RedirectResponse(_page_of(ask, crowd_of(ask, fields.one("crowd"))), 303)
        if wish.work is None and fields.one("row"):
            # A row has nothing to keep: whoever sent it must not take it for done.
            return await show(ask, entries, refused=NOT_UNDERSTOOD, status=422)
        if wish.work is None:
            entries = await _keep(site, visitor, ask, entries, fields)
            return await show(ask, entries, kept=wish.editing is None, begun=None)
        opened = bool(fields.all("q0-note") or fields.one("opened"))
        by = replace(visitor.settler, attempt=visitor.attempt(fields.one("attempt")), unopened=not opened)
        settled = await site.do(wish.work, by=by)
    except AlreadySettled:
        await site.do(site.desk.keep_draft, ask.id, visitor.user, to_json(ask, entries))
        now = await site.ask(ask.id, visitor.user)
        return await show(now, entries, refused=too_late(now, visitor.user), status=409)
    except InvalidInput as error:
        return await show(ask, entries, refused=str(error), status=422)
    await site.do(_forget, site.desk, ask, visitor.user, entries, fields)
    await news_of(request).delivered(settled)
    return RedirectResponse(await after_settling(request, visitor, ask, fields.one("crowd")), 303)


@dataclass(frozen=True, kw_only=True)
class FormWish:
    """What a form wants done with an ask; nothing where it only keeps a draft, or edits. Or why that cannot be."""

    work: Callable[..., Ask] | None = None
    editing: Editing | None = None
    refused: str = ""
    problems: Mapping[int, str] = field(default_factory=dict)


async def _answer(site: Site, visitor: Visitor, ask: Ask, entries: Draft, fields: Fields) -> FormWish:
    begun = await _answer_begun(site, visitor, ask) if fields.one("row") else ""
    if is_answer(fields) and not ask.is_permission:
        checked, refused = check(ask, entries), contradiction(ask, fields) or begun
        problems = {} if refused else checked.problems
        return FormWish(work=partial(site.desk.answer, ask.id, checked.answers), refused=refused, problems=problems)
    if fields.one("settle") == REJECT:
        return FormWish(work=partial(site.desk.reject, ask.id, entries.reason.strip()), refused=begun)
    return FormWish()


async def _answer_begun(site: Site, visitor: Visitor, ask: Ask) -> str:
    """A row shows nothing of what this person has begun on its page: that is not lost by a tap."""
    draft = from_json(ask, await site.do(site.desk.draft, ask.id, visitor.user))
    return "" if draft.empty else ANSWER_BEGUN


async def _decision(site: Site, visitor: Visitor, ask: Ask, card: PermissionCard, fields: Fields) -> FormWish:
    """A row has no field for the words of a no; those that were written elsewhere count there."""
    scope, pressed = wanted_scope(fields), fields.one("settle")
    if pressed in (DENY, REJECT):
        return FormWish(work=partial(site.permissions.deny, ask.id, because=fields.one("q0-note").strip()))
    if pressed == TAKE_BACK:
        return FormWish(work=partial(site.permissions.take_back, ask.id))
    editing = editing_of(ask, fields.one("edit")) if fields.all("edit") else None
    if editing and (scope or pressed == LOOK):
        editing = looked_at(ask, editing)
    if scope is None:
        return FormWish(editing=editing)
    elsewhere = "" if fields.all("q0-note") else await begun_elsewhere(site, visitor, ask)
    allow = partial(site.permissions.allow, ask.id, fields.one("digest"), scope=scope)
    if editing and editing.action:
        allow = partial(allow, changed_input=editing.action.data["input"], edited_digest=editing.action.digest)
    return FormWish(work=allow, editing=editing, refused=elsewhere or refusal(card, editing, fields))


async def begun_elsewhere(site: Site, visitor: Visitor, ask: Ask) -> str:
    """Why what this person has begun on its page keeps a row from allowing it; empty when nothing does."""
    draft = from_json(ask, await site.do(site.desk.draft, ask.id, visitor.user))
    if any(said.note.strip() for said in draft.said.values()):
        return WORDS_OF_A_NO
    return "" if draft.edit is None else EDIT_BEGUN


async def keep_draft(request: Request) -> Response:
    """Remember a half-filled form, so that any browser or terminal of this person can go on with it."""
    visitor, site, ask, fields = await form_of(request)
    entries = await files.with_known(site, visitor, ask, from_form(ask, fields))
    # Another tab of theirs may have sent the very same.
    if _was_sent(ask, entries, fields):
        return Response(status_code=204)
    kept = await _keep(site, visitor, ask, entries, fields)
    return JSONResponse({"begun": to_json(ask, kept), "grew": not is_same(kept, _with_begun(ask, entries, fields))})


async def _keep(site: Site, visitor: Visitor, ask: Ask, entries: Draft, fields: Fields) -> Draft:
    """Keep what was entered, and what the person has entered elsewhere since the page was made, if it says from what
    it went on. What is kept then."""
    if not fields.all(BEGUN):
        await site.do(site.desk.keep_draft, ask.id, visitor.user, to_json(ask, entries))
        return entries
    before = from_json(ask, fields.one(BEGUN))
    kept = await site.do(keep_merged, site.desk, visitor.user, ask, before, _with_begun(ask, entries, fields))
    return await files.with_known(site, visitor, ask, kept)


def _forget(desk: AskDesk, ask: Ask, person: str, entries: Draft, fields: Fields) -> None:
    """Forget the draft, unless the person has entered more elsewhere: that was not sent, and they are told so."""
    if not fields.all(BEGUN):
        desk.keep_draft(ask.id, person, "")
        return
    before, sent = from_json(ask, fields.one(BEGUN)), _with_begun(ask, entries, fields)
    desk.keep_draft(ask.id, person, "", only_over=lambda there: is_told_by(before, sent, from_json(ask, there)))


def _with_begun(ask: Ask, entries: Draft, fields: Fields) -> Draft:
    """With what the terminal knows of a draft and the page does not."""
    before = from_json(ask, fields.one(BEGUN))
    return replace(entries, step=before.step, unclear=before.unclear)


def _was_sent(ask: Ask, entries: Draft, fields: Fields) -> bool:
    if ask.outcome and ask.wanted:
        return ask.outcome.reason == fields.one("q0-note").strip() and _is_what_was_allowed(ask, entries.edit)
    if ask.outcome and fields.one("settle") == "reject":
        return ask.state is State.REJECTED and ask.outcome.reason == entries.reason.strip()
    return ask.outcome is not None and ask.outcome.answers == check(ask, entries).answers


def _is_what_was_allowed(ask: Ask, edit: str | None) -> bool:
    """Whether nothing was edited, or exactly this was allowed."""
    verdict, begun = verdict_of(ask), editing_of(replace(ask, state=State.PENDING), edit)
    if edit is None or begun is None:
        return True
    instead = looked_at(ask, begun).action
    return verdict is not None and instead is not None and verdict.allows(instead)


async def form_of(request: Request) -> tuple[Visitor, Site, Ask, Fields]:
    """Who sent a form about which ask, and what it says."""
    visitor, fields = await sent_form(request)
    site = site_of(request)
    return visitor, site, await site.ask(request.path_params["ask"], visitor.user), fields


async def whole_text(request: Request) -> Response:
    """A question's text in full, when it is too long for the page of its ask."""
    visitor, site = await required_browser(request), site_of(request)
    ask = await site.ask(request.path_params["ask"], visitor.user)
    place = request.path_params["place"]
    if place >= len(ask.questions):
        raise HTTPException(404, "This ask has no such question.")
    return PlainTextResponse(printable(ask.questions[place].text))


async def _ask_page(
    request: Request,
    visitor: Visitor,
    ask: Ask,
    entries: Draft,
    *,
    problems: Mapping[int, str] | None = None,
    refused: str = "",
    kept: bool = False,
    begun: str | None = None,
    seen: Collection[str] = (),
    editing: Editing | None = None,
    status: int = 200,
) -> Response:
    site, crowd = site_of(request), crowd_of(ask, request.query_params.get("crowd", ""))
    inbox = await site.do(site.desk.folded, person=visitor.user, most=PAGE)
    put_off = await site.do(snoozed_by, site, visitor.user) if ask.state.answerable else []
    likes, is_wanted = site.permissions.likes, ask.state.answerable and ask.wanted
    offer = await site.do(likes.offer, ask, visitor.user) if is_wanted else None
    render = partial(
        page,
        request,
        "ask.html",
        visitor,
        status=status,
        ask=ask,
        entries=entries,
        begun=to_json(ask, entries) if begun is None else begun,
        unsent=not ask.state.answerable and not entries.empty,
        problems=problems or {},
        refused=refused,
        kept=kept,
        snoozed_until=next((each.until for each in put_off if each.ask.id == ask.id), None),
        seen=seen,
        editing=editing,
        whole="whole" in request.query_params,
        inbox=inbox,
        crowd=crowd,
        following=await _next(site, visitor, ask, crowd, inbox),
        events=await site.do(site.desk.events, ask.id),
        made=await site.do(site.desks.log.rules_made_of, ask.id) if ask.outcome and ask.wanted else [],
        no_rule="no-rule" in request.query_params,
        why_no_rule=offer.why_not if offer else "",
        sent=await _marker(request, "sent", visitor),
    )
    # Long Markdown takes its time; nobody else should have to wait for it.
    return await site.read(render)


async def after_settling(request: Request, visitor: Visitor, ask: Ask, crowd: str) -> str:
    """Where to go once an ask is settled."""
    site, crowd = site_of(request), crowd_of(ask, crowd)
    if look_of(request).after == "stay":
        return _page_of(ask, crowd)
    inbox = await site.do(site.desk.folded, person=visitor.user, most=PAGE)
    path, _, query = (await _next(site, visitor, ask, crowd, inbox)).partition("?")
    return f"/{path}?sent={ask.id}{f'&{query}' if query else ''}"


def _page_of(ask: Ask, crowd: str) -> str:
    return f"/asks/{ask.id}{f'?crowd={crowd}' if crowd else ''}"


async def _next(site: Site, visitor: Visitor, ask: Ask, crowd: str, inbox: Folded) -> str:
    """What a person goes on with. Who works through what one agent has open stays with that one."""
    theirs = partial(site.desk.inbox, person=visitor.user, awake_for=visitor.user, of=ask.asker, most=2)
    same = await site.do(theirs) if crowd else []
    others = [one.id for one in same if one.id != ask.id]
    return f"asks/{others[0]}?crowd={crowd}" if others else goes_on_with(inbox)


def crowd_of(ask: Ask, named: str) -> str:
    """The crowd that a person works through, if this ask is one of it."""
    return named if named == short_name(ask.asker.crowd) else ""


async def _marker(request: Request, name: str, visitor: Visitor) -> Ask | None:
    """The ask that a query parameter names, if this person may see it."""
    try:
        return await site_of(request).ask(request.query_params.get(name, ""), visitor.user)
    except NotFound:
        return None


def news_of(request: Request) -> News:
    news: News = request.app.state.news
    return news
