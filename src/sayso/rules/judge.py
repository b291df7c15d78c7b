"""What the rules of a person say about one action of one agent, as the files are now."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from sayso import config as settings
from sayso.config import SANDBOXES, Config
from sayso.records import replace
from sayso.rules.book import Circumstances, RuleBook, Ruling
from sayso.rules.files import RuleFiles
from sayso.rules.levels import RuleLevel, projects_around
from sayso.rules.pattern import pattern
from sayso.rules.rule import Effect, Rule, RulesFile
from sayso.rules.use import ToolUse
from sayso.rules.uses import Ground, use_by_name, use_of

ELSEWHERE = "its agent works on another machine"
FAILED = "Sayso failed on the rules; its log says why"
_MOST_STARRED = 1000
"""Files that the stars of one word may come to, to be looked at one by one."""
_MOST_LEVELS = 3
"""Folders with stars in one word. `/*/*/*/*/x` would be looked for on the whole disk."""


class RuleJudge:
    """Reads the files again when they have changed, and not for every action."""

    def __init__(self, config: Config) -> None:
        self._config, self._files = config, RuleFiles(config)

    def book(self, project: Path | None) -> RuleBook:
        """The rules that hold in a project; None for one that is on another machine."""
        return self._files.book(project)

    def ruling(
        self,
        action: Mapping[str, Any],
        project: str,
        client: str,
        *,
        machine: str = "",
        session: Mapping[str, Sequence[str]] | None = None,
    ) -> Ruling:
        """What holds for an action of this client; `machine` names the one that it is on, where that is not ours.
        `session` has the patterns that a person lets its session do, by the names of those rules."""
        try:
            book = self._files.book(None if machine else Path(project))
            if session:
                book = book.with_file(_of_session(session))
            top = project if machine else os.path.realpath(project)
            where = Circumstances(project=top, agent=client, sandbox=sandbox_of(action))
            return book.judge(self.use(action, project, machine), where)
        except Exception:
            # A fault of ours allows nothing, and does not speak for the person either.
            import logging

            logging.getLogger(__name__).exception("The rules could not be applied")
            return self._by_name(action, project, client, machine)

    def _by_name(self, action: Mapping[str, Any], project: str, client: str, machine: str) -> Ruling:
        """What is denied or asked for by the name of the tool, or by the words of its command: for that nothing else
        need be known. It allows nothing."""
        try:
            book = self._files.book(None if machine else Path(project))
            return book.judge(use_by_name(action, FAILED), Circumstances(project=project, agent=client))
        except Exception:
            return Ruling(effect=Effect.ASK, why=FAILED)

    def ruling_on_paper(self, action: Mapping[str, Any], project: str, client: str, *, machine: str = "") -> Ruling:
        """What holds for an action of before, if it were wanted again."""
        top = project if machine else os.path.realpath(project)
        where = Circumstances(project=top, agent=client, sandbox=sandbox_of(action))
        return self.book(None if machine else Path(project)).judge(self.use_on_paper(action, top, machine), where)

    def use(self, action: Mapping[str, Any], project: str, machine: str = "") -> ToolUse:
        """What rules look at in an action of an agent that works in this project."""
        return use_of(action, self._elsewhere(project) if machine else self._here(os.path.realpath(project)))

    def use_on_paper(self, action: Mapping[str, Any], project: str, machine: str = "") -> ToolUse:
        """The same of an action of before, whose files may be gone."""
        there = replace(self._here(project), leads_to=os.path.normpath, starred=lambda path: (), kind=lambda path: "")
        return use_of(action, self._elsewhere(project) if machine else there)

    def _here(self, project: str) -> Ground:
        folders = (self._config.user_dir, self._config.state_dir, settings.MACHINE_DIR)
        guarded = (*map(os.path.realpath, folders), *map(os.path.abspath, folders))
        return Ground(
            leads_to=_real_path,
            starred=_starred,
            kind=_kind,
            project=project,
            around=tuple(map(str, projects_around(Path(project)))),
            poses_as_repository=_poses_as_repository,
            guarded=guarded,
        )

    def _elsewhere(self, project: str) -> Ground:
        return Ground(leads_to=lambda _: None, project=project, doubt=ELSEWHERE)


def _of_session(given: Mapping[str, Sequence[str]]) -> RulesFile:
    """Rules that are in no file."""
    rules = [
        Rule(effect=Effect.ALLOW, patterns=tuple(map(pattern, patterns)), file=Path(name), level=RuleLevel.SESSION)
        for name, patterns in given.items()
    ]
    return RulesFile(file=Path(), level=RuleLevel.SESSION, rules=tuple(rules))


def sandbox_of(action: Mapping[str, Any]) -> str:
    """What all of an action runs in, by the word of its runners, which run nothing outside of it: the most lenient of
    its parts. Of what Sayso does not run itself, nothing is known."""
    data = action["data"]
    if action["kind"] not in ("command", "sequence"):
        return SANDBOXES[0]
    own = (data.get("sandbox") or {}).get("profile", SANDBOXES[0])
    steps = [sandbox_of(step) for step in data.get("steps") or ()]
    return min([*steps, own] if data.get("first") or not steps else steps, key=SANDBOXES.index)


def _real_path(path: str) -> str | None:
    """None for what can be the name of no file, such as half a letter, and where a link leads that nobody may read."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return None


def _kind(path: str) -> str:
    try:
        mode = os.lstat(path).st_mode
    except (OSError, ValueError):
        return ""
    kinds = (("link", stat.S_ISLNK), ("folder", stat.S_ISDIR), ("file", stat.S_ISREG))
    return next((name for name, is_one in kinds if is_one(mode)), "other")


def _starred(path: str) -> list[str] | None:
    """Also those that begin with a dot, and more than what stands in brackets would find: shells differ there."""
    import glob  # only now: few lines have stars

    if sum(map(glob.has_magic, path.split("/"))) > _MOST_LEVELS:
        return None
    try:
        found = list(islice(glob.iglob(re.sub(r"\[[^/]*", "*", path), include_hidden=True), _MOST_STARRED + 1))
    except (OSError, ValueError):
        return None
    return found if len(found) <= _MOST_STARRED else None


def _poses_as_repository(folder: str) -> bool:
    """A clone can bring such a folder, with settings in it that name programs."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        if all(os.path.lexists(os.path.join(folder, name)) for name in ("HEAD", "objects", "refs")):
            return True
        above = os.path.dirname(folder)
        if above == folder:
            return False
        folder = above
    return False
