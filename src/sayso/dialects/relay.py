"""The bodies that PromptManager's relay carries: a question on its way to the person, an answer on its way back.

A relayed question is an ask like any other. Whoever polls for it by its id is also told of ends that the plain poll
has no word for.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, cast

from sayso.asks.model import Answer, Ask, Asker, Kind, NewAsk, Outcome, Question, State
from sayso.config import Config
from sayso.dialects import fields, promptmanager
from sayso.dialects.outcomes import labelled, refusal_words, selected_labels
from sayso.errors import InvalidInput, Problems
from sayso.records import replace

TOOL = "relay-question"
LIFE = 600_000
"""Milliseconds that a question and an answer live."""
_GRACE = 60_000

WAITING = {"status": "waiting"}
_BETWEEN = ", "


def life(ask: Ask) -> int:
    """How long a question lives: longer than its agent waits, so that nobody answers into the void."""
    return max(LIFE, (ask.timeout_ms or 0) + _GRACE)


def is_over(ask: Ask, now: int) -> bool:
    """Whether a question, or the answer to it, has lived its time."""
    begun, lasts = (ask.ended_at, LIFE) if ask.ended_at and not ask.state.answerable else (ask.created_at, life(ask))
    return now - begun > lasts


# The question


def question_data(question: Question) -> dict[str, Any]:
    """A question as the relay takes it and the page shows it."""
    options = [
        {"label": option.label, **({"description": option.description} if option.description else {})}
        for option in question.options
    ]
    return {"question": question.text, "options": options, "multiSelect": question.kind is Kind.MULTI_SELECT}


def posted_data(new: NewAsk) -> dict[str, Any]:
    """A question with the pictures of its options, which a relay of ours shows."""
    question, data = new.questions[0], question_data(new.questions[0])
    files = {file.kept.id: file for file in new.files}
    for option, told in zip(question.options, data["options"], strict=True):
        if option.picture and (file := files.get(option.picture.id)):
            told["image"] = f"data:{file.kept.media};base64,{base64.b64encode(file.data).decode()}"
    return data


def read_question(body: Mapping[str, Any], asker: Asker, config: Config, timeout_ms: int) -> NewAsk:
    """The ask that a relayed question becomes; an InvalidInput names every field that does not fit."""
    new = promptmanager.read(body, asker, config).new
    return replace(new, tool=TOOL, timeout_ms=timeout_ms)


# The answer


def answer_data(question: Question, answer: Answer) -> dict[str, Any]:
    """An answer in two fields: all of it in words, and which options were chosen by their places."""
    words = [*selected_labels(question, answer), *([answer.text] if answer.text is not None else [])]
    note = [labelled("Note: ", answer.note)] if answer.note else []
    chosen = [place for place, option in enumerate(question.options) if option.id in answer.chosen]
    return {"answer": "\n".join([_BETWEEN.join(words), *note]), "selectedOptions": chosen}


def end_data(ask: Ask) -> dict[str, Any]:
    """How a question ended, for whoever polls for it by its id."""
    told: dict[str, Any] = {"status": str(ask.state), "ask": ask.id, "askedAt": ask.created_at, "endedAt": ask.ended_at}
    if ask.outcome:
        told |= {"by": ask.outcome.person, "late": ask.outcome.late}
    if ask.state is State.ANSWERED:
        question = ask.questions[0]
        answer = ask.answer(question.id) or Answer(question=question.id)
        return {**told, **answer_data(question, answer), "text": answer.text, "note": answer.note}
    return {**told, "reason": ask.outcome.reason if ask.outcome else ""}


def plain_end_data(ask: Ask) -> dict[str, Any]:
    """How a question ended, for a plain poll. It knows answers only, so that a person's no is told as words."""
    if ask.state is State.ANSWERED:
        question = ask.questions[0]
        return {"status": "answered", **answer_data(question, ask.answer(question.id) or Answer(question=question.id))}
    return {"status": "answered", "answer": refusal_words(ask), "selectedOptions": []}


def read_answer(question: Question, body: Mapping[str, Any]) -> Answer:
    """The answer that a body says. Words that are no more than the chosen labels are not own words."""
    problems = Problems()
    said = body.get("answer", "")
    if said is not None and not isinstance(said, str):
        problems.add("answer", f"expected a text, got {fields.given(said)}.")
    places = _places(problems, question, body.get("selectedOptions"))
    note = fields.text(problems, body, ["note"], "", required=False)
    problems.check()
    own = _own_words(question, places, said or "")
    if isinstance(body.get("text", 0), str | None):
        # Who says this apart leaves nothing to be guessed.
        own = body["text"] if (body["text"] or "").strip() else None
    if not places and own is not None:
        places = [place for place, option in enumerate(question.options) if option.label == own][:1]
        own = None if places else own
    if not places and not (own or "").strip():
        problems.add("answer", "is empty. Choose an option by its place in selectedOptions, or write something.")
    elif places and own is not None and question.kind is Kind.SELECT:
        problems.add("answer", "says something else than the chosen option. Choose one, or use own words.")
    problems.check()
    return Answer(
        question=question.id, chosen=tuple(question.options[place].id for place in places), text=own, note=note
    )


def _places(problems: Problems, question: Question, value: object) -> list[int]:
    if value is None:
        return []
    there = range(len(question.options))
    items = cast("list[object]", value) if isinstance(value, list) else [None]
    if not all(isinstance(item, int) and not isinstance(item, bool) and item in there for item in items):
        allowed = f"from 0 to {len(there) - 1}" if there else "of which this question has none"
        problems.add(
            "selectedOptions", f"expected an array of places of options, {allowed}, got {fields.given(value)}."
        )
        return []
    return sorted(cast("set[int]", set(items)))


def _own_words(question: Question, places: Sequence[int], said: str) -> str | None:
    """What was said beyond the labels of what was chosen."""
    labels = _BETWEEN.join(question.options[place].label for place in places)
    if not said.strip() or (places and said == labels):
        return None
    return said.removeprefix(labels + _BETWEEN) if places else said


def ended_ask(new: NewAsk, told: Mapping[str, Any], asked_at: int, now: int) -> Ask:
    """The ask as a poll told of it, for the agent's reply. What cannot be read counts as no answer. A relay that does
    not say when it was asked and ended is believed to have done so in this call."""
    state = State(told["status"])
    answers: tuple[Answer, ...] = ()
    if state is State.ANSWERED:
        answers = (_received(new.questions[0], told),)
    outcome = Outcome(
        answers=answers,
        reason=_words(told.get("reason")),
        person=_words(told.get("by")),
        surface="relay",
        late=told.get("late") is True,
    )
    asked = relayed_ask(new, str(told.get("ask") or ""), _moment(told.get("askedAt"), asked_at, now))
    return replace(asked, state=state, ended_at=_moment(told.get("endedAt"), now, now), outcome=outcome)


def _words(value: object) -> str:
    return value if isinstance(value, str) else ""


def _moment(value: object, otherwise: int, now: int) -> int:
    """A time in milliseconds, as a relay told it."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= now else otherwise


def _received(question: Question, told: Mapping[str, Any]) -> Answer:
    """An answer from a relay that need not be ours: where its parts do not agree, the words count."""
    try:
        return read_answer(question, told)
    except InvalidInput:
        return read_answer(question, {"answer": told.get("answer")})


def relayed_ask(new: NewAsk, ask_id: str, now: int) -> Ask:
    """An ask that is kept elsewhere, as far as it is known here."""
    return Ask(
        id=ask_id,
        call_id="",
        tool=promptmanager.NAME,
        questions=new.questions,
        asker=new.asker,
        timeout_ms=new.timeout_ms,
        created_at=now,
        changed_at=now,
    )
