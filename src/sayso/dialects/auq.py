"""AUQ's `ask_user_questions`: one to four multiple-choice questions, answered together."""

from __future__ import annotations

from sayso.asks.model import Ask, Asker, NewAsk, State
from sayso.config import Config
from sayso.dialects import fields, question_fields
from sayso.dialects.dialect import Arguments, AskRequest, ToolReply
from sayso.dialects.outcomes import answers_as_words, outcome_data, refusal_words, timeout_words
from sayso.dialects.tools import ASK_USER_QUESTIONS as NAME
from sayso.errors import Problems


def read(arguments: Arguments, asker: Asker, config: Config) -> AskRequest:
    """What the arguments ask for; an InvalidInput names every wrong field."""
    problems = Problems()
    new = _read_questions(problems, arguments, asker, config)
    if arguments.get("nonBlocking"):
        problems.add("nonBlocking", "expected to be left out: this tool always waits for the answer.")
    problems.check()
    return AskRequest(new=new, render=render)


def read_united(arguments: Arguments, asker: Asker, config: Config) -> AskRequest:
    problems = Problems()
    new = _read_questions(problems, arguments, asker, config)
    waits = not fields.boolean(problems, arguments, "nonBlocking", "", default=False)
    problems.check()
    return AskRequest(new=new, render=render, waits=waits)


def _read_questions(problems: Problems, arguments: Arguments, asker: Asker, config: Config) -> NewAsk:
    raw = arguments.get("questions")
    if raw == []:
        problems.add("questions", "At least one question is required")
    if isinstance(raw, list) and len(raw) > config.max_questions:
        problems.add("questions", f"expected 1 to {config.max_questions} questions, got {len(raw)}. Ask in two calls.")
    found = question_fields.array_of_objects(problems, arguments, "questions")
    questions = tuple(
        question_fields.choice_question(problems, raw, path, str(number), (2, config.max_options))
        for number, (path, raw) in enumerate(found, start=1)
    )
    return NewAsk(tool=NAME, questions=questions, asker=asker, timeout_ms=config.ask_timeout)


def render(ask: Ask) -> ToolReply:
    """The outcome in words; a timeout is an error, a person's no is not."""
    data = outcome_data(ask)
    if ask.state is State.ANSWERED:
        return ToolReply(text=f"Here are the user's answers:\n\n{answers_as_words(ask)}", data=data)
    if ask.state is State.TIMED_OUT:
        return ToolReply(text=timeout_words(ask), data=data, is_error=True)
    return ToolReply(text=refusal_words(ask), data=data)
