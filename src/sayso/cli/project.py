"""`sayso project`: the directories in which the web page may start agents, and how agents run there."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sayso.agent_guard import refuse_agents
from sayso.agents.acp import PROGRAMS
from sayso.agents.model import LONGEST_WAIT, PERMISSION_MODES, SHORTEST_WAIT, Options, Project
from sayso.agents.projects import Projects
from sayso.brought import brought
from sayso.cli import declared
from sayso.cli.program import settings
from sayso.cli.shared import settler
from sayso.cli.terminal import put, put_json, say, table
from sayso.cli.texts import explained, mark, plural, tr, translated
from sayso.desks import Desks, open_desks
from sayso.errors import CannotEdit, InvalidInput, NotFound, Problem
from sayso.text import one_line, spelt_out

if TYPE_CHECKING:
    from sayso.install.ledger import Ledger

AGENTS = ("claude", "codex", *PROGRAMS)
_WANTED = mark("say where agents run and what they may do there")


@declared.group()
def command() -> None:
    """Manage the directories in which the web page may start agents.

    \b
    Example:
      sayso project add ~/shop
      sayso project add ~/shop --permission-mode acceptEdits --ask-user-timeout 600
      sayso project list
    """


@command.command()
@declared.argument("directory", metavar="DIR", type=declared.PATH)
@declared.option("--name", metavar="NAME", default="", help="What the page calls it. By default its last part.")
@declared.option("--user", metavar="USER", help="Whose project it is: nobody else sees it. By default yours.")
@declared.option("--agent", type=declared.one_of(AGENTS), default="claude", help="Which agent works there.")
@declared.option(
    "--command",
    "starts_with",
    metavar="COMMAND",
    default="",
    help="What starts an agent that speaks ACP, such as 'goose acp'. With --agent acp.",
)
@declared.option("--ask-user/--no-ask-user", default=True, help="Whether the agent can ask you. It can by default.")
@declared.option(
    "--ask-user-timeout",
    type=int,
    metavar="SECONDS",
    help=f"How long it waits for an answer: {SHORTEST_WAIT} to {LONGEST_WAIT}. Else as mcp_ask_user_timeout says.",
)
@declared.option("--model", metavar="MODEL", default="", help="The model it uses. By default its own choice.")
@declared.option("--permission-mode", type=declared.one_of(PERMISSION_MODES), help="What it may do without asking you.")
@declared.option(
    "--worktree/--no-worktree",
    default=False,
    help="Whether conversations begin in a git worktree of their own. They do not by default.",
)
@declared.option("--json", "as_json", is_flag=True, help="Print the project as JSON.")
def add(
    directory: Path,
    name: str,
    user: str | None,
    agent: str,
    starts_with: str,
    ask_user: bool,
    ask_user_timeout: int | None,
    model: str,
    permission_mode: str | None,
    worktree: bool,
    as_json: bool,
) -> None:
    """Let agents be started in DIR, or change how they run there.

    \b
    Example:
      sayso project add .
      sayso project add . --agent gemini
      sayso project add . --agent acp --command 'goose acp'
    """
    options = Options(
        agent=agent,
        ask_user=ask_user,
        ask_user_timeout=ask_user_timeout,
        model=model,
        permission_mode=permission_mode or "",
        command=_words(starts_with),
        worktree=worktree,
    )
    with open_desks(settings()) as desks:
        refuse_agents(desks, _WANTED)
        owner = _owner(desks, user)
        before = desks.projects.all(owner)
        project = desks.projects.add(owner, directory.resolve(), name=name, options=options)
        try:
            written = _write_workspace(desks, project)
        except CannotEdit:
            if project.id not in [each.id for each in before]:
                desks.projects.remove(project.id)
            raise
    if as_json:
        put_json(_data(project))
        return
    said = mark("{owner} can start {agent} in {folder} from the page: `sayso web`, then Talk.")
    say(tr(said, owner=owner, agent=agent, folder=project.directory))
    if written and options.ask_user and settings().mcp_ask_user_enabled:
        from sayso.agents.workspace import PLACE

        file = project.directory / PLACE
        say(tr(mark("Written to {file}: how the agent reaches you. Removing the project takes it out."), file=file))
    _say_missing_agent(options)
    _say_untrusted(project.directory)


@command.reader(name="list")
@declared.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def show(as_json: bool) -> None:
    """Show the projects here, and how many agents are at work in each.

    \b
    Example:
      sayso project list
    """

    with open_desks(settings()) as desks:
        projects = desks.projects.all()
        at_work = [run.project.id for run in desks.runs.open_here()]
        worktrees = _worktrees(desks, projects)
    if as_json:
        put_json(
            [
                {**_data(project), "agents_at_work": at_work.count(project.id), "worktrees": worktrees[project.id]}
                for project in projects
            ]
        )
    elif projects:
        rows = [(*_row(project), str(at_work.count(project.id)), str(project.directory)) for project in projects]
        put(table(("ID", "NAME", "USER", "AGENT", "ASKS", "AT WORK", "DIRECTORY"), rows, may_miss=(4, 2, 5, 3)))
        for one in (each for project in projects for each in worktrees[project.id]):
            told = mark("There is a worktree of a conversation, {branch}, in {folder}.")
            say(tr(told, branch=spelt_out(one["branch"]), folder=one["directory"]))
    else:
        say(tr("There are no projects yet. `sayso project add DIR` adds one."))


def _worktrees(desks: Desks, projects: Sequence[Project]) -> dict[int, list[dict[str, str]]]:
    """The worktrees of conversations that are there, by the projects whose repositories they are of."""
    if not desks.config.worktrees_dir.exists():
        return {project.id: [] for project in projects}
    from sayso.branches import top_of_repository
    from sayso.trees.worktrees import Worktrees

    there = Worktrees(desks.config.worktrees_dir).all()
    roots = {project.id: top_of_repository(str(project.directory)) for project in projects}
    return {
        number: [{"branch": each.branch, "directory": each.place} for each in there if each.root == root]
        for number, root in roots.items()
    }


@command.command()
@declared.argument("project")
def remove(project: str) -> None:
    """Let no more agents be started in PROJECT.

    PROJECT is an id, a name or a directory. What was said there stays for a while.

    \b
    Example:
      sayso project remove shop
    """
    from sayso.agents import workspace

    with open_desks(settings()) as desks:
        refuse_agents(desks, _WANTED)
        projects = desks.projects
        found = _find(projects, project)
        projects.remove(found.id)
        if not any(other.directory == found.directory for other in projects.all()):
            workspace.remove_server(found.directory)
            made, file = _made(desks), found.directory / workspace.PLACE
            if record := made.get(file):
                workspace.remove_if_empty(found.directory, folder_too=bool(record.folders))
                made.drop(file)
    say(tr("No more agents are started in {folder}.", folder=found.directory))


@command.command()
def sync() -> None:
    """Rewrite the settings of every project's workspace.

    Do that after an upgrade or a change of settings.

    \b
    Example:
      sayso project sync
    """
    with open_desks(settings()) as desks:
        refuse_agents(desks, _WANTED)
        projects = desks.projects.all()
        troubles = [trouble for project in projects if (trouble := _sync(desks, project))]
    done = len(projects) - len(troubles)
    say(tr("{done} of {n} workspaces are up to date.", done=done, n=len(projects)))
    for trouble in troubles:
        say(trouble)
    if troubles:
        raise SystemExit(CannotEdit.exit_code)


@command.command()
@declared.argument("project", required=False)
def stop(project: str | None) -> None:
    """Stop the agents at work in PROJECT, or all of them.

    Every process of theirs ends as well, what they ask is cancelled, and agents that wait for a message end too.

    \b
    Example:
      sayso project stop shop
    """
    from sayso.agents import stopping

    with open_desks(settings()) as desks:
        refuse_agents(desks, "stop agents that a person started")
        wanted = _find(desks.projects, project).id if project else None
        runs = desks.runs
        doomed = [run for run in runs.open_here() if wanted in (None, run.project.id)]
        for run in doomed:
            stopping.stop(runs, desks.asks, run, settler(desks.config))
        for run in runs.resting_here():
            if wanted in (None, run.project.id):
                runs.dismiss(run)
    say(plural(len(doomed), "1 agent told to stop.", "{n} agents told to stop."))


def _say_missing_agent(options: Options) -> None:
    from sayso.agents.kinds import AGENTS, program_of

    program, agent = program_of(options, settings()), AGENTS[options.agent]
    if not shutil.which(program):
        said = mark("{agent} is not there yet ({program} is not on PATH). {install}")
        say(tr(said, agent=agent.label, program=spelt_out(program), install=translated(agent.install)))


def _say_untrusted(folder: Path) -> None:
    if files := len(brought(settings(), folder).untrusted):
        said = plural(
            files,
            "It brings 1 file that you have not trusted; agents start without it. To look at it: sayso trust {folder}",
            "It brings {n} files that you have not trusted; agents start without them. To look at them: "
            "sayso trust {folder}",
            folder=spelt_out(str(folder)),
        )
        say(said)


def _words(command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise InvalidInput([Problem(path="command", text=f"cannot be split into words: {error}.")]) from error


def _owner(desks: Desks, user: str | None) -> str:
    from sayso.cli.web import yourself

    accounts = desks.accounts
    if user is None:
        return yourself(accounts, desks.config.person)
    if user not in accounts.welcome():
        raise NotFound(f"There is no user {user!r}. Add them with `sayso user add {user}`.")
    return user


def _write_workspace(desks: Desks, project: Project) -> bool:
    """Have the workspace's settings name the MCP server, or not, as settings and project say. Whether that changed
    anything."""
    from sayso.agents import relay_file, workspace

    if desks.config.mcp_ask_user_enabled and project.options.ask_user:
        from sayso.install.ledger import Record

        file = project.directory / workspace.PLACE
        is_new, folders = not file.exists(), () if file.parent.exists() else (str(file.parent),)
        written = workspace.add_server(project.directory, relay_file.entry(desks.config))
        if is_new:
            _made(desks).put(file, Record(after="", restores=True, folders=folders))
        return written
    return workspace.remove_server(project.directory)


def _made(desks: Desks) -> Ledger:
    """Which of these files Sayso has made."""
    from sayso.install.ledger import Ledger

    return Ledger(desks.config.state_dir / "workspaces.json")


def _sync(desks: Desks, project: Project) -> str:
    """Bring one workspace up to date. What is in the way, if anything is."""
    try:
        _write_workspace(desks, project)
    except CannotEdit as error:
        return explained(error)
    return ""


def _find(projects: Projects, given: str) -> Project:
    """The project with this id, name or directory."""
    place = Path(given).resolve()
    found = [each for each in projects.all() if given in (str(each.id), each.name) or each.directory == place]
    if not found:
        raise NotFound(f"There is no project {given!r} here. `sayso project list` shows them.")
    if len(found) > 1:
        ids = ", ".join(str(each.id) for each in found)
        raise NotFound(f"{given!r} fits several projects. Give the id of one: {ids}.")
    return found[0]


def _data(project: Project) -> dict[str, object]:
    from sayso.agents.rows import options_data

    return {
        "id": project.id,
        "name": project.name,
        "user": project.owner,
        "directory": str(project.directory),
        **options_data(project.options),
    }


def _row(project: Project) -> tuple[str, ...]:
    options = project.options
    asks = f"{options.ask_user_timeout} s" if options.ask_user_timeout else tr("yes")
    return (
        str(project.id),
        one_line(project.name, 30),
        project.owner,
        options.agent,
        asks if options.ask_user else tr("no"),
    )
