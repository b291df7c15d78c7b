"""What can be completed in a message: the files of the project, and the commands that the agent has told of."""

from __future__ import annotations

from itertools import islice

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sayso.agents.model import EventKind, Run
from sayso.agents.supervisor import RunSupervisor
from sayso.errors import TreeUnavailable
from sayso.processes import this_host
from sayso.text import one_line
from sayso.trees.files import files_of, matching
from sayso.web.sessions import required_browser
from sayso.web.site import site_of
from sayso.web.talk import supervisor_of, turns_of

MOST_OFFERED = 30
_MOST_TURNS = 50
_LONGEST = 200
"""Characters of what is looked for."""


def routes() -> list[Route]:
    return [
        Route("/talk/{conversation}/files", show_files, methods=["GET"]),
        Route("/talk/{conversation}/commands", show_commands, methods=["GET"]),
    ]


async def show_files(request: Request) -> Response:
    visitor, wanted = await required_browser(request), request.query_params.get("q", "")[:_LONGEST]
    run = (await turns_of(request, visitor))[-1]
    names = await site_of(request).read(_files, supervisor_of(request), run, wanted)
    return JSONResponse({"options": [{"value": f"@{name}", "about": ""} for name in names]})


def _files(supervisor: RunSupervisor, run: Run, wanted: str) -> list[str]:
    if run.host != this_host():
        return []
    try:
        shadow = supervisor.trees.of(run.conversation)
    except TreeUnavailable:
        shadow = None
    return matching(files_of(shadow, run.directory), wanted, MOST_OFFERED)


async def show_commands(request: Request) -> Response:
    visitor = await required_browser(request)
    turns = await turns_of(request, visitor)
    return JSONResponse({"options": await site_of(request).do(_commands, supervisor_of(request), turns)})


def _commands(supervisor: RunSupervisor, turns: list[Run]) -> list[dict[str, str]]:
    """What the agent has told last: in one of the latest turns, or in that with which its process began."""
    for run_id in islice(dict.fromkeys(each for run in reversed(turns) for each in (run.line, run.id)), _MOST_TURNS):
        if told := supervisor.runs.events_of(run_id, EventKind.COMMANDS):
            return [
                {"value": f"/{each['name']}", "about": one_line(each["about"], 200)}
                for each in told[-1].body["commands"]
            ]
    return []
