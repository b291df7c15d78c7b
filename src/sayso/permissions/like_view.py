"""A rule as a person sees it before they say yes: what is offered, the rule itself, why it cannot be, and what it would
have matched of what was decided before."""

from __future__ import annotations

from sayso.asks.model import Ask
from sayso.clock import now_ms
from sayso.permissions.action import action_of
from sayso.permissions.desk import PermissionDesk
from sayso.permissions.hindsight import LOOKED_BACK, Hindsight, hindsight
from sayso.permissions.like_rule import LikeOffer, LikeRule, RuleReach
from sayso.permissions.log import PermissionLog
from sayso.records import record


@record
class LikeView:
    offer: LikeOffer
    rule: LikeRule
    refused: str = ""
    """Why this rule cannot be made."""
    seen: Hindsight


def first_rule(offer: LikeOffer) -> LikeRule:
    """The narrowest rule that is of use, for as little as can be."""
    return LikeRule(text=next(iter(offer.texts), ""), reach=next(iter(offer.reaches), RuleReach.SESSION))


def look_at(
    permissions: PermissionDesk,
    log: PermissionLog,
    ask: Ask,
    person: str,
    rule: LikeRule | None = None,
    *,
    sees: str | None = None,
) -> LikeView:
    """What this rule comes to; without one, the first that is offered. `sees` names the one whose view of the log it
    is, where not all of it is theirs to see."""
    offer, action = permissions.likes.offer(ask, person), action_of(ask)
    wanted = rule or first_rule(offer)
    if action is None or offer.why_not:
        return LikeView(offer=offer, rule=wanted, seen=Hindsight())
    decided = log.decided_actions(now_ms() - LOOKED_BACK, sees)
    return LikeView(
        offer=offer,
        rule=wanted,
        refused=permissions.likes.refusal(ask, wanted, person) if wanted.patterns else "",
        seen=hindsight(wanted, action, ask.asker.project, decided, permissions.likes.is_asked),
    )
