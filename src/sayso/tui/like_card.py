"""A rule that is made of a permission, as the terminal shows it above the action: its patterns, where it holds, why it
cannot be, and what it would have matched of the last 30 days."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from sayso.permissions.hindsight import PastAction
from sayso.permissions.like_rule import LikeRule, RuleReach
from sayso.permissions.like_view import LikeView
from sayso.text import exact, one_line
from sayso.tui.markdown import Block
from sayso.tui.shared import Shared

_MOST_MATCHED, _MOST_NEAR = 20, 5


def like_blocks(shared: Shared, view: LikeView) -> list[Block]:
    """All that a person says yes to besides the action itself."""
    return [*_rule(shared, view), *_matched(shared, view)]


def another_rule(view: LikeView) -> LikeRule:
    """The next of those that are proposed."""
    texts = view.offer.texts
    place = texts.index(view.rule.text) + 1 if view.rule.text in texts else 0
    return LikeRule(text=texts[place % len(texts)] if texts else view.rule.text, reach=view.rule.reach)


def another_reach(view: LikeView) -> LikeRule:
    """The same rule, for more or for less."""
    reaches = view.offer.reaches
    return LikeRule(text=view.rule.text, reach=reaches[(reaches.index(view.rule.reach) + 1) % len(reaches)])


def _rule(shared: Shared, view: LikeView) -> Iterator[Block]:
    texts = shared.texts
    where = {
        RuleReach.SESSION: texts.like_session,
        RuleReach.PROJECT: texts.like_project,
        RuleReach.EVERYWHERE: texts.like_everywhere,
    }[view.rule.reach]
    yield Block(content=Content.styled(texts.like_title, "bold $mark"))
    yield from _lines([exact(line) for line in view.rule.patterns] or [texts.empty_part])
    yield Block(content=Content.styled(where, "bold"), tight=True)
    if view.refused:
        yield Block(content=Content.styled(texts.like_refused.format(why=one_line(view.refused, 600)), "bold $error"))


def _matched(shared: Shared, view: LikeView) -> Iterator[Block]:
    texts, seen = shared.texts, view.seen
    if seen.denied:
        yield Block(content=Content.styled(texts.like_careful, "bold $error"))
        yield from _past(shared, seen.denied, _MOST_MATCHED)
    if seen.allowed:
        yield Block(content=Content.styled(texts.like_matched, "bold"))
        yield from _past(shared, seen.allowed, _MOST_MATCHED)
    elif not seen.denied:
        yield Block(content=Content(texts.like_nothing))
    if seen.others:
        yield Block(content=Content.styled(texts.like_near, "bold"))
        yield from _past(shared, seen.others, _MOST_NEAR)


def _past(shared: Shared, actions: Sequence[PastAction], most: int) -> Iterator[Block]:
    texts = shared.texts
    words = {True: texts.permission_allowed, False: texts.permission_denied}
    yield from _lines([f"{words[one.allowed]} ×{one.times}: {one_line(one.title, 200)}" for one in actions[:most]])
    if len(actions) > most:
        yield Block(content=Content(texts.like_more.format(n=len(actions) - most)), first="  ", rest="  ", tight=True)


def _lines(lines: Sequence[str]) -> Iterator[Block]:
    text = "\n".join(lines)
    yield Block(content=Content(text), first="  │ ", rest="  │ ", solid=True, tight=True)
