"""The pages of the commands that agents run: the list, one of them with what it prints, and stopping it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from sayso.agents.model import Project
from sayso.brought import Used, brought
from sayso.config import Config
from sayso.errors import NotFound
from sayso.operations.operation import Operation
from sayso.operations.reader import OperationReader, View
from sayso.running.capture import STREAMS
from sayso.running.excerpt import FoundInBoth
from sayso.running.output import OutputLines
from sayso.trust import real
from sayso.web.pages import page
from sayso.web.printed import is_numbered
from sayso.web.sessions import Visitor, required_browser, sent_form
from sayso.web.site import Site, site_of

SHOWN_BYTES = 1 << 16
"""The most that a page shows of a stream at once."""
MOST_MATCHES = 100
_CHUNK = 1 << 16
_OFFSET = re.compile(r"[0-9]{1,15}")


@dataclass(frozen=True, kw_only=True)
class Panel:
    """What a page shows of one stream: its end, or a part from a place on."""

    stream: str
    lines: OutputLines
    first_line: int | None = None
    is_newest: bool = True

    @property
    def earlier(self) -> int | None:
        """Where the part before this one begins, if there is any."""
        return max(0, self.lines.offset - SHOWN_BYTES) if self.lines.offset else None


@dataclass(frozen=True, kw_only=True)
class Search:
    """What was looked for in the output, and what was found."""

    words: str = ""
    found: FoundInBoth | None = None


async def show_list(request: Request) -> Response:
    visitor, site = await required_browser(request), site_of(request)
    await site.do(site.reader.desk.end_the_dead)
    before = await _before(request, visitor)
    overview = await site.do(site.reader.overview, person=visitor.user, before=before)
    projects = await site.do(site.desks.projects.all, visitor.user)
    return page(
        request,
        "commands.html",
        visitor,
        operations=overview.ended if before else (*overview.under_way, *overview.ended),
        words=site.reader.words,
        older=f"commands?before={overview.ended[-1].id}" if overview.more else "",
        first_page=before is None,
        untrusted=await site.read(_untrusted, site.config, projects) if before is None else [],
    )


def _untrusted(config: Config, projects: Sequence[Project]) -> list[tuple[str, int]]:
    """The folders whose tool files are not used because nobody has trusted them, and how many those are: of the
    project that the server was started in, and of those in which agents may be started."""
    folders = {real(config.project), *(real(project.directory) for project in projects)}
    counted = [(str(folder), len(brought(config, folder).kept_from(Used.TOOLS))) for folder in sorted(folders)]
    return [(folder, files) for folder, files in counted if files]


async def show(request: Request) -> Response:
    visitor, site = await required_browser(request), site_of(request)
    operation = await _operation(request, visitor)
    return await _command_page(request, site, visitor, operation)


async def cancel(request: Request) -> Response:
    """Have it stopped, with every process it has started."""
    visitor, _ = await sent_form(request)
    site = site_of(request)
    operation = await _operation(request, visitor)
    await site.do(site.reader.cancel, operation, f"{visitor.user} in the {visitor.surface}")
    return RedirectResponse(f"/commands/{operation.id}", 303)


async def whole_output(request: Request) -> Response:
    """All that was kept of a stream, as plain text."""
    visitor, site = await required_browser(request), site_of(request)
    operation = await _operation(request, visitor)
    stream = request.path_params["stream"]
    if stream not in STREAMS:
        raise HTTPException(404, "A command writes to stdout and to stderr.")
    return StreamingResponse(_all_of(site, operation, stream), media_type="text/plain; charset=utf-8")


async def _all_of(site: Site, operation: Operation, stream: str) -> AsyncIterator[str]:
    """Piece by piece, as much as there is at the beginning: never all of it in memory."""
    place, end = 0, (await site.read(site.reader.printed, operation))[STREAMS.index(stream)]
    while place < end:
        part = await site.read(site.reader.lines, operation, stream, offset=place, limit=_CHUNK)
        if part.skipped:
            yield f"\n[{part.skipped:,} bytes were not kept]\n"
        yield part.text + part.unfinished
        if part.unfinished or part.next_offset <= place:
            return
        place = part.next_offset


async def _command_page(request: Request, site: Site, visitor: Visitor, operation: Operation) -> Response:
    await site.do(site.reader.desk.end_the_dead)
    view = await site.do(site.reader.view, operation.id)

    def render() -> Response:
        reader = site.reader
        return page(
            request,
            "command.html",
            visitor,
            operation=view.operation,
            view=view,
            here=reader.is_here(view.part),
            words=reader.words,
            **_printed(request, reader, view),
            search=_search(request, reader, view),
        )

    # Reading and masking take their time; nobody else should have to wait for it.
    return await site.read(render)


def _printed(request: Request, reader: OperationReader, view: View) -> dict[str, Any]:
    """What it printed, as it came; or the streams for themselves, for those who look for a place in one."""
    alone = request.query_params.get("alone", "")
    if alone in STREAMS or any(stream in request.query_params for stream in STREAMS):
        wanted = [alone] if alone in STREAMS else STREAMS
        return {"panels": [_panel(request, reader, view, stream) for stream in wanted], "both": None}
    both = reader.newest_of_both(view.part, limit=SHOWN_BYTES)
    first = both.first_line if is_numbered(both.first_line, both.parts) else None
    return {"panels": [], "both": both, "first_line": first, "shown": SHOWN_BYTES}


def _panel(request: Request, reader: OperationReader, view: View, stream: str) -> Panel:
    place = request.query_params.get(stream, "")
    if not _OFFSET.fullmatch(place):
        lines = reader.newest_lines(view.part, stream, limit=SHOWN_BYTES)
    else:
        lines = reader.lines(view.part, stream, offset=int(place), limit=SHOWN_BYTES)
    before = reader.lines_before(view.part, stream, lines.offset)
    first = None if before is None else before + 1
    return Panel(stream=stream, lines=lines, first_line=first, is_newest=not _OFFSET.fullmatch(place))


def _search(request: Request, reader: OperationReader, view: View) -> Search:
    """Lines with these words in them, however they are written."""
    words = request.query_params.get("find", "").replace("\0", "").strip()[:200]
    if not words:
        return Search()
    pattern = f"(?i){re.escape(words)}"
    return Search(words=words, found=reader.grep_both(view.part, STREAMS, pattern, limit=MOST_MATCHES))


async def _operation(request: Request, visitor: Visitor) -> Operation:
    return await site_of(request).operation(request.path_params["operation"], visitor.user)


async def _before(request: Request, visitor: Visitor) -> Operation | None:
    """The command that a page of older ones begins after."""
    try:
        found = await site_of(request).operation(request.query_params.get("before", ""), visitor.user)
    except NotFound:
        return None
    return found if found.state.ended else None
