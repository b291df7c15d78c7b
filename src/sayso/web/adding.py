"""The page on which a project is added: a folder below one that the server's owner has allowed for it, an agent that is
there, and how that runs. For the person whose account the server runs under, and nobody else."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sayso.agents.agent import MODEL_NAME
from sayso.agents.kinds import installed
from sayso.agents.model import PERMISSION_MODES, Options, Project
from sayso.agents.offers import ASKS_NOTHING, known_modes
from sayso.agents.project_places import MOST_LISTED, ProjectPlaces
from sayso.errors import InvalidInput, Problem, SaysoError
from sayso.records import replace
from sayso.text import one_line
from sayso.web.fields import Fields
from sayso.web.pages import page
from sayso.web.refusal import status_of
from sayso.web.sessions import Visitor, required_browser, sent_form
from sayso.web.site import site_of
from sayso.web.talk import may_add_projects, supervisor_of

_FIELDS = {
    "folder": "The folder",
    "agent": "The agent",
    "permission_mode": "The permission mode",
    "model": "The model",
}
"""As the form calls them."""
_NOT_HERE = "Projects cannot be added from this page. On the machine where Sayso runs: sayso project add DIR"


def routes() -> list[Route]:
    return [Route("/projects/new", show, methods=["GET"]), Route("/projects/new", add, methods=["POST"])]


async def show(request: Request) -> Response:
    visitor = await required_browser(request)
    _check_may_add(request, visitor)
    return await _form(request, visitor, Options(), "")


async def add(request: Request) -> Response:
    visitor, fields = await sent_form(request)
    _check_may_add(request, visitor)
    options = Options(
        agent=fields.one("agent"),
        permission_mode=fields.one("permission_mode"),
        model=fields.one("model").strip(),
        worktree=bool(fields.one("worktree")),
    )
    try:
        project = await site_of(request).read(_added, request, visitor, fields, options)
    except InvalidInput as error:
        return await _form(request, visitor, options, fields.one("folder"), refused=error)
    return RedirectResponse(f"/talk?project={project.id}", 303)


def _added(request: Request, visitor: Visitor, fields: Fields, options: Options) -> Project:
    config = site_of(request).config
    _check(options, list(installed(config)))
    directory, root = ProjectPlaces(config.projects_in).checked(fields.one("folder"))
    projects = supervisor_of(request).projects
    return projects.add_new(visitor.user, directory, options=replace(options, added_below=str(root)))


def _check(options: Options, agents: list[str]) -> None:
    problems = []
    if options.agent not in agents:
        text = f"is {one_line(options.agent, 50)!r}; it must be one that is installed here: {', '.join(agents)}."
        problems.append(Problem(path="agent", text=text))
    if options.permission_mode and options.permission_mode not in (modes := _modes(options.agent)):
        text = f"is {one_line(options.permission_mode, 50)!r}; it must be empty or one of {', '.join(modes)}."
        problems.append(Problem(path="permission_mode", text=text))
    if options.model and not MODEL_NAME.fullmatch(options.model):
        text = f"is {one_line(options.model, 100)!r}; it must be the name of a model, such as opus."
        problems.append(Problem(path="model", text=text))
    if problems:
        raise InvalidInput(problems)


def _modes(agent: str) -> tuple[str, ...]:
    """Those of an agent that can be chosen here. To ask for nothing at all is chosen from the command line of the
    machine."""
    return tuple(mode for mode in known_modes(agent) if mode != ASKS_NOTHING)


async def _form(
    request: Request, visitor: Visitor, options: Options, folder: str, *, refused: SaysoError | None = None
) -> Response:
    site = site_of(request)
    projects = await site.do(supervisor_of(request).projects.all, visitor.user)
    places = ProjectPlaces(site.config.projects_in)
    agents = await site.read(installed, site.config)
    modes_of = {name: _modes(name) for name in agents}
    return page(
        request,
        "project_new.html",
        visitor,
        status=status_of(refused),
        refused=_in_words(refused),
        allowed=places.allowed,
        places=await site.read(places.listed, [project.directory for project in projects]),
        most=MOST_LISTED,
        agents=agents,
        modes_of=modes_of,
        modes=[mode for mode in PERMISSION_MODES if any(mode in modes for modes in modes_of.values())],
        given=options,
        folder=folder,
    )


def _in_words(refused: SaysoError | None) -> str:
    if not isinstance(refused, InvalidInput):
        return str(refused or "")
    return " ".join(f"{_FIELDS.get(problem.path, problem.path)} {problem.text}" for problem in refused.problems)


def _check_may_add(request: Request, visitor: Visitor) -> None:
    if not may_add_projects(site_of(request), visitor):
        raise HTTPException(403, _NOT_HERE)
