"""AUQ's `ask_user_questions`: one to four multiple-choice questions, answered together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sayso.asks.model import Ask, Asker, NewAsk, Problems, State
from sayso.config import Config
from sayso.dialects import fields
from sayso.dialects.dialect import Arguments, AskTool, Reply, Request, description
from sayso.dialects.outcomes import answers_as_words, outcome_data, refusal_words, timeout_words

NAME = "ask_user_questions"
ANNOTATIONS = {"openWorldHint": True, "readOnlyHint": False, "idempotentHint": True, "destructiveHint": False}


def tool(config: Config) -> AskTool:
    """The tool exactly as AUQ has it."""
    return _tool(_schema(config, "prompt"), read)


def united_tool(config: Config) -> AskTool:
    """The tool beside the other dialects: their word for the question, and a call that need not wait."""
    return _tool(_united_schema(config), read_united, "ask_user_questions_united")


def _tool(
    schema: dict[str, Any],
    read_call: Callable[[Arguments, Asker, Config], Request],
    about: str = "ask_user_questions",
) -> AskTool:
    return AskTool(
        name=NAME,
        title="Ask the user multiple-choice questions",
        description=description(about),
        schema=schema,
        annotations=ANNOTATIONS,
        read=read_call,
    )


def read(arguments: Arguments, asker: Asker, config: Config) -> Request:
    """What the arguments ask for; an InvalidInput names every wrong field."""
    problems = Problems()
    new = _read_questions(problems, arguments, asker, config)
    if arguments.get("nonBlocking"):
        problems.add("nonBlocking", "expected to be left out: this tool always waits for the answer.")
    problems.check()
    return Request(new=new, render=render)


def read_united(arguments: Arguments, asker: Asker, config: Config) -> Request:
    problems = Problems()
    new = _read_questions(problems, arguments, asker, config)
    waits = not fields.boolean(problems, arguments, "nonBlocking", "", default=False)
    problems.check()
    return Request(new=new, render=render, waits=waits)


def _read_questions(problems: Problems, arguments: Arguments, asker: Asker, config: Config) -> NewAsk:
    raw = arguments.get("questions")
    if raw == []:
        problems.add("questions", "At least one question is required")
    if isinstance(raw, list) and len(raw) > config.max_questions:
        problems.add("questions", f"expected 1 to {config.max_questions} questions, got {len(raw)}. Ask in two calls.")
    found = fields.array_of_objects(problems, arguments, "questions")
    questions = tuple(
        fields.choice_question(problems, raw, path, str(number), (2, config.max_options))
        for number, (path, raw) in enumerate(found, start=1)
    )
    return NewAsk(tool=NAME, questions=questions, asker=asker, timeout_ms=config.ask_timeout)


def render(ask: Ask) -> Reply:
    """The outcome in words; a timeout is an error, a person's no is not."""
    data = outcome_data(ask)
    if ask.state is State.ANSWERED:
        return Reply(text=f"Here are the user's answers:\n\n{answers_as_words(ask)}", data=data)
    if ask.state is State.TIMED_OUT:
        return Reply(text=timeout_words(ask), data=data, is_error=True)
    return Reply(text=refusal_words(ask), data=data)


def _united_schema(config: Config) -> dict[str, Any]:
    """The same shape in few words: every session of every agent carries them."""
    texts = {name: {"type": "string"} for name in ("label", "description")}
    option = {"type": "object", "properties": {**texts, "recommended": {"type": "boolean"}}, "required": ["label"]}
    question = {
        "type": "object",
        "properties": {
            "question": {"type": "string"},
            "title": {"type": "string"},
            "options": {"type": "array", "items": option, "minItems": 2, "maxItems": config.max_options},
            "multiSelect": {"type": "boolean"},
        },
        "required": ["question", "options"],
    }
    questions = {"type": "array", "items": question, "minItems": 1, "maxItems": config.max_questions}
    properties = {"questions": questions, "nonBlocking": {"type": "boolean"}}
    return {"type": "object", "properties": properties, "required": ["questions"]}


def _schema(config: Config, question_field: str) -> dict[str, Any]:
    option = {
        "type": "object",
        "properties": {
            "label": {"type": "string", "description": "What the user picks, in one to five words."},
            "description": {"type": "string", "description": "What choosing it means or leads to."},
            "recommended": {"type": "boolean", "description": "True for the option you would take."},
        },
        "required": ["label"],
    }
    question = {
        "type": "object",
        "properties": {
            question_field: {"type": "string", "description": "The whole question, ending with a question mark."},
            "title": {"type": "string", "description": "One or two words that name the subject."},
            "options": {
                "type": "array",
                "items": option,
                "minItems": 2,
                "maxItems": config.max_options,
                "description": "The choices. Do not add 'Other': the user can always answer in their own words.",
            },
            "multiSelect": {"type": "boolean", "default": False, "description": "True when several may be chosen."},
        },
        "required": [question_field, "options"],
    }
    questions = {
        "type": "array",
        "items": question,
        "minItems": 1,
        "maxItems": config.max_questions,
        "description": "The questions, put to the user together and answered together.",
    }
    return {"type": "object", "properties": {"questions": questions}, "required": ["questions"]}
