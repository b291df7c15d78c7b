"""The part of the API that is about the log: what was allowed and denied, and what came of it."""

from __future__ import annotations

from typing import Any

from sayso.clock import now_ms
from sayso.errors import InvalidInput, Problem
from sayso.permissions.log_words import SINCE, outcome_data, permission_data, since_when
from sayso.text import quoted
from sayso.web.openapi import ApiCall, ApiOperation
from sayso.web.schemas import QUERY_BEFORE, QUERY_DENIED, QUERY_LIMIT, QUERY_PROJECT, QUERY_SINCE
from sayso.web.site import site_of

PAGE = 100


async def outcomes(call: ApiCall) -> dict[str, Any]:
    site, query = site_of(call.request), call.query
    most = query.get("limit", PAGE)
    found = await site.do(
        site.desks.log.outcomes,
        since=_moment(query.get("since", "")),
        project=query.get("project"),
        person=call.visitor.user,
        only_refused=1 if query.get("denied") == "1" else None,
        before=query.get("before"),
        most=most + 1,
    )
    shown = found[:most]
    next_ = shown[-1].entry.seq if len(found) > most else None
    return {"outcomes": [outcome_data(outcome) for outcome in shown], "next": next_}


async def show(call: ApiCall) -> dict[str, Any]:
    site = site_of(call.request)
    return permission_data(await site.do(site.desks.log.whole, call.request.path_params["ask"], call.visitor.user))


OPERATIONS = (
    ApiOperation(
        method="GET",
        path="/api/log",
        summary="What was allowed, denied and refused, newest first, with what ran under it.",
        work=outcomes,
        answer="LogOutcomes",
        query={
            "since": QUERY_SINCE,
            "project": QUERY_PROJECT,
            "denied": QUERY_DENIED,
            "before": QUERY_BEFORE,
            "limit": QUERY_LIMIT,
        },
    ),
    ApiOperation(
        method="GET",
        path="/api/log/{ask}",
        summary="All that happened with one permission, and the whole action. Secrets are masked.",
        work=show,
        answer="LoggedPermission",
        errors=[404],
    ),
)


def _moment(since: str) -> int:
    if (moment := since_when(since, now_ms())) is None:
        raise InvalidInput([Problem(path="since", text=SINCE.format(given=quoted(since)))])
    return moment
