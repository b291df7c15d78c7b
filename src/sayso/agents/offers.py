"""What can be chosen of an agent before it is there: as it told in an earlier conversation, else as it is known."""

from __future__ import annotations

from dataclasses import dataclass

from sayso.agents.acp import PROGRAMS
from sayso.agents.desk import RunDesk
from sayso.agents.model import PERMISSION_MODES, Project

_OF_CLAUDE = ("opus", "sonnet", "haiku")
ASKS_NOTHING = "bypassPermissions"


@dataclass(frozen=True, kw_only=True)
class Offers:
    """The permission modes and the models of an agent, and whether it takes pictures. A model need not be among these
    to be there."""

    modes: tuple[str, ...]
    models: tuple[str, ...]
    takes_pictures: bool


def offers_of(runs: RunDesk, project: Project) -> Offers:
    """Of the agent in a project, for the page. To ask for nothing at all is chosen for a project, from the command
    line of its machine."""
    told = runs.offers(project) or {}
    modes = known_modes(project.options.agent) or tuple(told.get("modes", ()))
    if project.options.permission_mode != ASKS_NOTHING:
        modes = tuple(mode for mode in modes if mode != ASKS_NOTHING)
    known = _OF_CLAUDE if project.options.agent == "claude" else ()
    takes_pictures = project.options.agent not in PROGRAMS or bool(told.get("takes_pictures"))
    return Offers(modes=modes, models=tuple(told.get("models", ())) or known, takes_pictures=takes_pictures)


def known_modes(agent: str) -> tuple[str, ...]:
    """The permission modes of an agent that are known without being told."""
    program = PROGRAMS.get(agent)
    return tuple(mode for mode in PERMISSION_MODES if mode in program.modes) if program else PERMISSION_MODES
