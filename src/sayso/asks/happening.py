"""What the log of permissions says of each change of one. The permission desk alone allows; here it is only told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

from sayso.action_data import differences
from sayso.asks.model import ITS_CALL, Ask, Settler, State
from sayso.asks.quorum import yeses_of
from sayso.chain import LogEvent, LogKind

TOO_LATE = "too late"
"""How the reason of a refusal begins that came when all was over."""

UNOPENED = "unopened"
"""What the log says of an allow that came by one press in a list."""

NOT_WRITTEN = "the result could not be handed over"
NOT_READ = "it was not read"
CALL_ENDED = "the call that wanted it has ended"
_SURELY_NOT_HANDED_OVER = frozenset({NOT_WRITTEN, NOT_READ, CALL_ENDED})
"""How a wait ends of whose result it is known that no client has it. What a dead process has written, nobody knows."""

_ENDS = {
    State.EXPIRED: LogKind.UNDECIDED,
    State.SUPERSEDED: LogKind.UNDECIDED,
    State.TIMED_OUT: LogKind.UNDECIDED,
    State.CANCELLED: LogKind.UNDECIDED,
    State.REJECTED: LogKind.DENIED,
    State.DECLINED: LogKind.DENIED,
}

_RUN_BY_SAYSO = ("command", "sequence")
"""The kinds of actions that nobody is handed: when such a one runs, that is logged itself."""


def of(ask: Ask, before: Ask | None, kind: str, by: Settler | None, detail: str) -> LogEvent | None:
    """The event of a change of a permission; None for what only waiting and fetching have to do with."""
    told = ask if ask.wanted or before is None else before
    found = _kind(ask, before, action(told) or {}, kind, detail)
    if found is None:
        return None
    outcome, asker = ask.outcome, ask.asker
    by = None if by and by.surface == ITS_CALL else by  # that nobody decided is nobody's doing
    return LogEvent(
        kind=found,
        at=ask.changed_at,
        ask=ask.id,
        digest=(outcome.digest if outcome else "") or ask.digest,
        project=asker.project,
        owner=asker.owner,
        tool=(action(told) or {}).get("tool", ""),
        title=(told.outcome.changed_title if told.outcome else "") or (told.wanted or {}).get("title", ""),
        client=asker.client,
        session=asker.session,
        agent=asker.agent,
        person=by.person if by else "",
        surface=by.surface if by else "",
        scope=outcome.scope if outcome and found is LogKind.ALLOWED else "",
        why=_why(ask, found, kind, detail),
        about=_about(ask, found, by),
    )


def must_be_logged(ask: Ask) -> Iterator[tuple[LogKind, int]]:
    """What the log has to say of a permission as it stands now, and since when."""
    yield LogKind.ASKED, ask.created_at
    yield from ((LogKind.AGREED, yes.at) for yes in yeses_of(ask))
    outcome, about = ask.outcome, action(ask)
    ended = LogKind(outcome.verdict) if outcome and outcome.verdict else _ENDS.get(ask.state)
    if ended and ask.ended_at is not None:
        yield ended, ask.ended_at
    if ask.delivered_at is not None and _is_allowed(ask) and about and about["kind"] not in _RUN_BY_SAYSO:
        yield LogKind.HANDED_OVER, ask.delivered_at


def action(ask: Ask) -> Mapping[str, Any] | None:
    """The action that the change is about: the wanted one, unless a person has allowed another instead."""
    changed = ask.outcome.changed if ask.outcome else None
    return changed or (ask.wanted or {}).get("action")


def _kind(ask: Ask, before: Ask | None, about: Mapping[str, Any], kind: str, detail: str) -> LogKind | None:
    match kind:
        case "opened":
            return LogKind.ASKED
        case "refused":
            return LogKind.TOO_LATE if detail.startswith(TOO_LATE) else LogKind.REFUSED
        case (
            LogKind.ALLOWED
            | LogKind.DENIED
            | LogKind.ELSEWHERE
            | LogKind.AGREED
            | LogKind.TAKEN_BACK
            | LogKind.ESCALATED
            | LogKind.NOTED
        ):
            return LogKind(kind)
        case "voided":
            return _came_to_nothing(about)
    if before is not None and before.state is not ask.state:
        return _ENDS.get(ask.state)
    allowed = _is_allowed(ask)
    if allowed and kind == "delivered" and about.get("kind") not in _RUN_BY_SAYSO:
        return LogKind.HANDED_OVER
    return _came_to_nothing(about) if allowed and kind == "unattended" else None


def _is_allowed(ask: Ask) -> bool:
    return ask.outcome is not None and ask.outcome.verdict == LogKind.ALLOWED and not ask.outcome.void


def _came_to_nothing(about: Mapping[str, Any]) -> LogKind:
    return LogKind.NOT_RUN if about.get("kind") in _RUN_BY_SAYSO else LogKind.NOT_HANDED_OVER


def is_new(event: LogEvent, logged: Set[LogKind]) -> bool:
    """Whether the log is still to say so of a permission of which it says all this already. What was about to be run
    or handed over counts as done, unless it surely was not."""
    match event.kind:
        case LogKind.HANDED_OVER:
            return LogKind.HANDED_OVER not in logged
        case LogKind.NOT_HANDED_OVER:
            return LogKind.HANDED_OVER not in logged or event.why in _SURELY_NOT_HANDED_OVER
        case LogKind.NOT_RUN:
            return LogKind.RUN not in logged
    return True


def _about(ask: Ask, found: LogKind, by: Settler | None) -> Mapping[str, Any] | None:
    """Which rules wanted it asked, and how it was allowed, as far as that is worth a word."""
    if found is LogKind.ASKED:
        rules = (ask.wanted or {}).get("asking_rules")
        return {"rules": rules} if rules else None
    if found is not LogKind.ALLOWED:
        return None
    return {**(_edited(ask) or {}), **({UNOPENED: True} if by and by.unopened else {})} or None


def _edited(ask: Ask) -> Mapping[str, Any] | None:
    """Which parts a person has changed before they allowed it, in words."""
    if ask.outcome is None or not ask.outcome.changed or not ask.wanted:
        return None
    wanted = ask.wanted.get("original") or ask.wanted["action"]
    return {"edited": list(differences(wanted, ask.outcome.changed))}


def _why(ask: Ask, found: LogKind, kind: str, detail: str) -> str:
    if ask.outcome and found in (LogKind.DENIED, LogKind.ELSEWHERE):
        return ask.outcome.reason
    if found is LogKind.UNDECIDED:
        return detail or kind.replace("_", " ")
    return "" if found is LogKind.ALLOWED else detail
