"""Asks and their events as JSON data. The fields of a question are those that `sayso ask` reads."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sayso.asks.model import Ask, Event, Question
from sayso.dialects.outcomes import outcome_data
from sayso.text import iso_time


def ask_data(ask: Ask) -> dict[str, Any]:
    """Everything about an ask."""
    return {
        "id": ask.id,
        "call_id": ask.call_id,
        "status": ask.state.value,
        "attended": ask.wait is not None,
        "delivered": ask.delivered,
        "title": ask.title,
        "questions": [_question_data(question) for question in ask.questions],
        "asker": asdict(ask.asker),
        "tool": ask.tool,
        "timeout_ms": ask.timeout_ms,
        "created_at": iso_time(ask.created_at),
        "ended_at": iso_time(ask.ended_at),
        "delivered_at": iso_time(ask.delivered_at),
        "outcome": outcome_data(ask) if ask.outcome else None,
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


def _question_data(question: Question) -> dict[str, Any]:
    return {
        "id": question.id,
        "question": question.text,
        "type": question.kind.value,
        "title": question.title,
        "required": question.required,
        "placeholder": question.placeholder,
        "options": [asdict(option) for option in question.options],
    }
