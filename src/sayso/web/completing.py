"""What can be completed in a message: the files of the project, and the commands that the agent has told of; in the
first message of a conversation, as the last one in the same project had them."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sayso.agents.model import EventKind, Project, Run
from sayso.agents.supervisor import RunSupervisor
from sayso.errors import TreeUnavailable
from sayso.processes import this_host
from sayso.text import one_line
from sayso.trees.files import files_of, matching
from sayso.web.sessions import required_browser
from sayso.web.site import site_of
from sayso.web.talk import project_of, supervisor_of, turns_of

MOST_OFFERED = 30
_MOST_TURNS = 50
_MOST_CONVERSATIONS = 50
_LONGEST = 200
"""Characters of what is looked for."""


def routes() -> list[Route]:
    return [
        Route("/talk/{conversation}/files", show_files, methods=["GET"]),
        Route("/talk/{conversation}/commands", show_commands, methods=["GET"]),
        Route("/projects/{project:int}/files", show_files_of_project, methods=["GET"]),
        Route("/projects/{project:int}/commands", show_commands_of_project, methods=["GET"]),
    ]


async def show_files(request: Request) -> Response:
    visitor, wanted = await required_browser(request), _wanted(request)
    run = (await turns_of(request, visitor))[-1]
    return await _offered_files(request, run.host, run.directory, run.conversation, wanted)


async def show_files_of_project(request: Request) -> Response:
    visitor, wanted = await required_browser(request), _wanted(request)
    project = await project_of(request, visitor, str(request.path_params["project"]))
    last = await site_of(request).do(_last_in, supervisor_of(request), project)
    return await _offered_files(request, project.host, project.directory, last[-1].conversation if last else "", wanted)


def _wanted(request: Request) -> str:
    return request.query_params.get("q", "")[:_LONGEST]


async def _offered_files(request: Request, host: str, directory: Path, conversation: str, wanted: str) -> Response:
    names = await site_of(request).read(_files, supervisor_of(request), host, directory, conversation, wanted)
    return JSONResponse({"options": [{"value": f"@{name}", "about": ""} for name in names]})


def _files(supervisor: RunSupervisor, host: str, directory: Path, conversation: str, wanted: str) -> list[str]:
    if host != this_host():
        return []
    try:
        shadow = supervisor.trees.of(conversation) if conversation else None
    except TreeUnavailable:
        shadow = None
    return matching(files_of(shadow, directory), wanted, MOST_OFFERED)


def _last_in(supervisor: RunSupervisor, project: Project) -> list[Run]:
    """The turns of the conversation that was last had in the folder of a project, if that is not long ago."""
    for each in supervisor.runs.conversations(project.owner, most=_MOST_CONVERSATIONS):
        if each.latest.project.id == project.id and not each.latest.has_worktree:
            return supervisor.runs.turns(each.id, project.owner)
    return []


async def show_commands(request: Request) -> Response:
    visitor = await required_browser(request)
    turns = await turns_of(request, visitor)
    return JSONResponse({"options": await site_of(request).do(_commands, supervisor_of(request), turns)})


async def show_commands_of_project(request: Request) -> Response:
    visitor, supervisor = await required_browser(request), supervisor_of(request)
    project = await project_of(request, visitor, str(request.path_params["project"]))
    turns = await site_of(request).do(_last_in, supervisor, project)
    return JSONResponse({"options": await site_of(request).do(_commands, supervisor, turns)})


def _commands(supervisor: RunSupervisor, turns: list[Run]) -> list[dict[str, str]]:
    """What the agent has told last: in one of the latest turns, or in that with which its process began."""
    for run_id in islice(dict.fromkeys(each for run in reversed(turns) for each in (run.line, run.id)), _MOST_TURNS):
        if told := supervisor.runs.events_of(run_id, EventKind.COMMANDS):
            return [
                {"value": f"/{each['name']}", "about": one_line(each["about"], 200)}
                for each in told[-1].body["commands"]
            ]
    return []
