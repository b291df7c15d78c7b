"""CodeNomad's `ask_user`: up to ten questions of four kinds, a time limit, and a result of four fields."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sayso.asks.model import Answer, Ask, Asker, Kind, NewAsk, Option, Question, State
from sayso.config import Config
from sayso.dialects import fields, question_fields
from sayso.dialects.dialect import Arguments, AskRequest, AskTool, ToolReply, description
from sayso.dialects.outcomes import outcome_data, selected_labels, timeout_words, told_in_words
from sayso.dialects.tools import LONGEST_TITLE, TIMEOUTS
from sayso.errors import Problem, Problems, check_text
from sayso.records import replace

NAME = "ask_user"
LONGEST_QUESTION = 1000
DEFAULT_TIMEOUT = 300_000


def tool(config: Config) -> AskTool:
    """The tool exactly as CodeNomad has it."""
    return AskTool(
        name=NAME,
        title="Ask the user",
        description=description("ask_user_codenomad"),
        schema=_schema(config),
        annotations={"openWorldHint": True, "readOnlyHint": False, "destructiveHint": False},
        read=read,
        say_problems=say_problems,
    )


@dataclass(frozen=True, kw_only=True)
class Style:
    """How a question's fields are read: by the letter, or kindly where the dialects stand side by side."""

    kind: Callable[[Problems, Mapping[str, Any], str], Kind]
    option: question_fields.ReadOption
    text: Sequence[str] = ("question",)
    title: Sequence[str] = ()


def declared_kind(problems: Problems, raw: Mapping[str, Any], path: str) -> Kind:
    value = raw.get("type")
    if value is None:
        return Kind.TEXT
    if not isinstance(value, str) or value not in set(Kind):
        allowed = ", ".join(Kind)
        problems.add(fields.at(path, "type"), f"expected one of {allowed}, got {fields.given(value)}")
        return Kind.TEXT
    return Kind(value)


BY_THE_LETTER = Style(kind=declared_kind, option=question_fields.text_option)


def read(arguments: Arguments, asker: Asker, config: Config) -> AskRequest:
    problems = Problems()
    new = read_questions(problems, arguments, asker, config, BY_THE_LETTER)
    problems.check()
    return AskRequest(new=new, render=render)


def read_questions(
    problems: Problems,
    arguments: Arguments,
    asker: Asker,
    config: Config,
    style: Style,
    timeout: int | None = DEFAULT_TIMEOUT,
) -> NewAsk:
    """The ask that `questions`, `title` and `timeout` describe."""
    raw, most = arguments.get("questions"), config.ask_user_max_questions
    if raw == []:
        problems.add("", "questions array must have at least 1 item")
    if isinstance(raw, list) and len(raw) > most:
        problems.add("", f"questions array exceeds maximum of {most}")
    found = question_fields.array_of_objects(problems, arguments, "questions")
    questions = [read_question(problems, question, path, config, style) for path, question in found]
    _refuse_equal_ids(problems, questions)
    return NewAsk(
        tool=NAME,
        questions=_named(questions),
        asker=asker,
        title=read_title(problems, arguments),
        timeout_ms=read_timeout(problems, arguments, timeout),
    )


def read_question(problems: Problems, raw: Mapping[str, Any], path: str, config: Config, style: Style) -> Question:
    """One question; its id is empty where none was given."""
    kind = style.kind(problems, raw, path)
    return Question(
        id=fields.text(problems, raw, ["id"], path, required=False),
        text=_question_text(problems, raw, path, style.text),
        title=fields.text(problems, raw, style.title, path, required=False) if style.title else "",
        kind=kind,
        options=read_options(problems, raw, path, kind, (1, config.ask_user_max_options), style.option),
        required=fields.boolean(problems, raw, "required", path, default=True),
        placeholder=fields.text(problems, raw, ["placeholder"], path, required=False),
    )


def _question_text(problems: Problems, raw: Mapping[str, Any], path: str, names: Sequence[str]) -> str:
    name = next((name for name in names if raw.get(name) is not None), names[0])
    value, where = raw.get(name), fields.at(path, name)
    if value is None or (isinstance(value, str) and not value.strip()):
        problems.add(where, "question text is required")
    elif not isinstance(value, str):
        problems.add(where, f"expected a text, got {fields.given(value)}")
    elif len(value) > LONGEST_QUESTION:
        problems.add(where, f"is {len(value):,} characters long; at most {LONGEST_QUESTION:,} are allowed")
    else:
        check_text(problems, where, value)
    return value if isinstance(value, str) else ""


def read_options(
    problems: Problems,
    raw: Mapping[str, Any],
    path: str,
    kind: Kind,
    limits: tuple[int, int],
    read_one: question_fields.ReadOption,
) -> tuple[Option, ...]:
    if kind not in (Kind.SELECT, Kind.MULTI_SELECT):
        # They are not shown, but what is no list of options is a mistake that the agent should hear of.
        if raw.get("options") is not None:
            question_fields.options_as(read_one, problems, raw, path, (0, limits[1]))
        return ()
    if raw.get("options") in (None, []):
        problems.add(fields.at(path, "options"), "Options required for select/multi-select")
        return ()
    return question_fields.options_as(read_one, problems, raw, path, limits)


def _refuse_equal_ids(problems: Problems, questions: Sequence[Question]) -> None:
    ids = [question.id for question in questions]
    for place, question_id in enumerate(ids):
        if question_id and question_id in ids[:place]:
            problems.add(f"questions[{place}].id", f"{fields.given(question_id)} is the id of an earlier question")


def _named(questions: Sequence[Question]) -> tuple[Question, ...]:
    """The questions with ids made up for those that came without, different from all others."""
    taken = {question.id for question in questions}

    def new_id() -> str:
        while (made := f"q_{os.urandom(3).hex()}") in taken:
            pass
        taken.add(made)
        return made

    return tuple(question if question.id else replace(question, id=new_id()) for question in questions)


def read_title(problems: Problems, arguments: Arguments) -> str:
    title = fields.text(problems, arguments, ["title"], "", required=False)
    if len(title) > LONGEST_TITLE:
        problems.add("title", f"is {len(title)} characters long; at most {LONGEST_TITLE} are allowed")
    return title


def read_timeout(problems: Problems, arguments: Arguments, default: int | None) -> int | None:
    value = arguments.get("timeout")
    if value is None:
        return default
    least, most = TIMEOUTS
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole or not least <= value <= most:
        problems.add(
            "timeout", f"expected a whole number of milliseconds from {least} to {most}, got {fields.given(value)}"
        )
        return default
    return int(value)


def say_problems(problems: Sequence[Problem]) -> str:
    """CodeNomad's words come first, the place behind them."""
    said = [f"{problem.text.rstrip('.')} ({problem.path})" if problem.path else problem.text for problem in problems]
    return "Validation error: " + "; ".join(said)


def render(ask: Ask) -> ToolReply:
    """Four fields as JSON. A person's no of any kind is `cancelled`; the data says which."""
    told = _four_fields(ask)
    data = {**outcome_data(ask), "result": told}
    # Here is no get_answers to be sent to.
    message = timeout_words(ask) if ask.state is State.TIMED_OUT else told_in_words(ask)
    return ToolReply(text=json.dumps(told, ensure_ascii=False), data=data, message=message)


def render_united(ask: Ask) -> ToolReply:
    """The same beside the other dialects: with a sentence on what to do next, and in the data each answer once."""
    message = told_in_words(ask)
    text = json.dumps({"message": message, **_four_fields(ask)}, ensure_ascii=False)
    return ToolReply(text=text, data=outcome_data(ask), message=message)


def _four_fields(ask: Ask) -> dict[str, Any]:
    answered, timed_out = ask.state is State.ANSWERED, ask.state is State.TIMED_OUT
    return {
        "answered": answered,
        "cancelled": not answered and not timed_out,
        "timedOut": timed_out,
        "answers": [_told(question, ask.answer(question.id)) for question in ask.questions] if answered else [],
    }


def _told(question: Question, answer: Answer | None) -> dict[str, Any]:
    answer = answer or Answer(question=question.id)
    chosen = list(answer.chosen) if question.kind is Kind.CONFIRM else selected_labels(question, answer)
    values = chosen + ([answer.text] if answer.text is not None else [])
    own_words = [answer.text if question.kind is not Kind.TEXT else None, answer.note]
    custom = "\n".join(words for words in own_words if words)
    told: dict[str, Any] = {"questionId": question.id, "values": values}
    return {**told, "customText": custom} if custom else told


def _schema(config: Config) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "questions": {
                "type": "array",
                "description": "Array of questions to ask the user",
                "items": {"$ref": "#/definitions/QuestionInfo"},
                "minItems": 1,
                "maxItems": config.ask_user_max_questions,
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
        "definitions": {"QuestionInfo": _QUESTION_INFO},
    }


_QUESTION_INFO: dict[str, Any] = {
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
