"""The united `ask_user`: takes CodeNomad's form, PromptManager's, and that of Claude's own AskUserQuestion.

The result's form follows the call's: `questions` gets JSON of four fields, `question` a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sayso.asks.model import Asker, Kind, Problems
from sayso.config import Config
from sayso.dialects import codenomad, fields, promptmanager
from sayso.dialects.dialect import Arguments, AskTool, Request, description
from sayso.errors import Problem

NAME = "ask_user"


def tool(config: Config) -> AskTool:
    return AskTool(
        name=NAME,
        title="Ask the user anything",
        description=description("ask_user"),
        schema=SCHEMA,
        annotations={"openWorldHint": True, "readOnlyHint": False, "idempotentHint": True, "destructiveHint": False},
        read=read,
        say_problems=say_problems,
    )


def read(arguments: Arguments, asker: Asker, config: Config) -> Request:
    problems = Problems()
    waits = not fields.boolean(problems, arguments, "nonBlocking", "", default=False)
    one, several = arguments.get("question") is not None, arguments.get("questions") is not None
    if one == several:
        both = "got both" if one else "got neither"
        problems.add("", f"give either `question` (one question) or `questions` (an array), {both}")
        problems.check()
    if one:
        new = promptmanager.read_question(problems, arguments, asker, config)
        problems.check()
        return Request(new=new, render=promptmanager.render_united, waits=waits)
    new = codenomad.read_questions(problems, arguments, asker, kind_of=_kind)
    problems.check()
    return Request(new=new, render=codenomad.render, waits=waits)


class _KindlyRead(codenomad.KindOf):
    """Without a type, options make a choice and `multiSelect` makes it several."""

    def __call__(self, problems: Problems, raw: Mapping[str, Any], path: str) -> Kind:
        several = fields.boolean(problems, raw, "multiSelect", path, default=False)
        if several and raw.get("type") in (None, "select", "multi-select"):
            return Kind.MULTI_SELECT
        if raw.get("type") is None and raw.get("options"):
            return Kind.SELECT
        return super().__call__(problems, raw, path)


_kind = _KindlyRead()


def say_problems(problems: Sequence[Problem]) -> str:
    return codenomad.say_problems(problems)


_OPTION = {
    "type": "object",
    "properties": {
        "label": {"type": "string", "description": "What the user picks, in a few words."},
        "description": {"type": "string", "description": "What choosing it means or leads to."},
        "recommended": {"type": "boolean", "description": "True for the option you would take."},
    },
    "required": ["label"],
}

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "question": {"type": "string", "description": "One question. Use this or `questions`, not both."},
        "options": {
            "type": "array",
            "items": _OPTION,
            "description": "Choices for `question`. Leave out for a free text answer.",
        },
        "multiSelect": {
            "type": "boolean",
            "default": False,
            "description": "With `question` and `options`: several may be chosen.",
        },
        "questions": {
            "type": "array",
            "minItems": 1,
            "maxItems": codenomad.MOST_QUESTIONS,
            "description": "Several questions, put to the user together and answered together.",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string", "description": "Your own name for the question, repeated in the answer."},
                    "question": {"type": "string", "description": "The question. Markdown is shown as such."},
                    "header": {"type": "string", "description": "One or two words that name the subject."},
                    "type": {
                        "type": "string",
                        "enum": [str(kind) for kind in Kind],
                        "description": "Default: select when there are options, else text.",
                    },
                    "options": {"type": "array", "items": _OPTION, "description": "For select and multi-select."},
                    "multiSelect": {"type": "boolean", "description": "The same as type multi-select."},
                    "required": {"type": "boolean", "default": True, "description": "False when it may be skipped."},
                    "placeholder": {"type": "string", "description": "Shown in an empty text field."},
                },
                "required": ["question"],
            },
        },
        "title": {"type": "string", "maxLength": codenomad.LONGEST_TITLE, "description": "What it is all about."},
        "timeout": {
            "type": "integer",
            "minimum": codenomad.TIMEOUTS[0],
            "maximum": codenomad.TIMEOUTS[1],
            "default": codenomad.DEFAULT_TIMEOUT,
            "description": "With `questions`: milliseconds to wait. The question stays open after that.",
        },
        "nonBlocking": fields.NON_BLOCKING,
    },
}
