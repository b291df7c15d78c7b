"""The rules of the person whom a process works for, as the permission desk asks them. Where no file of rules is there,
nothing of them is imported."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from sayso.asks.model import Asker
from sayso.config import Config
from sayso.permissions.action import Action
from sayso.rules.places import are_there_rules

if TYPE_CHECKING:
    from sayso.rules.book import Ruling
    from sayso.rules.judge import RuleJudge


class Rules:
    """What holds here and now."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self.keeps_texts = config.history
        """Whether the log may say what was decided about, in words."""

    def ruling(self, action: Action, asker: Asker) -> Ruling | None:
        """What the rules say about an action of this asker; None where there are none."""
        project = None if asker.agent else Path(asker.project)
        if not are_there_rules(self._config, project):
            return None
        return self._judge.ruling(action.plain, asker.project, asker.client, machine=asker.agent)

    def may_be_strict(self, asker: Asker) -> bool:
        """Whether there are rules that may want somebody to be asked, or deny, what needs nobody's say-so otherwise."""
        project = None if asker.agent else Path(asker.project)
        return are_there_rules(self._config, project) and self._judge.book(project).is_strict

    @cached_property
    def _judge(self) -> RuleJudge:
        from sayso.rules.judge import RuleJudge

        return RuleJudge(self._config)
