"""Reads what `sayso ask` is to put: one question from flags, or JSON with several. Both take the same way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sayso import untrusted_json
from sayso.asks.model import Asker, Kind, NewAsk, Question
from sayso.asks.truth import BY_COMMAND
from sayso.dialects import fields, question_fields
from sayso.errors import InvalidInput, Problem, Problems

MOST = 100
"""Questions in one ask, and options of one question."""

_ASK_FIELDS = ("questions", "title")
_QUESTION_FIELDS = ("question", "type", "options", "required", "placeholder", "title", "id")
_KINDS = tuple(kind.value for kind in Kind)


def from_json(text: str) -> dict[str, Any]:
    """The object that the text holds."""
    try:
        data = untrusted_json.loads(text)
    except ValueError as error:
        raise InvalidInput([Problem(path="standard input", text=f"is not JSON: {error}.")]) from None
    if not isinstance(data, dict):
        raise InvalidInput(
            [Problem(path="standard input", text=f"expected an object with questions, got {fields.given(data)}.")]
        )
    return data


def new_ask(data: Mapping[str, Any], asker: Asker, timeout_ms: int | None) -> NewAsk:
    """The ask that the data describes; an InvalidInput names every wrong field."""
    problems = Problems()
    _only(problems, data, "", _ASK_FIELDS)
    found = question_fields.array_of_objects(problems, data, "questions")
    if isinstance(data.get("questions"), list) and not 1 <= len(data["questions"]) <= MOST:
        problems.add("questions", f"expected 1 to {MOST} questions, got {len(data['questions'])}.")
    questions = tuple(_question(problems, raw, path, str(place)) for place, (path, raw) in enumerate(found, start=1))
    _all_different(problems, questions)
    title = fields.text(problems, data, ["title"], "", required=False)
    problems.check()
    return NewAsk(tool=BY_COMMAND, questions=questions, asker=asker, title=title, timeout_ms=timeout_ms)


def _question(problems: Problems, raw: Mapping[str, Any], path: str, default_id: str) -> Question:
    _only(problems, raw, path, _QUESTION_FIELDS)
    kind = _kind(problems, raw, path)
    chooses = kind in (Kind.SELECT, Kind.MULTI_SELECT)
    if not chooses and raw.get("options") is not None:
        problems.add(f"{path}.options", f"a question of type {kind.value} takes no options. Leave them out.")
    return Question(
        id=fields.text(problems, raw, ["id"], path, required="id" in raw) or default_id,
        text=fields.text(problems, raw, ["question"], path, required=True),
        kind=kind,
        options=question_fields.options(problems, raw, path, (1, MOST), required=True) if chooses else (),
        title=fields.text(problems, raw, ["title"], path, required=False),
        required=fields.boolean(problems, raw, "required", path, default=True),
        placeholder=fields.text(problems, raw, ["placeholder"], path, required=False),
    )


def _kind(problems: Problems, raw: Mapping[str, Any], path: str) -> Kind:
    """The type that is named; without one, options make it a choice."""
    named = raw.get("type", Kind.SELECT if raw.get("options") is not None else Kind.TEXT)
    if named not in _KINDS:
        problems.add(f"{path}.type", f"expected one of {', '.join(_KINDS)}, got {fields.given(named)}.")
        return Kind.TEXT
    return Kind(named)


def _only(problems: Problems, raw: Mapping[str, Any], path: str, known: Sequence[str]) -> None:
    for name in raw.keys() - set(known):
        where = f"{path}.{name}" if path else name
        problems.add(where, f"there is no such field. The fields are {', '.join(known)}.")


def _all_different(problems: Problems, questions: Sequence[Question]) -> None:
    ids = [question.id for question in questions]
    for place, question_id in enumerate(ids):
        if question_id in ids[:place]:
            problems.add(f"questions[{place}].id", f"{question_id!r} is taken by another question. Give each its own.")
