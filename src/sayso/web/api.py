"""The API for scripts under /api/: what a person can do with asks, as JSON. The log is in log_api.py, commands are in
commands_api.py."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import cache, partial
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from sayso.asks.model import Answer, Ask, Attachment
from sayso.dialects.asks_as_data import ask_data, event_data
from sayso.dialects.outcomes import attachment_data
from sayso.errors import NotFound
from sayso.permissions.action import AllowScope
from sayso.web import commands_api, files, log_api
from sayso.web.openapi import ApiCall, ApiOperation, InputChecks, document
from sayso.web.schemas import QUERY_LIMIT, QUERY_NAME, QUERY_PROJECT, QUERY_SEARCH, SCHEMAS, query_id
from sayso.web.sessions import required_caller
from sayso.web.site import no_such_ask, site_of

Endpoint = Callable[[Request], Coroutine[Any, Any, Response]]
PAGE = 100


async def me(call: ApiCall) -> dict[str, Any]:
    return {"user": call.visitor.user, "surface": call.visitor.surface}


async def inbox(call: ApiCall) -> dict[str, Any]:
    site, most = site_of(call.request), call.query.get("limit", PAGE)
    after = await site.ask(call.query["after"], call.visitor.user) if "after" in call.query else None
    await site.do(site.desk.release_the_dead)
    asks = await site.do(
        site.desk.inbox, project=call.query.get("project"), person=call.visitor.user, after=after, most=most + 1
    )
    return _page(asks, most)


async def history(call: ApiCall) -> dict[str, Any]:
    site, most = site_of(call.request), call.query.get("limit", PAGE)
    before = await site.ask(call.query["before"], call.visitor.user) if "before" in call.query else None
    if before and before.ended_at is None:
        raise no_such_ask()
    asks = await site.do(
        site.desk.history,
        project=call.query.get("project"),
        person=call.visitor.user,
        search=call.query.get("search", ""),
        before=before,
        most=most + 1,
    )
    return _page(asks, most)


async def show(call: ApiCall) -> dict[str, Any]:
    return ask_data(await _ask(call))


async def events(call: ApiCall) -> dict[str, Any]:
    site, ask = site_of(call.request), await _ask(call)
    return {"events": [event_data(event) for event in await site.do(site.desk.events, ask.id)]}


async def answer(call: ApiCall) -> dict[str, Any]:
    site, ask = site_of(call.request), await _ask(call)
    given = [_given(item) for item in call.body["answers"]]
    return ask_data(await site.do(site.desk.answer, ask.id, given, call.visitor.settler))


def _given(item: dict[str, Any]) -> Answer:
    attachments = tuple(Attachment(id=each) for each in item.get("attachments", ()))
    return Answer(**{**item, "chosen": tuple(item.get("chosen", ())), "attachments": attachments})


async def attach(call: ApiCall) -> dict[str, Any]:
    site, ask, name = site_of(call.request), await _ask(call), call.query.get("name", "file")
    added = await site.do(site.desk.add_attachment, ask.id, call.visitor.user, name, call.body)
    return attachment_data(added)


async def attached(call: ApiCall) -> Response:
    return await files.sent(call.request, call.visitor, await _ask(call))


async def detach(call: ApiCall) -> dict[str, Any]:
    site, ask, user = site_of(call.request), await _ask(call), call.visitor.user
    there, name = await site.do(site.desk.added, ask.id, user), call.request.path_params["attachment"]
    if name not in {each.id for each in there}:
        raise NotFound("You have added no such file to this ask.")
    await site.do(site.desk.drop_attachment, ask.id, user, name)
    return {"attachments": [attachment_data(each) for each in await site.do(site.desk.added, ask.id, user)]}


async def reject(call: ApiCall) -> dict[str, Any]:
    site, ask = site_of(call.request), await _ask(call)
    reason = call.body.get("reason", "")
    return ask_data(await site.do(site.desk.reject, ask.id, reason, call.visitor.settler))


async def allow(call: ApiCall) -> dict[str, Any]:
    site, ask, body = site_of(call.request), await _ask(call), call.body
    scope = AllowScope(body["scope"]) if "scope" in body else None
    given = {"scope": scope, "changed_input": body.get("changed_input"), "edited_digest": body.get("edited_digest", "")}
    return ask_data(await site.do(site.permissions.allow, ask.id, body["digest"], call.visitor.settler, **given))


async def deny(call: ApiCall) -> dict[str, Any]:
    site, ask = site_of(call.request), await _ask(call)
    return ask_data(await site.do(site.permissions.deny, ask.id, call.visitor.settler, call.body.get("because", "")))


async def take_back(call: ApiCall) -> dict[str, Any]:
    site, ask = site_of(call.request), await _ask(call)
    return ask_data(await site.do(site.permissions.take_back, ask.id, call.visitor.settler))


OPERATIONS = (
    ApiOperation(method="GET", path="/api/me", summary="Who is calling.", work=me, answer="Me"),
    ApiOperation(
        method="GET",
        path="/api/asks",
        summary="The asks that can be answered: those whose agents wait first, each part oldest first.",
        work=inbox,
        answer="Asks",
        query={
            "project": QUERY_PROJECT,
            "after": query_id("Go on after this ask: the `next` of the page before."),
            "limit": QUERY_LIMIT,
        },
        errors=[404],
    ),
    ApiOperation(
        method="GET",
        path="/api/history",
        summary="The asks that ended, newest first.",
        work=history,
        answer="Asks",
        query={
            "project": QUERY_PROJECT,
            "search": QUERY_SEARCH,
            "before": query_id("Go on before this ask: the `next` of the page before."),
            "limit": QUERY_LIMIT,
        },
        errors=[404],
    ),
    ApiOperation(
        method="GET", path="/api/asks/{ask}", summary="Everything about an ask.", work=show, answer="Ask", errors=[404]
    ),
    ApiOperation(
        method="GET",
        path="/api/asks/{ask}/events",
        summary="What happened to an ask.",
        work=events,
        answer="Events",
        errors=[404],
    ),
    ApiOperation(
        method="POST",
        path="/api/asks/{ask}/answer",
        summary="Answer an ask. The first valid answer wins.",
        work=answer,
        answer="Ask",
        body="Answers",
        errors=[404, 409],
    ),
    ApiOperation(
        method="POST",
        path="/api/asks/{ask}/attachments",
        summary="Add a picture or a file to the answer that you are about to give. Its id goes into the answer.",
        work=attach,
        answer="Attachment",
        query={"name": QUERY_NAME},
        takes_file=True,
        errors=[404, 409],
    ),
    ApiOperation(
        method="GET",
        path="/api/asks/{ask}/attachments/{attachment}",
        summary="What is in a picture or a file of an ask, of its answer, or of yours.",
        work=attached,
        answer="",
        errors=[404],
    ),
    ApiOperation(
        method="POST",
        path="/api/asks/{ask}/attachments/{attachment}/remove",
        summary="Take back a picture or a file that you have added and not sent. Those that are left.",
        work=detach,
        answer="Attachments",
        errors=[404],
    ),
    ApiOperation(
        method="POST",
        path="/api/asks/{ask}/reject",
        summary="Reject an ask, with a reason for the agent.",
        work=reject,
        answer="Ask",
        body="Rejection",
        errors=[404, 409],
    ),
    ApiOperation(
        method="POST",
        path="/api/asks/{ask}/allow",
        summary="Allow what an agent wants to do, exactly as its digest names it; one yes where several must agree.",
        work=allow,
        answer="Ask",
        body="Allow",
        errors=[404, 409],
    ),
    ApiOperation(
        method="POST",
        path="/api/asks/{ask}/take-back",
        summary="Take the yes back that you gave, while others have yet to agree.",
        work=take_back,
        answer="Ask",
        errors=[404, 409, 422],
    ),
    ApiOperation(
        method="POST",
        path="/api/asks/{ask}/deny",
        summary="Deny it, with a reason for the agent.",
        work=deny,
        answer="Ask",
        body="Deny",
        errors=[404, 409],
    ),
    *log_api.OPERATIONS,
    *commands_api.OPERATIONS,
)


def routes() -> list[BaseRoute]:
    """A route per operation, and the document."""
    made = [Route(operation.path, _endpoint(operation), methods=[operation.method]) for operation in OPERATIONS]
    return [*made, Route("/api/openapi.json", _document)]


def _endpoint(operation: ApiOperation) -> Endpoint:
    checks = cache(partial(InputChecks, operation, SCHEMAS))  # by the first call: most are never called

    async def endpoint(request: Request) -> Response:
        visitor = await required_caller(request)
        call = await checks().read_call(request, visitor)
        done = await operation.work(call)
        return done if isinstance(done, Response) else JSONResponse(done)

    return endpoint


async def _document(request: Request) -> Response:
    return JSONResponse(document(OPERATIONS, SCHEMAS))


async def _ask(call: ApiCall) -> Ask:
    return await site_of(call.request).ask(call.request.path_params["ask"], call.visitor.user)


def _page(asks: list[Ask], most: int) -> dict[str, Any]:
    shown = asks[:most]
    return {"asks": [ask_data(ask) for ask in shown], "next": shown[-1].id if len(asks) > most else None}
