"""Asks and their events as JSON data. The fields of a question are those that `sayso ask` reads."""

from __future__ import annotations

from typing import Any

from sayso.asks.model import Ask, Event, Option, Question
from sayso.asks.quorum import deciders, quorum_of, yeses_of
from sayso.dialects.outcomes import attachment_data, outcome_data
from sayso.permissions.action import action_of, scopes_of, takes_changes
from sayso.permissions.parts import parts_of
from sayso.permissions.verdict import verdict_of
from sayso.records import asdict
from sayso.text import iso_time


def ask_data(ask: Ask) -> dict[str, Any]:
    """Everything about an ask."""
    return {
        "id": ask.id,
        "call_id": ask.call_id,
        "status": ask.state.value,
        "attended": ask.wait is not None,
        "delivered": ask.received,
        "title": ask.title,
        "questions": [_question_data(question) for question in ask.questions],
        "asker": asdict(ask.asker),
        "tool": ask.tool,
        "timeout_ms": ask.timeout_ms,
        "created_at": iso_time(ask.created_at),
        "ended_at": iso_time(ask.ended_at),
        "delivered_at": iso_time(ask.delivered_at if ask.received else None),
        "outcome": outcome_data(ask) if ask.outcome else None,
        "digest": ask.digest or None,
        "action": _action_data(ask),
        "verdict": _verdict_data(ask),
        "approval": approval_data(ask),
    }


def event_data(event: Event) -> dict[str, Any]:
    """One event of an ask's history."""
    return {
        "at": iso_time(event.at),
        "kind": event.kind,
        "from": event.before,
        "to": event.after,
        "person": event.person,
        "surface": event.surface,
        "detail": event.detail,
    }


def _action_data(ask: Ask) -> dict[str, Any] | None:
    """What an agent wants to be allowed: all of it as data, and as the texts that people are shown."""
    action = action_of(ask)
    if action is None:
        return None
    shown = [{"name": part.label, "text": part.text, "language": part.language} for part in parts_of(action)]
    return {
        **action.plain,
        "title": action.title,
        "parts": shown,
        "scopes": [str(scope) for scope in scopes_of(ask)],
        "takes_changes": takes_changes(ask),
    }


def approval_data(ask: Ask) -> dict[str, Any] | None:
    """Who has to agree, who has, and until when; None where any one yes is enough."""
    quorum = quorum_of(ask)
    if quorum is None:
        return None
    yeses = yeses_of(ask)
    counted = [quorum.counted(demand, yeses, ask.created_at) for demand in quorum.demands]
    return {
        "demands": [
            {
                **asdict(demand),
                "agreed": [{"person": person, "for": place} for place, person in seats.items()],
                "missing": max(0, demand.need - len(seats)),
                "can_be_met": quorum.can_be_met(demand),
            }
            for demand, seats in zip(quorum.demands, counted, strict=True)
        ],
        "asker": quorum.whose or None,
        "deciders": list(deciders(ask)),
        "until": iso_time(ask.created_at + ask.timeout_ms if ask.timeout_ms else None),
        "changed_by": (ask.wanted or {}).get("changed_by"),
    }


def _verdict_data(ask: Ask) -> dict[str, Any] | None:
    verdict = verdict_of(ask)
    if verdict is None:
        return None
    return {
        "decision": verdict.decision.value,
        "digest": verdict.digest or None,
        "scope": verdict.scope.value if verdict.allowed else None,
        "by": verdict.person,
        "surface": verdict.surface,
        "at": iso_time(verdict.at),
        "because": verdict.because or None,
        "edited": verdict.action.plain if verdict.edited and verdict.action else None,
    }


def _option_data(option: Option) -> dict[str, Any]:
    return {**asdict(option), "picture": attachment_data(option.picture) if option.picture else None}


def _question_data(question: Question) -> dict[str, Any]:
    return {
        "id": question.id,
        "question": question.text,
        "type": question.kind.value,
        "title": question.title,
        "required": question.required,
        "placeholder": question.placeholder,
        "options": [_option_data(option) for option in question.options],
    }
