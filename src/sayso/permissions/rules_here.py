"""The rules of the person whom a process works for, as the permission desk asks them. Where no file of rules is there,
nothing of them is imported."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from sayso.asks.model import Asker
from sayso.config import Config
from sayso.permissions.action import Action
from sayso.rules.levels import are_there_rules

if TYPE_CHECKING:
    from sayso.permissions.session_rules import SessionRule
    from sayso.rules.book import Ruling
    from sayso.rules.judge import RuleJudge


NAME_OF_SESSION_RULE = "session rule"
"""Stands, with its id, where others name their file."""


class Rules:
    """What holds here and now."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.keeps_texts = config.history
        """Whether the log may say what was decided about, in words."""
        self.is_one_machine = not config.store
        """Whether nobody can decide but who is on this machine, or has an account here."""

    def ruling(self, action: Action, asker: Asker, given: Sequence[SessionRule] = ()) -> Ruling | None:
        """What the rules say about an action of this asker, those that its session was `given` among them; None where
        there are none."""
        project = None if asker.agent else Path(asker.project)
        if not given and not are_there_rules(self.config, project):
            return None
        session = {f"{NAME_OF_SESSION_RULE} {rule.id[:8]}": rule.patterns for rule in given}
        return self.judge.ruling(action.plain, asker.project, asker.client, machine=asker.agent, session=session)

    def may_be_strict(self, asker: Asker) -> bool:
        """Whether there are rules that may want somebody to be asked, or deny, what needs nobody's say-so otherwise."""
        project = None if asker.agent else Path(asker.project)
        return are_there_rules(self.config, project) and self.judge.book(project).is_strict

    @cached_property
    def judge(self) -> RuleJudge:
        from sayso.rules.judge import RuleJudge

        return RuleJudge(self.config)
