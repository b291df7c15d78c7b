"""PromptManager's `ask_user`: one question, with or without options, answered in a sentence."""

from __future__ import annotations

from typing import Any

from sayso.asks.model import Ask, Asker, Kind, NewAsk, Option, Question, State
from sayso.config import Config
from sayso.dialects import fields, question_fields
from sayso.dialects.dialect import Arguments, AskRequest, AskTool, ToolReply, description
from sayso.dialects.outcomes import labelled, outcome_data, refusal_words, selected_labels, still_open_words
from sayso.errors import Problems

NAME = "ask_user"
TIMED_OUT = "User did not respond within the timeout period. Proceeding with your best judgment."
TIMEOUT = 300_000
ONE_AT_A_TIME = "this tool asks one question in a call. Give `question`, and `options` if you have any, once for each."


def tool(config: Config) -> AskTool:
    """The tool exactly as PromptManager has it."""
    return AskTool(
        name=NAME,
        title="Ask the user",
        description=description("ask_user_promptmanager"),
        schema=SCHEMA,
        annotations={"openWorldHint": True, "readOnlyHint": False, "destructiveHint": False},
        read=read,
    )


def read(arguments: Arguments, asker: Asker, config: Config) -> AskRequest:
    problems = Problems()
    several = fields.boolean(problems, arguments, "multiSelect", "", default=False)
    options: tuple[Option, ...] = ()
    if arguments.get("options") not in (None, []):
        limits = (1, config.ask_user_max_options)
        options = question_fields.options_as(question_fields.object_option, problems, arguments, "", limits)
    question = Question(
        id="1",
        text=fields.text(problems, arguments, ["question"], "", required=True),
        kind=Kind.TEXT if not options else Kind.MULTI_SELECT if several else Kind.SELECT,
        options=options,
    )
    if "question" not in arguments and "questions" in arguments:
        problems.add("questions", ONE_AT_A_TIME)
    problems.check()
    timeout = config.ask_user_timeout or TIMEOUT
    new = NewAsk(tool=NAME, questions=(question,), asker=asker, timeout_ms=timeout)
    return AskRequest(new=new, render=render)


def render(ask: Ask) -> ToolReply:
    """The outcome in PromptManager's words, and only those."""
    data = outcome_data(ask)
    if ask.state is State.ANSWERED:
        return ToolReply(text=_answer_words(ask), data=data)
    if ask.state is State.TIMED_OUT:
        return ToolReply(text=TIMED_OUT, data=data, is_error=True)
    return ToolReply(text=refusal_words(ask), data=data)


def render_united(ask: Ask) -> ToolReply:
    """The same beside the other dialects, where a late answer can still be had."""
    reply = render(ask)
    if ask.state is State.TIMED_OUT:
        return ToolReply(text=still_open_words(ask), data=reply.data)
    return reply


def _answer_words(ask: Ask) -> str:
    question = ask.questions[0]
    answer = ask.answer(question.id)
    assert answer is not None
    words: list[str] = []
    if chosen := selected_labels(question, answer):
        words.append("User selected: " + ", ".join(chosen))
    if answer.text is not None:
        words.append(f"User answered: {answer.text}")
    if answer.note:
        words.append(labelled("User noted: ", answer.note))
    return "\n".join(words) or "User skipped the question."


SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["question"],
    "properties": {
        "question": {"type": "string", "description": "The question to ask the user"},
        "options": {
            "type": "array",
            "description": "Optional list of choices for the user",
            "items": {
                "type": "object",
                "required": ["label"],
                "properties": {
                    "label": {"type": "string", "description": "Short label for the option"},
                    "description": {"type": "string", "description": "Longer explanation of what this option means"},
                },
            },
        },
        "multiSelect": {
            "type": "boolean",
            "default": False,
            "description": "Whether the user can select multiple options",
        },
    },
}
