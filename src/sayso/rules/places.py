"""Where rules may be, the first level first. Light: most people have none, and then nothing else is imported."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path

from sayso.config import Config


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


def are_there_rules(config: Config, project: Path | None) -> bool:
    """Whether any of the files is there, whatever is in it."""
    return any(map(os.path.lexists, rules_places(config, project).values()))
