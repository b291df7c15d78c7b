"""The part of the API that is about the commands agents run: list, look, read, search, stop."""

from __future__ import annotations

from typing import Any

from sayso.dialects.operations_as_data import both_data, found_data, lines_data, operation_data
from sayso.operations import operation as model
from sayso.running.capture import STREAMS
from sayso.web.openapi import ApiCall, ApiOperation
from sayso.web.schemas import QUERY_LIMIT, QUERY_PROJECT, query_operation
from sayso.web.site import site_of

PAGE = 100
MATCHES = 100
_STREAM = {"enum": list(STREAMS), "type": "string", "description": "Which of the two; stdout by default."}
_OFFSET = {"type": "integer", "minimum": 0, "maximum": 10**15, "description": "Where to begin, in bytes; 0 by default."}
_LIMIT = {
    "type": "integer",
    "minimum": 1,
    "maximum": 1 << 20,
    "description": "At most this many bytes; 65,536 by default.",
}
_GREP = {
    "type": "string",
    "minLength": 1,
    "maxLength": 500,
    "pattern": "^[^\\u0000]*$",
    "description": "A regular expression in Python's syntax.",
}


async def recent(call: ApiCall) -> dict[str, Any]:
    site, most = site_of(call.request), call.query.get("limit", PAGE)
    before = await site.operation(call.query["before"], call.visitor.user) if "before" in call.query else None
    found = await site.do(
        site.reader.recent,
        project=call.query.get("project"),
        person=call.visitor.user,
        before=before,
        most=most + 1,
    )
    shown = found[:most]
    data = [operation_data(operation, site.reader.words(operation)) for operation in shown]
    return {"operations": data, "next": shown[-1].id if len(found) > most else None}


async def show(call: ApiCall) -> dict[str, Any]:
    site = site_of(call.request)
    view = await site.do(site.reader.view, (await _operation(call)).id)
    steps = [operation_data(step, site.reader.words(step)) for step in view.steps]
    return operation_data(view.operation, site.reader.words(view.operation)) | {"steps": steps}


async def output(call: ApiCall) -> dict[str, Any]:
    site, operation = site_of(call.request), await _operation(call)
    stream = call.query.get("stream", STREAMS[0])
    lines = await site.read(
        site.reader.lines,
        operation,
        stream,
        offset=call.query.get("offset", 0),
        limit=call.query.get("limit", 1 << 16),
    )
    return lines_data(operation, stream, lines)


async def both(call: ApiCall) -> dict[str, Any]:
    site, operation = site_of(call.request), await _operation(call)
    places = {stream: call.query.get(stream, 0) for stream in STREAMS}
    limit = call.query.get("limit", 1 << 16)
    return both_data(operation, await site.read(site.reader.lines_of_both, operation, places, limit=limit))


async def search(call: ApiCall) -> dict[str, Any]:
    site, operation = site_of(call.request), await _operation(call)
    stream = call.query.get("stream", STREAMS[0])
    most = call.query.get("limit", MATCHES)
    found = await site.read(site.reader.grep, operation, stream, call.query.get("grep", ""), limit=most)
    return found_data(operation, stream, found)


async def cancel(call: ApiCall) -> dict[str, Any]:
    site, operation = site_of(call.request), await _operation(call)
    wanted = await site.do(site.reader.cancel, operation, f"{call.visitor.user} through the {call.visitor.surface}")
    return operation_data(wanted, site.reader.words(wanted)) | {"steps": []}


async def _operation(call: ApiCall) -> model.Operation:
    return await site_of(call.request).operation(call.request.path_params["operation"], call.visitor.user)


OPERATIONS = (
    ApiOperation(
        method="GET",
        path="/api/operations",
        summary="The commands that agents run and ran, newest first.",
        work=recent,
        answer="Operations",
        query={
            "project": QUERY_PROJECT,
            "before": query_operation("Go on before this one: the `next` of the page before."),
            "limit": QUERY_LIMIT,
        },
        errors=[404],
    ),
    ApiOperation(
        method="GET",
        path="/api/operations/{operation}",
        summary="Everything about a command but its output; of a sequence also the steps that have begun.",
        work=show,
        answer="OperationWithSteps",
        errors=[404],
    ),
    ApiOperation(
        method="GET",
        path="/api/operations/{operation}/output",
        summary="Whole lines of what a command printed, from a place on, secrets hidden.",
        work=output,
        answer="Output",
        query={"stream": _STREAM, "offset": _OFFSET, "limit": _LIMIT},
        errors=[404],
    ),
    ApiOperation(
        method="GET",
        path="/api/operations/{operation}/both",
        summary="What a command printed to stdout and stderr, in the order in which it came, secrets hidden.",
        work=both,
        answer="BothStreams",
        query={**dict.fromkeys(STREAMS, _OFFSET), "limit": _LIMIT},
        errors=[404],
    ),
    ApiOperation(
        method="GET",
        path="/api/operations/{operation}/search",
        summary="The first lines of what a command printed in which a regular expression is found.",
        work=search,
        answer="Matches",
        query={"grep": _GREP, "stream": _STREAM, "limit": QUERY_LIMIT},
        errors=[404],
    ),
    ApiOperation(
        method="POST",
        path="/api/operations/{operation}/cancel",
        summary="Have a command stopped, with every process it has started. One that has ended stays as it is.",
        work=cancel,
        answer="OperationWithSteps",
        errors=[404],
    ),
)
