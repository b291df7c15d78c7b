"""What a person has entered so far for one ask: plain frozen data, and what each entry makes of it.

Its JSON holds the answers as the domain spells them, so that another surface can take a draft up.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from sayso.asks.model import Answer, Ask, Kind, Question


@dataclass(frozen=True, kw_only=True)
class Said:
    """What was entered for one question. Own words are kept even while an option is chosen instead."""

    chosen: tuple[str, ...] = ()
    text: str = ""
    own: bool = False
    note: str = ""
    skipped: bool = False

    @property
    def empty(self) -> bool:
        return self == Said()


@dataclass(frozen=True, kw_only=True)
class Draft:
    """The entries for all questions, the step the person was at, and the reason of a no they began to write."""

    said: Mapping[str, Said] = field(default_factory=dict)
    step: int = 0
    reason: str = ""

    def of(self, question: Question) -> Said:
        return self.said.get(question.id, Said())

    def put(self, question: Question, said: Said) -> Draft:
        return replace(self, said={**self.said, question.id: said})

    @property
    def empty(self) -> bool:
        return not self.reason and all(said.empty for said in self.said.values())


def choose(question: Question, said: Said, option_id: str) -> Said:
    """Choose this option; where only one may be chosen it takes the place of all else."""
    if question.kind is Kind.MULTI_SELECT:
        chosen = tuple(o.id for o in question.choices if o.id in (*said.chosen, option_id))
        return replace(said, chosen=chosen, skipped=False)
    return replace(said, chosen=(option_id,), own=False, skipped=False)


def toggle(question: Question, said: Said, option_id: str) -> Said:
    """Choose this option, or take the choice back."""
    if option_id in said.chosen:
        return replace(said, chosen=tuple(chosen for chosen in said.chosen if chosen != option_id))
    return choose(question, said, option_id)


def write(question: Question, said: Said, text: str) -> Said:
    """Answer in own words. Beside single choices they take the place of the chosen option."""
    own = bool(text.strip())
    chosen = said.chosen if question.kind is Kind.MULTI_SELECT or not own else ()
    return replace(said, text=text, own=own, chosen=chosen, skipped=False if own else said.skipped)


def toggle_own(question: Question, said: Said) -> Said:
    """Let the own words that were written count, or no longer."""
    return replace(said, own=False) if said.own else write(question, said, said.text)


def skip(said: Said) -> Said:
    """Leave the question out. What was written is kept, but does not count."""
    return replace(said, chosen=(), own=False, skipped=True)


def recommended(question: Question) -> tuple[str, ...]:
    """The recommended options: all of them, or the first where only one may be chosen."""
    found = tuple(option.id for option in question.choices if option.recommended)
    return found if question.kind is Kind.MULTI_SELECT else found[:1]


def accept_recommended(ask: Ask, draft: Draft) -> Draft:
    """Every question that has no answer yet, answered with what is recommended."""
    for question in ask.questions:
        said = draft.of(question)
        if (wanted := recommended(question)) and answer(question, said).skipped:
            draft = draft.put(question, replace(said, chosen=wanted, own=False, skipped=False))
    return draft


def answer(question: Question, said: Said) -> Answer:
    """The entry as the answer it would be."""
    text = said.text.strip() if said.own and question.takes_own_text else None
    return Answer(question=question.id, chosen=said.chosen, text=text or None, note=said.note.strip())


def answers(ask: Ask, draft: Draft) -> tuple[Answer, ...]:
    return tuple(answer(question, draft.of(question)) for question in ask.questions)


def missing(ask: Ask, draft: Draft) -> list[int]:
    """The places of the questions that still need an answer."""
    return [
        place
        for place, question in enumerate(ask.questions)
        if question.required and answer(question, draft.of(question)).skipped
    ]


def to_json(ask: Ask, draft: Draft) -> str:
    """The draft as it is kept; empty when there is nothing to keep."""
    if draft.empty:
        return ""
    told = [asdict(answer(question, draft.of(question))) for question in ask.questions]
    entered = {key: asdict(said) for key, said in draft.said.items() if not said.empty}
    body = {"answers": told, "entered": entered, "step": draft.step, "reason": draft.reason}
    return json.dumps(body, ensure_ascii=False)


def from_json(ask: Ask, body: str) -> Draft:
    """A kept draft, of ours or of another surface. What cannot be read is left out."""
    try:
        data = json.loads(body)
    except ValueError:
        return Draft()
    if not isinstance(data, dict):
        return Draft()
    said = {str(item.get("question")): _from_answer(item) for item in _dicts(data.get("answers"))}
    entered = data.get("entered")
    if isinstance(entered, dict):
        said |= {key: _said(item) for key, item in entered.items() if isinstance(item, dict)}
    known = {question.id: _known(question, said.get(question.id, Said())) for question in ask.questions}
    known = {key: item for key, item in known.items() if not item.empty}
    step = data.get("step")
    step = step if isinstance(step, int) and 0 <= step <= len(ask.questions) else 0
    return Draft(said=known, step=step, reason=_text(data.get("reason")))


def _known(question: Question, said: Said) -> Said:
    return replace(said, chosen=tuple(chosen for chosen in said.chosen if question.option(chosen)))


def _from_answer(data: Mapping[str, Any]) -> Said:
    return _said({**data, "own": bool(data.get("text"))})


def _said(data: Mapping[str, Any]) -> Said:
    chosen = data.get("chosen")
    return Said(
        chosen=tuple(map(str, chosen)) if isinstance(chosen, list) else (),
        text=_text(data.get("text")),
        own=data.get("own") is True,
        note=_text(data.get("note")),
        skipped=data.get("skipped") is True,
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
