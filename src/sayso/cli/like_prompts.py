"""Making a rule of a permission at plain prompts: which rule, where it holds, what it would have matched, and only then
a yes. Nothing is chosen for the person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from sayso.asks.model import Ask
from sayso.cli.action_card import action_card, confirmed_by_person
from sayso.cli.asks_in_words import asked_by
from sayso.cli.terminal import barred, bold, forget_typed_ahead, is_interactive, put, read_line
from sayso.cli.texts import mark, plural, tr, translated
from sayso.desks import Desks
from sayso.errors import InvalidInput, Problem
from sayso.permissions.hindsight import Hindsight, PastAction
from sayso.permissions.like_rule import NOWHERE, LikeOffer, LikeRule, RuleReach
from sayso.permissions.like_view import look_at
from sayso.text import one_line

MOST_SHOWN = 20
_REACHES = {
    RuleReach.SESSION: mark("this session, until it ends, and in no file"),
    RuleReach.PROJECT: mark("this project"),
    RuleReach.EVERYWHERE: mark("everywhere"),
}


def rule_of_script(text: str, reach: str | None) -> LikeRule:
    """The rule that a script names, whole."""
    if not text or not reach:
        raise click.UsageError(
            "Without a terminal --like takes the rule, and --for says where it holds: "
            "sayso allow ID --like RULE --for project --digest DIGEST."
        )
    return LikeRule(text=text, reach=RuleReach(reach))


def rule_of_person(desks: Desks, ask: Ask, text: str, reach: str | None) -> LikeRule | None:
    """The rule to which the person at this terminal says yes; None if they leave it."""
    if not is_interactive():
        raise click.UsageError(
            "Without a terminal name what you looked at as well: "
            "sayso allow ID --like RULE --for project --digest DIGEST."
        )
    offer = desks.permissions.likes.offer(ask, desks.config.person)
    if offer.why_not or not offer.reaches:
        raise InvalidInput([Problem(path="--like", text=NOWHERE.format(why=translated(offer.why_not)))])
    put(asked_by(ask))
    put("\n".join(action_card(ask)))
    wanted = text or _chosen_text(offer)
    where = RuleReach(reach) if reach else _chosen_reach(offer) if wanted else None
    if not wanted or not where:
        return None
    rule = LikeRule(text=wanted, reach=where)
    desks.permissions.likes.check(ask, rule, desks.config.person)
    prompt = tr("Allow this, and add the rule? y does both, anything else leaves it open: ")
    return rule if confirmed_by_person(rule_card(desks, ask, rule), prompt) else None


def rule_card(desks: Desks, ask: Ask, rule: LikeRule) -> list[str]:
    """All that a person says yes to: the action, the rule, and what it would have matched."""
    seen = look_at(desks.permissions, desks.log, ask, desks.config.person, rule).seen
    told = tr("The rule ({where}):", where=tr(_REACHES[rule.reach]))
    return [*action_card(ask), bold(told), *barred("\n".join(rule.patterns)), *_hindsight_lines(seen)]


def _chosen_text(offer: LikeOffer) -> str:
    """One of those that are proposed, or the person's own."""
    put(bold(tr("Which rule?")))
    for number, text in enumerate(offer.texts, start=1):
        put("\n".join(_numbered(number, text)))
    forget_typed_ahead()
    line = read_line(tr("A number, or a rule of your own such as Bash(npm test *); nothing leaves it open: "))
    by_number = {str(number): text for number, text in enumerate(offer.texts, start=1)}
    return by_number.get((line or "").strip(), (line or "").strip())


def _numbered(number: int, text: str) -> list[str]:
    """One choice, whose further lines have a bar in place of the number."""
    start = f"  {number}) "
    first, *others = barred(text, f"{'|':>{len(start) - 1}} ")
    return [start + first[len(start) :], *others]


def _chosen_reach(offer: LikeOffer) -> RuleReach | None:
    put(bold(tr("Where does it hold?")))
    for number, reach in enumerate(offer.reaches, start=1):
        put(f"  {number}) {tr(_REACHES[reach])}")
    forget_typed_ahead()
    line = read_line(tr("A number; nothing leaves it open: "))
    return {str(number): reach for number, reach in enumerate(offer.reaches, start=1)}.get((line or "").strip())


def _hindsight_lines(seen: Hindsight) -> Iterator[str]:
    if seen.denied:
        told = tr("Careful: in the last 30 days this rule would have allowed what was denied:")
        yield click.style(told, fg="red", bold=True)
        yield from _past(seen.denied)
    if seen.allowed:
        yield bold(tr("It would have matched, in the last 30 days:"))
        yield from _past(seen.allowed)
    elif not seen.denied:
        yield tr("In the last 30 days nothing was decided that this rule would have matched.")
    if seen.others:
        yield bold(tr("Near, and still asked:"))
        yield from _past(seen.others[:5])


def _past(actions: Sequence[PastAction]) -> Iterator[str]:
    for one in actions[:MOST_SHOWN]:
        by = tr("allowed") if one.allowed else tr("denied")
        rule = "" if one.by_person else f", {tr('by a rule')}"
        times = plural(one.times, "once", "{n} times")
        yield from barred(f"{one_line(one.title, 200)}  ({by}{rule}, {times})")
    if len(actions) > MOST_SHOWN:
        yield f"    {tr('and {n} more; see them: sayso log --since 30d', n=len(actions) - MOST_SHOWN)}"
