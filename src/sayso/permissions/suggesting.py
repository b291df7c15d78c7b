"""Rules that would have saved a person decisions: what they allowed again and again, and never denied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from sayso.chain import LogEvent, LogKind
from sayso.permissions.action import Action
from sayso.records import record
from sayso.rules.book import RuleBook
from sayso.rules.proposing import like, would_allow
from sayso.rules.rule import Effect

OFTEN = 3


@record
class Suggestion:
    """A pattern, and how often what it means was allowed by a person."""

    pattern: str
    allowed: int


def suggestions(decided: Iterable[tuple[LogEvent, Action]], book: RuleBook) -> list[Suggestion]:
    """The most frequent first; nothing that a rule is about already."""
    allowed, denied = Counter[str](), dict[str, Action]()
    for event, action in decided:
        if event.kind is not LogKind.ALLOWED:
            denied[event.digest] = action
        elif event.person:
            allowed.update(like(action.plain))
    parts_denied = {pattern for action in denied.values() for pattern in like(action.plain)}
    known = {pattern.text for rule in book.rules if rule.effect is Effect.ALLOW for pattern in rule.patterns}
    return [
        Suggestion(pattern=pattern, allowed=count)
        for pattern, count in allowed.most_common()
        if count >= OFTEN
        and pattern not in known | parts_denied
        and not any(would_allow((pattern,), action.plain) for action in denied.values())
    ]
