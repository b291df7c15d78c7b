"""What became of a permission: allowed or denied by whom, or nobody decided, which is no as well."""

from __future__ import annotations

from enum import StrEnum

from sayso.asks.model import ALLOWING, Ask, State
from sayso.asks.quorum import is_agreed
from sayso.permissions.action import Action, AllowScope, allowed_action
from sayso.records import record


class Decision(StrEnum):
    ALLOWED = "allowed"
    DENIED = "denied"
    UNDECIDED = "undecided"
    """Nobody decided: not a person's no."""
    ELSEWHERE = "decided_elsewhere"
    """Its client has decided by a prompt of its own."""
    NOT_DONE = "not_done"
    """Allowed as it was shown, but changed or cancelled by then, so it was not done."""


ALLOWED_AS_EDITED = "allowed as edited"


@record
class AllowedAction:
    """An action that may be executed, and the ask by which a person has allowed it, itself or what it belongs to."""

    action: Action
    ask: str
    part_of: str = ""
    """The digest of the sequence that was allowed, where this is a step of it."""


@record
class Verdict:
    """`digest` is of what was allowed. `at` is in milliseconds since 1970."""

    decision: Decision
    digest: str = ""
    scope: AllowScope = AllowScope.ONCE
    person: str = ""
    surface: str = ""
    at: int | None = None
    because: str = ""
    action: Action | None = None
    edited: bool = False
    """Whether a person has changed what was wanted, and allowed that."""

    @property
    def allowed(self) -> bool:
        return self.decision is Decision.ALLOWED

    @property
    def word(self) -> str:
        """What was decided, in a word or a few, which a surface translates."""
        return ALLOWED_AS_EDITED if self.allowed and self.edited else self.decision.value.replace("_", " ")

    def allows(self, action: Action) -> bool:
        """Whether it is this very action that was allowed."""
        return self.allowed and bool(self.digest) and self.digest == action.digest


def verdict_of(ask: Ask) -> Verdict | None:
    """None for an ask that is for no permission, or is still open."""
    if not ask.is_permission or ask.state.answerable:
        return None
    outcome = ask.outcome
    if outcome is None:
        return Verdict(decision=Decision.UNDECIDED, at=ask.ended_at)
    return Verdict(
        decision=_decision(ask),
        digest=outcome.digest,
        scope=AllowScope(outcome.scope or AllowScope.ONCE),
        person=outcome.person,
        surface=outcome.surface,
        at=ask.ended_at,
        because=outcome.void or outcome.reason,
        action=allowed_action(ask, outcome),
        edited=outcome.changed is not None,
    )


def allowed_by(ask: Ask) -> AllowedAction | None:
    """What may be done by this ask; None where nothing may."""
    found = verdict_of(ask)
    return (
        AllowedAction(action=found.action, ask=ask.id)
        if found and found.action and found.allows(found.action)
        else None
    )


def _decision(ask: Ask) -> Decision:
    assert ask.outcome is not None
    if ask.outcome.void:
        return Decision.NOT_DONE
    if ask.outcome.verdict == Decision.ALLOWED and not is_agreed(ask, ask.outcome.digest):
        return Decision.UNDECIDED  # whoever wrote that down did not know how many have to agree
    if ask.outcome.verdict:
        return Decision(ask.outcome.verdict)
    if ask.state is State.CANCELLED:
        return Decision.UNDECIDED  # withdrawn by the call that wanted it
    # From before permissions were decided at a desk of their own; without a digest, nothing can be done with it.
    chosen = [answer.chosen for answer in ask.outcome.answers if answer.text is None]
    plain = ask.state is State.ANSWERED and len(chosen) == 1 and len(chosen[0]) == 1
    return Decision.ALLOWED if plain and chosen[0][0] in ALLOWING else Decision.DENIED
