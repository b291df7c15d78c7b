"""What the rules have made of an action: allowed, denied, or left to a person, and how that is told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sayso.asks.model import Ask, Asker
from sayso.asks.quorum import Demand, Quorum
from sayso.chain import LogEvent, LogKind
from sayso.permissions.action import Action, ActionKind, asking_rules
from sayso.permissions.verdict import AllowedAction
from sayso.records import record, replace

if TYPE_CHECKING:
    from sayso.rules.book import Ruling
    from sayso.rules.rule import Rule

BY_RULE = "rule"
"""The surface of a verdict that no person gave."""

DENIED = "A rule of the user's denies this: {rule}. It was not done."
ASKED = "{rule} ({place}) asks."
NOT_ALLOWED = "No rule decides this: {why}."
FAULTY = "Your rules are not used, so everything is asked: {fault}"


@record
class RuledAction:
    """At most one of `allowed` and `denied` is there; neither: a person decides."""

    allowed: AllowedAction | None = None
    denied: str = ""
    """What the agent is told."""
    asked: str = ""
    """What the person is told about why they are asked; empty where there is nothing to say."""
    demanded: bool = False
    """Whether the rules want a person to be asked, also where nobody else does."""
    asking_rules: tuple[dict[str, Any], ...] = ()
    """The rules that want a person to be asked, as the ask and the log keep them."""
    quorum: Quorum | None = None
    """Who has to agree, where any one yes is not enough."""

    @property
    def accepts_earlier_yes(self) -> bool:
        """Whether a yes for the rest of the session may count: not where several have to agree, nor where the rules
        cannot be read."""
        return not self.quorum and (bool(self.asking_rules) or not self.demanded)

    @property
    def asked_by(self) -> frozenset[str]:
        """The rules that ask. A yes for the rest of the session was given knowing these, and holds for no other one."""
        return _texts(self.asking_rules)


LEFT_TO_PEOPLE = RuledAction()


def asked_because(ruling: Ruling) -> str:
    if ruling.faults:
        return FAULTY.format(fault=ruling.faults[0])
    if not ruling.rules:
        return NOT_ALLOWED.format(why=ruling.why) if ruling.is_in_doubt else ""
    said = [ASKED.format(rule=ruling.patterns[0], place=ruling.rules[0].place)]
    return " ".join([*said, ruling.because] if ruling.because else said)


def demand_of(rule: Rule) -> Demand:
    """What a rule demands beyond that somebody is asked."""
    approvers = rule.approvers
    return Demand(
        rule=rule.text,
        place=rule.place,
        people=approvers.names,
        need=approvers.need,
        not_asker=approvers.not_asker,
        timeout_ms=approvers.timeout_ms,
        escalate_after_ms=approvers.escalate_after_ms,
        escalate_to=approvers.escalate_to,
    )


def denied_because(ruling: Ruling) -> str:
    said = DENIED.format(rule=ruling.patterns[0])
    return f"{said} {ruling.because}" if ruling.because else said


def ruling_events(ruling: Ruling, action: Action, asker: Asker, ask_id: str, now: int) -> list[LogEvent]:
    """What the log says of a verdict by rules. A client is told of it at once; what Sayso runs is logged then."""
    denied = ruling.effect == "deny"
    event = LogEvent(
        kind=LogKind.DENIED if denied else LogKind.ALLOWED,
        at=now,
        ask=ask_id,
        digest=action.digest,
        project=asker.project,
        owner=asker.owner,
        tool=action.tool,
        title=action.title,
        client=asker.client,
        session=asker.session,
        agent=asker.agent,
        rule=", ".join(ruling.patterns),
        rules_file=" ".join(ruling.hashes),
        surface=BY_RULE,
        scope="" if denied else "once",
        why=ruling.because if denied else "",
        about={"rules": [rule_data(rule) for rule in ruling.rules]},
    )
    if denied or action.kind in (ActionKind.COMMAND, ActionKind.SEQUENCE):
        return [event]
    handed_over = replace(event, kind=LogKind.HANDED_OVER, rule="", rules_file="", surface="", scope="", about=None)
    return [event, handed_over]


def asked_by(ask: Ask) -> frozenset[str]:
    """The rules that wanted it asked, as `RuledAction.asked_by` has them."""
    return _texts(asking_rules(ask))


def _texts(rules: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    return frozenset(rule["rule"] for rule in rules)


def rule_data(rule: Rule) -> dict[str, Any]:
    """What is kept of a rule that had to do with an action."""
    return {
        "rule": rule.text,
        "effect": rule.effect.value,
        "level": rule.level.value,
        "file": str(rule.file),
        "line": rule.line,
    }
