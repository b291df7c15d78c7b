"""What the form that starts a conversation offers: the projects, and what can be chosen of the agent in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sayso.agents.agent import MODEL_NAME
from sayso.agents.kinds import AGENTS
from sayso.agents.model import PERMISSION_MODES, Project
from sayso.agents.offers import Offers, offers_of
from sayso.agents.supervisor import RunSupervisor
from sayso.branches import top_of_repository
from sayso.errors import InvalidInput, Problem
from sayso.web.fields import Fields


@dataclass(frozen=True, kw_only=True)
class StartChoice:
    """A project in which a conversation can be started, with its agent."""

    project: Project
    agent: str
    offers: Offers
    is_installed: bool
    has_git: bool


@dataclass(frozen=True, kw_only=True)
class StartForm:
    """The form as it is shown: the project whose defaults it has, and what somebody has entered already."""

    choices: Sequence[StartChoice]
    chosen: StartChoice
    prompt: str = ""
    mode: str = ""
    model: str = ""
    worktree: bool = False

    @property
    def modes(self) -> list[str]:
        """Those that any of the agents has. The page offers those of the chosen one, and the server takes no other."""
        offered = {mode for choice in self.choices for mode in choice.offers.modes}
        return [mode for mode in PERMISSION_MODES if mode in offered]


def start_form(
    supervisor: RunSupervisor, projects: Sequence[Project], wanted: str, given: Fields | None
) -> StartForm | None:
    """None where there is no project to start one in. `wanted` is the number of a project. May read files."""
    if not projects:
        return None
    choices = [
        StartChoice(
            project=project,
            agent=AGENTS[project.options.agent].label,
            offers=offers_of(supervisor.runs, project),
            is_installed=supervisor.is_installed(project),
            has_git=bool(top_of_repository(str(project.directory))),
        )
        for project in projects
    ]
    there = [choice for choice in choices if choice.is_installed] or choices
    chosen = next((choice for choice in choices if str(choice.project.id) == wanted), there[0])
    if given is None:
        return StartForm(choices=choices, chosen=chosen, worktree=chosen.project.options.worktree)
    entered = {name: given.one(name) for name in ("prompt", "mode", "model")}
    return StartForm(choices=choices, chosen=chosen, **entered, worktree=bool(given.one("worktree")))


def check_choices(agent: str, offers: Offers, mode: str, model: str) -> None:
    """InvalidInput for a permission mode that the agent lacks, and for what is no name of a model."""
    problems = []
    if mode and mode not in offers.modes:
        known, unknown = (
            f"must be one of {', '.join(offers.modes)}.",
            f"cannot be chosen: {agent} has told of none yet.",
        )
        problems.append(Problem(path="mode", text=known if offers.modes else unknown))
    if model and not MODEL_NAME.fullmatch(model):
        problems.append(Problem(path="model", text="must be the name of a model, such as opus."))
    if problems:
        raise InvalidInput(problems)
