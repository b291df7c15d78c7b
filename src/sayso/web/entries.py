"""A form about an ask: read as a draft, and what is wrong with the answers it amounts to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sayso.asks.draft import Draft, Said, answer
from sayso.asks.mark import mark
from sayso.asks.model import Answer, Ask, Attachment, Kind, Question, fit
from sayso.errors import InvalidInput
from sayso.permissions.action import action_of, takes_changes
from sayso.permissions.editing import to_edit
from sayso.records import replace
from sayso.text import quoted
from sayso.web.fields import Fields
from sayso.web.wording import MISSING

OWN = "own"
SKIP = "skip"
WORDS_LEFT_OUT = "You also wrote {words}. Choose “Other” to send that, or empty the field to skip the question."
ANSWER_AND_REASON = "You wrote why you reject this. Reject it, or empty that field to send an answer."
ANSWER_BEGUN = "You began to answer this on its page. Open it, and go on there."
NOT_SHOWN = "What you answered is not what is asked here now. Read it again, then send your answer."


@dataclass(frozen=True, kw_only=True)
class Checked:
    """The answers that entries amount to, and for each question what is wrong with it."""

    answers: tuple[Answer, ...]
    problems: Mapping[int, str] = field(default_factory=dict)


PRESSED = "answer-"
"""A button that is an answer by itself; the place of its option follows."""


def takes_a_press(ask: Ask) -> bool:
    """Whether one press answers it: a question that is no more than yes or no."""
    only = ask.questions[0] if len(ask.questions) == 1 and not ask.is_permission else None
    return only is not None and only.kind is Kind.CONFIRM and only.required


def is_answer(fields: Fields) -> bool:
    """Whether what was pressed sends an answer."""
    return fields.one("settle") == "answer" or fields.one("settle").startswith(PRESSED)


def from_form(ask: Ask, fields: Fields) -> Draft:
    """The fields of a question are called `q0`, `q0-own` and `q0-note`; options go by their place."""
    said = {question.id: _said(question, fields, f"q{place}") for place, question in enumerate(ask.questions)}
    return Draft(said=said, reason=fields.one("reason"), edit=_edit(ask, fields))


def _edit(ask: Ask, fields: Fields) -> str | None:
    """What was made of the action of a permission; None while nothing was."""
    action = action_of(ask)
    if action is None or not fields.all("edit") or not takes_changes(ask):
        return None
    text = fields.one("edit")
    return None if text == to_edit(action).text else text


def contradiction(ask: Ask, fields: Fields) -> str:
    """Why a form cannot be an answer, whatever the answers are; empty when it can."""
    if fields.one("shown") != mark(ask):
        return NOT_SHOWN
    if fields.one("settle").startswith(PRESSED) and len(ask.questions) != 1:
        return NOT_SHOWN
    return ANSWER_AND_REASON if fields.one("reason").strip() else ""


def _said(question: Question, fields: Fields, name: str) -> Said:
    pressed = fields.one("settle").partition(PRESSED)[2]
    picked, text = [pressed] if pressed else fields.all(name), fields.one(f"{name}-{OWN}")
    chosen = tuple(option.id for place, option in enumerate(question.choices) if str(place) in picked)
    if question.kind is not Kind.MULTI_SELECT:
        chosen = chosen[:1]
    # Written and nothing else picked: meant, whether or not the mark before it was set.
    own = OWN in picked or (bool(text.strip()) and (question.kind in (Kind.TEXT, Kind.MULTI_SELECT) or not picked))
    return Said(
        chosen=chosen,
        text=text if question.takes_own_text else "",
        own=own and question.takes_own_text,
        note=fields.one(f"{name}-note"),
        skipped=SKIP in picked,
        attachments=tuple(Attachment(id=kept) for kept in dict.fromkeys(fields.all(f"{name}-kept"))),
    )


def check(ask: Ask, draft: Draft) -> Checked:
    """The answers, and every question whose answer does not fit."""
    answers = tuple(_answer(question, draft.of(question)) for question in ask.questions)
    told = (
        _left_out(draft.of(question)) or _problem(ask, question, given)
        for question, given in zip(ask.questions, answers, strict=True)
    )
    return Checked(answers=answers, problems={place: text for place, text in enumerate(told) if text})


def _left_out(said: Said) -> str:
    """What was written would not be sent: then nothing is."""
    return WORDS_LEFT_OUT.format(words=quoted(said.text.strip())) if said.skipped and said.text.strip() else ""


def _answer(question: Question, said: Said) -> Answer:
    given = answer(question, said)
    # Own words that were promised and not written are asked for, not left out in silence.
    return replace(given, text="") if said.own and given.text is None else given


def _problem(ask: Ask, question: Question, given: Answer) -> str:
    """What is wrong with one answer, for somebody who sees the question and its options above it."""
    if given.skipped and question.required:
        return MISSING
    try:
        fit(replace(ask, questions=(question,)), [given])
    except InvalidInput as error:
        return " ".join(problem.text[:1].upper() + problem.text[1:] for problem in error.problems)
    return ""
