"""What a person has entered so far for one ask, on whatever surface: plain frozen data, and how it is kept.

Its JSON holds the answers as the domain spells them and the entries beside them, so that what was begun in the terminal
goes on in the browser.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sayso.asks.model import Answer, Ask, Attachment, Kind, Question
from sayso.records import asdict, field, record, replace

if TYPE_CHECKING:
    from sayso.asks.desk import AskDesk


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
    unclear: str = ""
    """What they began to write that an agent should explain."""
    edit: str | None = None

    def of(self, question: Question) -> Said:
        return self.said.get(question.id, Said())

    def put(self, question: Question, said: Said) -> Draft:
        return replace(self, said={**self.said, question.id: said})

    @property
    def has_files(self) -> bool:
        return any(said.attachments for said in self.said.values())

    @property
    def empty(self) -> bool:
        return (
            not self.reason
            and not self.unclear
            and self.edit is None
            and all(said.empty for said in self.said.values())
        )


def with_known(draft: Draft, there: Iterable[Attachment]) -> Draft:
    """The draft with what is known of the files that are there; others are left out."""
    known = {each.id: each for each in there}
    return replace(draft, said={name: _with_known(said, known) for name, said in draft.said.items()})


def _with_known(said: Said, known: Mapping[str, Attachment]) -> Said:
    return replace(said, attachments=tuple(known[each.id] for each in said.attachments if each.id in known))


def is_same(one: Draft, other: Draft) -> bool:
    """Whether the same was entered, wherever the person was in it."""
    one, other = (replace(draft, step=0, said=_entered(draft.said)) for draft in (one, other))
    return one == other


def _entered(said: Mapping[str, Said]) -> dict[str, Said]:
    return {name: each for name, each in said.items() if not each.empty}


def merged(before: Draft, ours: Draft, theirs: Draft) -> Draft:
    """What was entered in two places, each going on with what was there before: nothing of either is lost. A choice is
    the one that was made here."""
    names = dict.fromkeys((*theirs.said, *ours.said))
    said = {name: _merged(*(each.said.get(name, Said()) for each in (before, ours, theirs))) for name in names}
    return replace(
        ours,
        said=_entered(said),
        reason=_text_of_both(before.reason, ours.reason, theirs.reason),
        unclear=_text_of_both(before.unclear, ours.unclear, theirs.unclear),
        edit=theirs.edit if ours.edit == before.edit else ours.edit,
    )


def is_told_by(before: Draft, ours: Draft, theirs: Draft) -> bool:
    """Whether what was entered elsewhere has nothing that ours has not."""
    return is_same(merged(before, ours, theirs), ours)


def keep_merged(desk: AskDesk, person: str, ask: Ask, before: Draft, ours: Draft) -> Draft:
    """Keep what a person has entered since what was there `before`, beside what they have entered elsewhere since."""

    def is_known(there: str) -> bool:
        return is_same(from_json(ask, there), before)

    while (there := desk.keep_draft(ask.id, person, body := to_json(ask, ours), only_over=is_known)) != body:
        theirs = from_json(ask, there)
        ours, before = merged(before, ours, theirs), theirs
    return ours


def _merged(before: Said, ours: Said, theirs: Said) -> Said:
    if ours == before:
        return theirs
    files = {each.id: each for each in (*theirs.attachments, *ours.attachments)}
    return replace(
        ours,
        text=_text_of_both(before.text, ours.text, theirs.text),
        note=_text_of_both(before.note, ours.note, theirs.note),
        attachments=ours.attachments if theirs.attachments == before.attachments else tuple(files.values()),
    )


def _text_of_both(before: str, ours: str, theirs: str) -> str:
    """Where both went on with the same words, one after the other; a text that was written anew stands below the other
    unless that has all of it."""
    if ours == before or ours in theirs:
        return theirs
    if theirs == before or theirs in ours:
        return ours
    if before and ours.startswith(before):
        return theirs + ours[len(before) :]
    return f"{theirs}\n{ours}"


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
    body |= {"unclear": draft.unclear} if draft.unclear else {}
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
    return Draft(
        said=known,
        step=step,
        reason=_text(data.get("reason")),
        unclear=_text(data.get("unclear")),
        edit=edit if isinstance(edit, str) else None,
    )


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
