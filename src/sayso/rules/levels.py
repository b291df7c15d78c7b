"""Where rules may be, the first level first. Light: most people have none, and then nothing else is imported."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path

from sayso.config import Config

_ROOT = 0


class RuleLevel(StrEnum):
    """Whose file a rule is in."""

    MACHINE = "machine"
    PERSON = "person"
    PROJECT = "project"
    SESSION = "session"
    """In no file: a person has given it to one session of an agent."""


def rules_places(config: Config, project: Path | None) -> dict[RuleLevel, Path]:
    """The files; without that of a project that is on another machine."""
    places = {RuleLevel.MACHINE: config.machine_rules, RuleLevel.PERSON: config.user_rules}
    return places if project is None else {**places, RuleLevel.PROJECT: config.rules_of(project)}


def projects_around(project: Path) -> tuple[Path, ...]:
    """The folders that this project lies in and that are projects themselves, the nearest first: the repository that
    somebody has cloned another one into, or made one in, and a folder with rules. What they deny holds in it as well.
    Where the mark of one is somebody else's, as it may be in a folder that all can write, it is none."""
    above, found = os.path.dirname(os.path.realpath(project)), list[Path]()
    while True:
        marks = (os.path.join(above, ".git"), str(Config.rules_of(Path(above))))
        if _is_ours(marks[1]) or (_is_ours(marks[0]) and _is_top(above)):
            found.append(Path(above))
        if above == (above := os.path.dirname(above)):
            return tuple(found)


def _is_top(folder: str) -> bool:
    from sayso.branches import top_of_repository  # few projects lie in another one

    return top_of_repository(folder) == folder


def _is_ours(mark: str) -> bool:
    try:
        return os.lstat(mark).st_uid in (_ROOT, os.geteuid())
    except OSError:
        return False


def are_there_rules(config: Config, project: Path | None) -> bool:
    """Whether any of the files is there, whatever is in it."""
    around = map(config.rules_of, projects_around(project) if project else ())
    return any(map(os.path.lexists, (*rules_places(config, project).values(), *around)))
