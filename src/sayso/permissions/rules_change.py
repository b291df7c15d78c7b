"""What another text of a person's rules would have changed of what was decided before: first of all what was denied and
would have been allowed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from sayso.chain import LogEvent, LogKind
from sayso.permissions.action import Action
from sayso.permissions.hindsight import MOST_LOOKED_AT, PastAction, add_past
from sayso.records import replace
from sayso.rules.book import Circumstances, RuleBook, Ruling
from sayso.rules.judge import RuleJudge, sandbox_of
from sayso.rules.levels import RuleLevel
from sayso.rules.rule import Effect, RulesFile

_Found = dict[tuple[str, bool], PastAction]


@dataclass(frozen=True, kw_only=True)
class RulesChange:
    """What the rules would say otherwise, by what they would say; each the newest first."""

    denied_allowed: tuple[PastAction, ...] = ()
    """Allowed from now on: a person or a rule denied it then, or a rule denies it now."""
    allowed: tuple[PastAction, ...] = ()
    denied: tuple[PastAction, ...] = ()
    asked: tuple[PastAction, ...] = ()
    """A rule allows it now."""
    no_longer_denied: tuple[PastAction, ...] = ()
    """A rule denies it now, and a person would be asked."""
    others_agree: tuple[PastAction, ...] = ()
    """It is asked, as it is now, but others have to agree."""
    looked_at: int = 0
    """How many decisions there were to look at."""

    @property
    def is_nothing(self) -> bool:
        return self == RulesChange(looked_at=self.looked_at)


@dataclass(kw_only=True)
class _Books:
    """The rules of each project, with one or the other text of the person's."""

    judge: RuleJudge
    own: RulesFile
    known: dict[str, RuleBook] = field(default_factory=dict)

    def of(self, project: str, machine: str) -> RuleBook:
        key = "" if machine else project
        if key not in self.known:
            files = self.judge.book(None if machine else Path(project)).files
            others = [file for file in files if file.level is not RuleLevel.PERSON]
            self.known[key] = RuleBook(sorted([*others, self.own], key=lambda file: list(RuleLevel).index(file.level)))
        return self.known[key]


def rules_change(
    judge: RuleJudge, before: RulesFile, after: RulesFile, decided: Iterable[tuple[LogEvent, Action]]
) -> RulesChange:
    """Of what was `decided`, oldest first. What the log says was decided then may have been by other rules: compared is
    what these two would say about it."""
    old, new = _Books(judge=judge, own=before), _Books(judge=judge, own=after)
    found: dict[str, _Found] = {}
    looked_at = list(decided)[-MOST_LOOKED_AT:]
    names: dict[tuple[str, ...], str] = {}
    for event, action in looked_at:
        key = (event.digest, event.project, event.client, event.agent, event.kind.value)
        if key not in names:
            was, becomes = _ruling(judge, old, event, action), _ruling(judge, new, event, action)
            names[key] = _difference(was, becomes, event.kind)
        if names[key]:
            add_past(found.setdefault(names[key], {}), event, action)
    newest_first = {name: tuple(reversed(past.values())) for name, past in found.items()}
    return replace(RulesChange(looked_at=len(looked_at)), **newest_first)


def _ruling(judge: RuleJudge, books: _Books, event: LogEvent, action: Action) -> Ruling:
    project = event.project if event.agent else os.path.realpath(event.project)
    where = Circumstances(project=project, agent=event.client, sandbox=sandbox_of(action.plain))
    return books.of(event.project, event.agent).judge(judge.use_on_paper(action.plain, project, event.agent), where)


def _difference(was: Ruling, becomes: Ruling, decided: LogKind) -> str:
    """The name of what it counts as; empty where the two say the same."""
    if was.effect is becomes.effect:
        same = was.effect is not Effect.ASK or _who_agrees(was) == _who_agrees(becomes)
        return "" if same else "others_agree"
    match becomes.effect:
        case Effect.ALLOW:
            return "denied_allowed" if decided is LogKind.DENIED or was.is_denied else "allowed"
        case Effect.DENY:
            return "denied"
    return "no_longer_denied" if was.is_denied else "asked"


def _who_agrees(ruling: Ruling) -> set[object]:
    return {rule.approvers for rule in ruling.demanding}
