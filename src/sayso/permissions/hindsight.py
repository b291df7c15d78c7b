"""What a rule would have matched of what was decided before: what it would have allowed, first of all where a person
said no, and what was like it and would still have been asked."""

from __future__ import annotations

import os.path
from collections.abc import Callable, Iterable, Sequence

from sayso.chain import LogEvent, LogKind
from sayso.errors import InvalidInput
from sayso.permissions.action import Action
from sayso.permissions.like_rule import LikeRule, RuleReach
from sayso.records import record
from sayso.rules.pattern import pattern
from sayso.rules.proposing import covers
from sayso.rules.use import ToolUse
from sayso.rules.uses import Ground, use_of

DAYS = 30
LOOKED_BACK = DAYS * 24 * 3_600_000
MOST_LOOKED_AT = 3_000
"""Actions of the same kind; what is older is not looked at."""


@record
class PastAction:
    """An action that was decided, how often, and what was decided of it the last time."""

    title: str
    ask: str
    allowed: bool
    by_person: bool
    times: int


@record
class Hindsight:
    """`denied` and `allowed` are what the rule would have allowed, by what was decided then; `others` are near, and are
    asked with it too. Each the newest first."""

    denied: tuple[PastAction, ...] = ()
    allowed: tuple[PastAction, ...] = ()
    others: tuple[PastAction, ...] = ()

    @property
    def count(self) -> int:
        """How many decisions it would have made."""
        return sum(each.times for each in (*self.denied, *self.allowed))


def hindsight(
    rule: LikeRule,
    action: Action,
    project: str,
    decided: Iterable[tuple[LogEvent, Action]],
    is_asked: Callable[[LogEvent, Action], bool],
) -> Hindsight:
    """Of what was `decided`, oldest first; `is_asked` says whether the rules that there are leave it to a person.
    A rule for a session is looked at in its project."""
    try:
        patterns = [pattern(text).text for text in rule.patterns]
    except (ValueError, InvalidInput):
        return Hindsight()
    programs = _programs(_used(action, project))
    matched: dict[tuple[str, bool], PastAction] = {}
    near: dict[tuple[str, bool], PastAction] = {}
    asked: dict[tuple[str, str, str], bool] = {}
    for event, past in _alike(rule, action, project, decided):
        use = _used(past, event.project)
        if patterns and covers(patterns, use):
            add_past(matched, event, past)
        elif past.tool == action.tool and (not programs or programs & _programs(use)):
            key = (event.digest, event.project, event.client)
            if key not in asked:
                asked[key] = is_asked(event, past)
            if asked[key]:
                add_past(near, event, past)
    found = list(reversed(matched.values()))
    return Hindsight(
        denied=tuple(each for each in found if not each.allowed),
        allowed=tuple(each for each in found if each.allowed),
        others=tuple(reversed(near.values())),
    )


def _alike(
    rule: LikeRule, action: Action, project: str, decided: Iterable[tuple[LogEvent, Action]]
) -> Sequence[tuple[LogEvent, Action]]:
    """Those of the same kind, where the rule would hold."""
    top = os.path.realpath(project)
    return [
        (event, past)
        for event, past in decided
        if past.kind is action.kind
        and (rule.reach is RuleReach.EVERYWHERE or event.project == top or event.project.startswith(f"{top}/"))
    ][-MOST_LOOKED_AT:]


def add_past(found: dict[tuple[str, bool], PastAction], event: LogEvent, past: Action) -> None:
    """The same again is one of them, at the place of the last time."""
    allowed = event.kind is LogKind.ALLOWED
    before = found.pop((event.digest, allowed), None)
    found[event.digest, allowed] = PastAction(
        title=event.title or past.tool,
        ask=event.ask,
        allowed=allowed,
        by_person=bool(event.person),
        times=before.times + 1 if before else 1,
    )


def _used(action: Action, project: str) -> ToolUse:
    """On paper: the files of then may be gone."""
    return use_of(action.plain, Ground(leads_to=os.path.normpath, project=project))


def _programs(use: ToolUse) -> set[str]:
    return {words[0] for words in use.commands if words}
