"""Pictures and files of asks: added to an answer before it is sent, and shown again, as nothing but what they are.

Only pictures of the kinds that are known by their content are shown; all else is handed out to be saved.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from sayso.asks import draft
from sayso.asks.draft import Draft
from sayso.asks.model import Ask
from sayso.dialects.outcomes import attachment_data
from sayso.errors import InvalidInput, SaysoError
from sayso.pictures import media_type
from sayso.records import replace
from sayso.web.fields import Fields
from sayso.web.refusal import as_data, error_data, in_words, status_of
from sayso.web.sessions import Visitor, required_browser, sent_form
from sayso.web.site import Site, site_of

_ID = re.compile(r"[0-9a-f]{32}")
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "private, max-age=86400",
    # Who signs out takes with them what the browser has kept.
    "Vary": "Cookie",
}


def routes() -> list[BaseRoute]:
    return [
        Route("/asks/{ask}/files", add, methods=["POST"]),
        Route("/asks/{ask}/files/{attachment}", show, methods=["GET"]),
    ]


async def add(request: Request) -> Response:
    """Keep what a page sends as soon as it is chosen, so that the answer itself is short and nothing is sent twice."""
    site = site_of(request)
    try:
        visitor, fields = await sent_form(request)
    except HTTPException as error:
        return JSONResponse(error_data(error.detail), error.status_code, error.headers)
    ask = await site.ask(request.path_params["ask"], visitor.user)
    try:
        work, sent_files = site.desk.add_attachment, fields.files("file")
        added = [await site.do(work, ask.id, visitor.user, each.name, each.data) for each in sent_files]
    except InvalidInput as error:
        # A page has one field for files, which is not worth a name.
        return JSONResponse(error_data(in_words(error), error.problems), status_of(error))
    except SaysoError as error:
        return as_data(error)
    return JSONResponse({"attachments": [attachment_data(each) for each in added]})


async def with_known(site: Site, visitor: Visitor, ask: Ask, entries: Draft) -> Draft:
    """What was entered, with what is known of the files that this person has added; others are left out."""
    if not entries.has_files:
        return entries
    return draft.with_known(entries, await site.do(site.desk.added, ask.id, visitor.user))


async def with_sent(
    site: Site, visitor: Visitor, ask: Ask, entries: Draft, fields: Fields
) -> tuple[Draft, Mapping[int, str]]:
    """The same with the files that came with the form; and for each question why one of its files was not taken."""
    entries, problems = await with_known(site, visitor, ask, entries), {}
    for place, question in enumerate(ask.questions):
        for file in fields.files(f"q{place}-file"):
            said = entries.of(question)
            try:
                added = await site.do(site.desk.keep_attachment, ask.id, visitor.user, file.name, file.data)
            except InvalidInput as error:
                problems[place] = in_words(error)
            else:
                unique = {each.id: each for each in (*said.attachments, added)}
                entries = entries.put(question, replace(said, attachments=tuple(unique.values())))
    return entries, problems


async def show(request: Request) -> Response:
    visitor, site = await required_browser(request), site_of(request)
    return await sent(request, visitor, await site.ask(request.path_params["ask"], visitor.user))


async def sent(request: Request, visitor: Visitor, ask: Ask) -> Response:
    """One file of an ask. Browsers are told what it is, and may take it for nothing else."""
    site, name = site_of(request), request.path_params["attachment"]
    if not _ID.fullmatch(name):
        raise HTTPException(404, "This ask has no such file.")
    found, data = await site.do(site.desk.attachment, ask.id, name, visitor.user)
    media = media_type(data)
    shown = "inline" if media else "attachment"
    disposition = f"{shown}; filename*=UTF-8''{quote(found.name, safe='')}"
    headers = {**_HEADERS, "Content-Disposition": disposition}
    return Response(data, media_type=media or "application/octet-stream", headers=headers)
