"""The tools that agents ask with, as clients list them. How a call is read and answered is each dialect's own business,
and imported with the first call: a server lists its tools before anything large is there."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from sayso.config import Config
from sayso.dialects.dialect import AskTool, Tool, description

ASK_USER = "ask_user"
ASK_USER_QUESTIONS = "ask_user_questions"
GET_ANSWERS = "get_answers"
QUESTION_ASK = "question_ask"
QUESTION_SUMMARY = "question_summary"

KINDS = ("text", "select", "multi-select", "confirm")
"""How a question is answered, in the words of the domain."""

LONGEST_TITLE = 100
TIMEOUTS = (10_000, 1_800_000)
NON_BLOCKING = {
    "type": "boolean",
    "description": "Return at once; get_answers has it later.",
}
ASKS = {"openWorldHint": True, "readOnlyHint": False, "idempotentHint": True, "destructiveHint": False}


def _later(dialect: str, name: str) -> Callable[..., Any]:
    """A function of a dialect, which is imported when it is called."""

    def call(*given: Any) -> Any:
        return getattr(import_module(f"sayso.dialects.{dialect}"), name)(*given)

    return call


def ask_user(config: Config) -> AskTool:
    return AskTool(
        name=ASK_USER,
        title="Ask the user anything",
        description=description("ask_user"),
        schema=_ask_user_schema(config),
        annotations=ASKS,
        read=_later("ask_user", "read"),
        say_problems=_later("codenomad", "say_problems"),
    )


def ask_user_questions(config: Config) -> AskTool:
    """The tool exactly as AUQ has it."""
    return _auq_tool(_schema(config), "read")


def ask_user_questions_united(config: Config) -> AskTool:
    """The tool beside the other dialects: their word for the question, and a call that need not wait."""
    return _auq_tool(_united_schema(config), "read_united", "ask_user_questions_united")


def _auq_tool(schema: dict[str, Any], read: str, about: str = ASK_USER_QUESTIONS) -> AskTool:
    return AskTool(
        name=ASK_USER_QUESTIONS,
        title="Ask the user multiple-choice questions",
        description=description(about),
        schema=schema,
        annotations=ASKS,
        read=_later("auq", read),
    )


def get_answers() -> Tool:
    return Tool(
        name=GET_ANSWERS,
        title="Get earlier answers",
        description=description(GET_ANSWERS),
        schema={
            "type": "object",
            "properties": {
                "ask_id": {"type": "string", "description": "Default: all of yours."},
                "wait": {"type": "boolean", "description": "Hold on until one is answered."},
            },
        },
        annotations={"readOnlyHint": False, "idempotentHint": False, "openWorldHint": True, "destructiveHint": False},
    )


def question_ask(about: str = QUESTION_ASK) -> Tool:
    return Tool(
        name=QUESTION_ASK,
        title="Ask the user in a form and keep the answer",
        description=description(about),
        schema={
            "type": "object",
            "properties": {"question": {"type": "string", "description": "The question to ask the user."}},
            "required": ["question"],
        },
        annotations={"openWorldHint": True, "readOnlyHint": False, "destructiveHint": False},
        needs_form=True,
    )


def question_summary(about: str = QUESTION_SUMMARY) -> Tool:
    return Tool(
        name=QUESTION_SUMMARY,
        title="Read back earlier answers",
        description=description(about),
        schema={
            "type": "object",
            "properties": {
                "limit": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "How many of the newest pairs to include. Default: all.",
                }
            },
        },
        annotations={"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False},
    )


_OPTION = {
    "type": "object",
    "properties": {
        "label": {"type": "string"},
        "description": {"type": "string"},
        "recommended": {"type": "boolean"},
        "preview": {"type": "string"},
        "image": {"type": "string", "description": "Path or base64."},
    },
    "required": ["label"],
}

_QUESTION_SCHEMA = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "question": {"type": "string"},
        "header": {"type": "string"},
        "type": {"type": "string", "enum": list(KINDS)},
        "options": {"type": "array", "items": {"type": "object"}},
        "required": {"type": "boolean"},
        "placeholder": {"type": "string"},
    },
    "required": ["question"],
}


def _ask_user_schema(config: Config) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "question": {"type": "string"},
            "options": {"type": "array", "items": _OPTION},
            "multiSelect": {"type": "boolean"},
            "questions": {
                "type": "array",
                "minItems": 1,
                "maxItems": config.ask_user_max_questions,
                "items": _QUESTION_SCHEMA,
            },
            "title": {"type": "string", "maxLength": LONGEST_TITLE},
            "timeout": {
                "type": "integer",
                "minimum": TIMEOUTS[0],
                "maximum": TIMEOUTS[1],
                "description": "Milliseconds. Default: none.",
            },
            "nonBlocking": NON_BLOCKING,
        },
    }


def _united_schema(config: Config) -> dict[str, Any]:
    """The same shape in few words: every session of every agent carries them."""
    question = {
        "type": "object",
        "properties": {
            "question": {"type": "string"},
            "title": {"type": "string"},
            "options": {"type": "array", "items": _OPTION, "minItems": 2, "maxItems": config.max_options},
            "multiSelect": {"type": "boolean"},
        },
        "required": ["question", "options"],
    }
    questions = {"type": "array", "items": question, "minItems": 1, "maxItems": config.max_questions}
    properties = {"questions": questions, "nonBlocking": {"type": "boolean"}}
    return {"type": "object", "properties": properties, "required": ["questions"]}


def _schema(config: Config) -> dict[str, Any]:
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
            "prompt": {"type": "string", "description": "The whole question, ending with a question mark."},
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
        "required": ["prompt", "options"],
    }
    questions = {
        "type": "array",
        "items": question,
        "minItems": 1,
        "maxItems": config.max_questions,
        "description": "The questions, put to the user together and answered together.",
    }
    return {"type": "object", "properties": {"questions": questions}, "required": ["questions"]}
