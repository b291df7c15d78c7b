"""What a person has entered so far for one ask, on whatever surface: plain frozen data, and how it is kept.

Its JSON holds the answers as the domain spells them and the entries beside them, so that what was begun in the terminal
goes on in the browser.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sayso.asks.model import Answer, Ask, Attachment, Kind, Question
from sayso.records import asdict, field, record, replace


@record
class Said:
    """What was entered for one question. Own words are kept even while an option is chosen."""

    chosen: tuple[str, ...] = ()
    text: str = ""
    own: bool = False
    note: str = ""
    skipped: bool = False
    attachments: tuple[Attachment, ...] = ()

    @property
    def empty(self) -> bool:
        return self == Said()


@record
class Draft:
    """The entries for all questions, the step the person was at, the reason of a no they began to write, and what they
    have made so far of what an agent wants to do."""

    said: Mapping[str, Said] = field(default_factory=dict)
    step: int = 0
    reason: str = ""
    edit: str | None = None

    def of(self, question: Question) -> Said:
        return self.said.get(question.id, Said())

    def put(self, question: Question, said: Said) -> Draft:
        return replace(self, said={**self.said, question.id: said})

    @property
    def empty(self) -> bool:
        return not self.reason and self.edit is None and all(said.empty for said in self.said.values())


def answer(question: Question, said: Said) -> Answer:
    """The entry as the answer it would be. Own words whose place a chosen option took may be its condition: they go
    along as a note."""
    written = said.text.strip() if question.takes_own_text else ""
    beside = written if said.chosen and not said.own and question.kind is Kind.SELECT else ""
    note = "\n".join(filter(None, (beside, said.note.strip())))
    return Answer(
        question=question.id,
        chosen=said.chosen,
        text=(said.own and written) or None,
        note=note,
        attachments=said.attachments,
    )


def answers(ask: Ask, draft: Draft) -> tuple[Answer, ...]:
    return tuple(answer(question, draft.of(question)) for question in ask.questions)


def to_json(ask: Ask, draft: Draft) -> str:
    """The draft as it is kept; empty when there is nothing to keep."""
    if draft.empty:
        return ""
    entered = {key: asdict(said) for key, said in draft.said.items() if not said.empty}
    told = [asdict(given) for given in answers(ask, draft)]
    body = {"answers": told, "entered": entered, "step": draft.step, "reason": draft.reason, "edit": draft.edit}
    return json.dumps(body, ensure_ascii=False)


def from_json(ask: Ask, body: str) -> Draft:
    """A kept draft, of whatever surface. What cannot be read is left out."""
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
    edit = data.get("edit")
    return Draft(said=known, step=step, reason=_text(data.get("reason")), edit=edit if isinstance(edit, str) else None)


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
        attachments=tuple(
            Attachment(id=each["id"], name=_text(each.get("name")), media=_text(each.get("media")))
            for each in _dicts(data.get("attachments"))
            if isinstance(each.get("id"), str)
        ),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
