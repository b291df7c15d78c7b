"""CodeNomad's `ask_user`: up to ten questions of four kinds, a time limit, and a result of four fields."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from sayso.asks.model import Answer, Ask, Asker, Kind, NewAsk, Option, Problems, Question, State, check_text
from sayso.config import Config
from sayso.dialects import fields
from sayso.dialects.dialect import Arguments, AskTool, Reply, Request, description
from sayso.dialects.outcomes import outcome_data, selected_labels
from sayso.errors import Problem

NAME = "ask_user"
MOST_QUESTIONS = 10
MOST_OPTIONS = 100
LONGEST_QUESTION = 1000
LONGEST_TITLE = 100
TIMEOUTS = (10_000, 1_800_000)
DEFAULT_TIMEOUT = 300_000


def tool(config: Config) -> AskTool:
    """The tool exactly as CodeNomad has it."""
    return AskTool(
        name=NAME,
        title="Ask the user",
        description=description("ask_user_codenomad"),
        schema=SCHEMA,
        annotations={"openWorldHint": True, "readOnlyHint": False, "destructiveHint": False},
        read=read,
        say_problems=say_problems,
    )


def read(arguments: Arguments, asker: Asker, config: Config) -> Request:
    problems = Problems()
    new = read_questions(problems, arguments, asker, kind_of=_declared_kind)
    problems.check()
    return Request(new=new, render=render)


def read_questions(problems: Problems, arguments: Arguments, asker: Asker, *, kind_of: KindOf) -> NewAsk:
    """The ask that `questions`, `title` and `timeout` describe."""
    raw = arguments.get("questions")
    if raw == []:
        problems.add("", "questions array must have at least 1 item")
    if isinstance(raw, list) and len(raw) > MOST_QUESTIONS:
        problems.add("", f"questions array exceeds maximum of {MOST_QUESTIONS}")
    found = fields.array_of_objects(problems, arguments, "questions")
    questions = tuple(_question(problems, question, path, kind_of) for path, question in found)
    _refuse_equal_ids(problems, questions)
    title = fields.text(problems, arguments, ["title"], "", required=False)
    if len(title) > LONGEST_TITLE:
        problems.add("title", f"is {len(title)} characters long; at most {LONGEST_TITLE} are allowed")
    return NewAsk(tool=NAME, questions=questions, asker=asker, title=title, timeout_ms=_timeout(problems, arguments))


class KindOf:
    """How a question's kind is read; the united dialect reads it more kindly."""

    def __call__(self, problems: Problems, raw: Mapping[str, Any], path: str) -> Kind:
        value = raw.get("type", Kind.TEXT.value)
        if value not in set(Kind):
            allowed = ", ".join(Kind)
            problems.add(f"{path}.type", f"expected one of {allowed}, got {fields.given(value)}")
            return Kind.TEXT
        return Kind(value)


_declared_kind = KindOf()


def _question(problems: Problems, raw: Mapping[str, Any], path: str, kind_of: KindOf) -> Question:
    kind = kind_of(problems, raw, path)
    return Question(
        id=fields.text(problems, raw, ["id"], path, required=False) or f"q_{secrets.token_hex(3)}",
        text=_question_text(problems, raw, path),
        title=fields.text(problems, raw, ["title", "header"], path, required=False),
        kind=kind,
        options=_options(problems, raw, path, kind),
        required=fields.boolean(problems, raw, "required", path, default=True),
        placeholder=fields.text(problems, raw, ["placeholder"], path, required=False),
    )


def _question_text(problems: Problems, raw: Mapping[str, Any], path: str) -> str:
    name = "question" if raw.get("question") is not None else "prompt"
    value = raw.get(name)
    where = f"{path}.question"
    if value is None or (isinstance(value, str) and not value.strip()):
        problems.add(where, "question text is required")
    elif not isinstance(value, str):
        problems.add(where, f"expected a text, got {fields.given(value)}")
    elif len(value) > LONGEST_QUESTION:
        problems.add(where, f"is {len(value):,} characters long; at most {LONGEST_QUESTION:,} are allowed")
    else:
        check_text(problems, where, value)
    return value if isinstance(value, str) else ""


def _options(problems: Problems, raw: Mapping[str, Any], path: str, kind: Kind) -> tuple[Option, ...]:
    if kind not in (Kind.SELECT, Kind.MULTI_SELECT):
        return ()
    if raw.get("options") in (None, []):
        problems.add(f"{path}.options", "Options required for select/multi-select")
        return ()
    return fields.options(problems, raw, path, (1, MOST_OPTIONS), required=True)


def _refuse_equal_ids(problems: Problems, questions: Sequence[Question]) -> None:
    ids = [question.id for question in questions]
    for place, question_id in enumerate(ids):
        if question_id in ids[:place]:
            problems.add(f"questions[{place}].id", f"{fields.given(question_id)} is the id of an earlier question")


def _timeout(problems: Problems, arguments: Arguments) -> int:
    value = arguments.get("timeout", DEFAULT_TIMEOUT)
    least, most = TIMEOUTS
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole or not least <= value <= most:
        problems.add(
            "timeout", f"expected a whole number of milliseconds from {least} to {most}, got {fields.given(value)}"
        )
        return DEFAULT_TIMEOUT
    return int(value)


def say_problems(problems: Sequence[Problem]) -> str:
    """CodeNomad's words come first, the place behind them."""
    said = [f"{problem.text.rstrip('.')} ({problem.path})" if problem.path else problem.text for problem in problems]
    return "Validation error: " + "; ".join(said)


def render(ask: Ask) -> Reply:
    """Four fields as JSON. A person's no of any kind is `cancelled`; the data says which."""
    answered, timed_out = ask.state is State.ANSWERED, ask.state is State.TIMED_OUT
    told = {
        "answered": answered,
        "cancelled": not answered and not timed_out,
        "timedOut": timed_out,
        "answers": [_told(question, ask.answer(question.id)) for question in ask.questions] if answered else [],
    }
    return Reply(text=json.dumps(told, ensure_ascii=False), data={**outcome_data(ask), "result": told})


def _told(question: Question, answer: Answer | None) -> dict[str, Any]:
    answer = answer or Answer(question=question.id)
    chosen = list(answer.chosen) if question.kind is Kind.CONFIRM else selected_labels(question, answer)
    values = chosen + ([answer.text] if answer.text is not None else [])
    own_words = [answer.text if question.kind is not Kind.TEXT else None, answer.note]
    custom = "\n".join(words for words in own_words if words)
    told: dict[str, Any] = {"questionId": question.id, "values": values}
    return {**told, "customText": custom} if custom else told


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "questions": {
            "type": "array",
            "description": "Array of questions to ask the user",
            "items": {"$ref": "#/definitions/QuestionInfo"},
            "minItems": 1,
            "maxItems": MOST_QUESTIONS,
        },
        "title": {
            "type": "string",
            "description": "Optional title for the question dialog",
            "maxLength": LONGEST_TITLE,
        },
        "timeout": {
            "type": "integer",
            "description": "Timeout in milliseconds (default: 300000 = 5 minutes)",
            "minimum": TIMEOUTS[0],
            "maximum": TIMEOUTS[1],
            "default": DEFAULT_TIMEOUT,
        },
    },
    "required": ["questions"],
    "definitions": {
        "QuestionInfo": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "Optional unique ID for this question"},
                "question": {"type": "string", "description": "The question text to display"},
                "type": {
                    "type": "string",
                    "enum": [str(kind) for kind in Kind],
                    "default": "text",
                    "description": "Type of input to collect",
                },
                "options": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Options for select/multi-select types",
                },
                "required": {"type": "boolean", "default": True, "description": "Whether an answer is required"},
                "placeholder": {"type": "string", "description": "Placeholder text for text inputs"},
            },
            "required": ["question"],
        }
    },
}
