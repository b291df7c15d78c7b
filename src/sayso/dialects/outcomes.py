"""How an outcome is told in full: as data for `structuredContent`, and as plain words. Shared by all dialects."""

from __future__ import annotations

from typing import Any

from sayso.asks.model import ATTACHED, CLIENT_FORM, Answer, Ask, Attachment, Question, State
from sayso.text import iso_time, lasting, utc_minute

STAYS_OPEN = "The question stays open; call again with the same questions to receive a late answer."

THEIR_OWN = "The person you work for answered this themselves: `answers` has their own choices and words."
_IN_A_FORM = "The person answered this in your client's own form: `answers` has the choices and words from there."

STILL_WAITING = (
    "No answer yet: the user has not answered, and the question stays open. Do not assume an answer. "
    'Call get_answers with ask_id "{ask_id}" (and wait true to hold on) to receive it.'
)


def outcome_data(ask: Ask) -> dict[str, Any]:
    """Everything about how an ask stands or ended."""
    data: dict[str, Any] = {
        "outcome": str(ask.state),
        "ask_id": ask.id,
        "call_id": ask.call_id,
        "asked_at": iso_time(ask.created_at),
        "answers": [_answer_data(question, ask.answer(question.id)) for question in ask.questions]
        if ask.state is State.ANSWERED
        else [],
    }
    if ask.outcome:
        data |= {
            "reason": ask.outcome.reason or None,
            "answered_by": ask.outcome.person,
            "surface": ask.outcome.surface,
            "answered_at": iso_time(ask.ended_at),
            "late": ask.outcome.late,
        }
    return data


def given_earlier(ask: Ask, now: int, *, to_another: bool = False) -> str:
    """When and to what an answer was given that a call finds waiting for it; `to_another` session, if it was."""
    given, asked = ask.ended_at or now, ask.created_at
    when = f"This was settled {lasting(now - given)} ago (at {utc_minute(given)}), before this call"
    if to_another:
        return (
            f"{when}, for another session, not you, which has ended: this is what it asked at {utc_minute(asked)}. If "
            "you do not go on with its work, or if things have changed since, ask again in other words."
        )
    return (
        f"{when}. It is about the same question as it was asked at {utc_minute(asked)}. If things have changed since, "
        "ask again in other words."
    )


def is_wiped(ask: Ask) -> bool:
    """Whether its texts were forgotten when it was delivered: what is left must not pass for an empty answer."""
    return not ask.questions


def _answer_data(question: Question, answer: Answer | None) -> dict[str, Any]:
    answer = answer or Answer(question=question.id)
    data: dict[str, Any] = {
        "question_id": question.id,
        "question": question.text,
        "selected": selected_labels(question, answer),
        "selected_ids": [option.id for option in question.choices if option.id in answer.chosen],
        "text": answer.text,
        "skipped": answer.skipped,
    }
    if answer.attachments:
        data["attachments"] = [attachment_data(each) for each in answer.attachments]
    return {**data, "note": answer.note} if answer.note else data


def attachment_data(attachment: Attachment) -> dict[str, Any]:
    return {
        "id": attachment.id,
        "name": attachment.name,
        "media_type": attachment.media,
        "size": attachment.size,
        "width": attachment.width or None,
        "height": attachment.height or None,
    }


def selected_labels(question: Question, answer: Answer) -> list[str]:
    """The labels of the chosen options, in the order they were offered."""
    return [option.label for option in question.choices if option.id in answer.chosen]


def answers_as_words(ask: Ask) -> str:
    """Every question with what was said to it."""
    lines: list[str] = []
    for number, question in enumerate(ask.questions, start=1):
        lines.append(f"{number}. {question.text}")
        lines += [f"   {line}" for line in _answer_words(question, ask.answer(question.id))]
    return "\n".join(lines)


def _answer_words(question: Question, answer: Answer | None) -> list[str]:
    if answer is None:
        return ["→ (skipped)"]
    words = [f"→ {label}" for label in _distinct_labels(question, answer)] or ["→ (skipped)"] * answer.skipped
    if answer.text is not None:
        words.append(f"→ {answer.text}" if not question.choices else f"→ Other: {answer.text}")
    if answer.note:
        words.append(labelled("  Note: ", answer.note))
    return words


def labelled(label: str, note: str) -> str:
    """A note with what it is. Where it says only where attached files lie, nobody noted that."""
    return note if note.startswith(ATTACHED) else f"{label}{note}"


def _distinct_labels(question: Question, answer: Answer) -> list[str]:
    """The chosen labels, each with its number where another option is called the same."""
    labels = [option.label for option in question.choices]
    return [
        f"{option.label} (option {number})" if labels.count(option.label) > 1 else option.label
        for number, option in enumerate(question.choices, start=1)
        if option.id in answer.chosen
    ]


def refusal_words(ask: Ask) -> str:
    """A person's no, or an end that no answer can change."""
    reason = ask.outcome.reason if ask.outcome else ""
    told = f" Reason: {_sentence(reason)}" if reason else " No reason was given."
    match ask.state:
        case State.REJECTED:
            return f"The user rejected these questions.{told} Do not assume an answer."
        case State.DECLINED:
            return "The user declined to answer. Do not assume an answer."
        case State.CANCELLED:
            return "The user cancelled the questions. Do not assume an answer."
        case State.SUPERSEDED:
            return "A newer question took the place of this one."
        case State.EXPIRED:
            return "Nobody answered for so long that the question expired. Ask again if it still matters."
    return f"The questions are {ask.state}."


def told_in_words(ask: Ask) -> str:
    """How an ask stands, in a sentence or two, without the answers themselves."""
    if ask.state is State.ANSWERED:
        return whose_words(ask.outcome.surface if ask.outcome else "")
    return still_open_words(ask) if ask.state is State.TIMED_OUT else refusal_words(ask)


def whose_words(surface: str) -> str:
    """Whose answer it is, as far as the surface it came from can tell."""
    return _IN_A_FORM if surface == CLIENT_FORM else THEIR_OWN


def still_open_words(ask: Ask) -> str:
    """Nobody answered in the time that the call gave them."""
    return (
        f"Nobody has answered within {(ask.timeout_ms or 0) / 1000:g} seconds. The question is still open: "
        f'do not guess. Call get_answers with ask_id "{ask.id}" (and wait true to hold on) to receive the answer.'
    )


def _sentence(text: str) -> str:
    return text if text.rstrip().endswith((".", "!", "?", ":", "…")) else f"{text}."


def timeout_words(ask: Ask) -> str:
    seconds = (ask.timeout_ms or 0) / 1000
    return f"Timeout: nobody answered within {seconds:g} seconds. Do not assume an answer. {STAYS_OPEN}"
