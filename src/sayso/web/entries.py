"""What a person has entered for each question: read from a form, kept as a draft, turned into answers.

A draft's JSON holds the answers as the domain spells them and the entries beside them, as every surface writes it,
so that what was begun in the terminal goes on in the browser.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from sayso.asks.model import Answer, Ask, Kind, Question, fit
from sayso.errors import InvalidInput
from sayso.web.fields import Fields

OWN = "own"
SKIP = "skip"
MISSING = "This question needs an answer."


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What was entered for one question. Own words are kept even while an option is chosen instead of them."""

    chosen: tuple[str, ...] = ()
    text: str = ""
    own: bool = False
    note: str = ""
    skipped: bool = False


@dataclass(frozen=True, kw_only=True)
class Entries:
    """The entries of an ask's questions, in their order, and the reason of a no."""

    of: tuple[Entry, ...]
    reason: str = ""

    @property
    def empty(self) -> bool:
        return not self.reason and all(entry == Entry() for entry in self.of)


@dataclass(frozen=True, kw_only=True)
class Checked:
    """The answers that entries amount to, and for each question what is wrong with it."""

    answers: tuple[Answer, ...]
    problems: Mapping[int, str] = field(default_factory=dict)


def blank(ask: Ask) -> Entries:
    return Entries(of=(Entry(),) * len(ask.questions))


def from_form(ask: Ask, fields: Fields) -> Entries:
    """The fields of a question are called `q0`, `q0-own` and `q0-note`; options go by their place."""
    return Entries(
        of=tuple(_from_fields(question, fields, f"q{place}") for place, question in enumerate(ask.questions)),
        reason=fields.one("reason"),
    )


def _from_fields(question: Question, fields: Fields, name: str) -> Entry:
    picked, text = fields.all(name), fields.one(f"{name}-{OWN}")
    chosen = tuple(option.id for place, option in enumerate(question.choices) if str(place) in picked)
    if question.kind is not Kind.MULTI_SELECT:
        chosen = chosen[:1]
    # Written and nothing else picked: meant, whether or not the mark before it was set.
    own = OWN in picked or (bool(text.strip()) and (question.kind in (Kind.TEXT, Kind.MULTI_SELECT) or not picked))
    return Entry(
        chosen=chosen,
        text=text if question.takes_own_text else "",
        own=own and question.takes_own_text,
        note=fields.one(f"{name}-note"),
        skipped=SKIP in picked,
    )


def check(ask: Ask, entries: Entries) -> Checked:
    """The answers, and every question whose answer does not fit."""
    answers = tuple(_answer(question, entry) for question, entry in zip(ask.questions, entries.of, strict=True))
    told = (_problem(ask, question, answer) for question, answer in zip(ask.questions, answers, strict=True))
    return Checked(answers=answers, problems={place: text for place, text in enumerate(told) if text})


def _problem(ask: Ask, question: Question, answer: Answer) -> str:
    """What is wrong with one answer, for somebody who sees the question and its options above it."""
    if answer.skipped and question.required:
        return MISSING
    try:
        fit(replace(ask, questions=(question,)), [answer])
    except InvalidInput as error:
        return " ".join(problem.text[:1].upper() + problem.text[1:] for problem in error.problems)
    return ""


def _answer(question: Question, entry: Entry) -> Answer:
    text = entry.text.strip() if entry.own else None
    return Answer(question=question.id, chosen=entry.chosen, text=text, note=entry.note.strip())


# Drafts


def to_draft(ask: Ask, entries: Entries) -> str:
    """The entries as they are kept; empty when there is nothing to keep."""
    if entries.empty:
        return ""
    told = [asdict(answer) for answer in check(ask, entries).answers]
    entered = {question.id: asdict(entry) for question, entry in zip(ask.questions, entries.of, strict=True)}
    return json.dumps({"answers": told, "entered": entered, "reason": entries.reason}, ensure_ascii=False)


def from_draft(ask: Ask, draft: str) -> Entries:
    """A kept draft, of ours or of another surface. What cannot be read is left out."""
    try:
        data = json.loads(draft) if draft else {}
    except ValueError:
        data = {}
    if not isinstance(data, dict):
        return blank(ask)
    told = {str(item.get("question")): {**item, "own": bool(item.get("text"))} for item in _dicts(data.get("answers"))}
    entered = data.get("entered")
    entered = entered if isinstance(entered, dict) else {}
    return Entries(
        of=tuple(_kept(question, entered.get(question.id, told.get(question.id))) for question in ask.questions),
        reason=_text(data.get("reason")),
    )


def _kept(question: Question, data: Any) -> Entry:
    if not isinstance(data, dict):
        return Entry()
    chosen = data.get("chosen")
    return Entry(
        chosen=tuple(option.id for option in question.choices if isinstance(chosen, list) and option.id in chosen),
        text=_text(data.get("text")),
        own=data.get("own") is True,
        note=_text(data.get("note")),
        skipped=data.get("skipped") is True,
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _dicts(values: object) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
