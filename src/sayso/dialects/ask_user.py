"""The united `ask_user`: takes CodeNomad's form, PromptManager's, and that of Claude's own AskUserQuestion.

The result's form follows the call's: `questions` gets JSON of four fields, `question` a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sayso.asks.model import Asker, Kind, NewAsk, Question
from sayso.config import Config
from sayso.dialects import codenomad, fields, promptmanager, question_fields
from sayso.dialects.dialect import Arguments, AskRequest
from sayso.dialects.tools import ASK_USER as NAME
from sayso.errors import Problems

_QUESTION = ("question", "prompt")


def read(arguments: Arguments, asker: Asker, config: Config) -> AskRequest:
    problems = Problems()
    waits = not fields.boolean(problems, arguments, "nonBlocking", "", default=False)
    one = any(arguments.get(name) is not None for name in _QUESTION)
    several = arguments.get("questions") is not None and not (one and arguments["questions"] == [])
    if one == several:
        both = "got both" if one else "got neither"
        problems.add("", f"give either `question` (one question) or `questions` (an array), {both}")
        problems.check()
    if one:
        new, render = _read_one(problems, arguments, asker, config), promptmanager.render_united
    else:
        new = codenomad.read_questions(problems, arguments, asker, config, _KINDLY, config.ask_user_timeout)
        render = codenomad.render_united
    problems.check()
    return AskRequest(new=new, render=render, waits=waits)


def _read_one(problems: Problems, arguments: Arguments, asker: Asker, config: Config) -> NewAsk:
    kind = _kind(problems, arguments, "")
    limits = (1, config.ask_user_max_options)
    question = Question(
        id="1",
        text=fields.text(problems, arguments, _QUESTION, "", required=True),
        title=fields.text(problems, arguments, ["header"], "", required=False),
        kind=kind,
        options=codenomad.read_options(problems, arguments, "", kind, limits, question_fields.any_option),
        placeholder=fields.text(problems, arguments, ["placeholder"], "", required=False),
    )
    return NewAsk(
        tool=NAME,
        questions=(question,),
        asker=asker,
        title=codenomad.read_title(problems, arguments),
        timeout_ms=codenomad.read_timeout(problems, arguments, config.ask_user_timeout),
    )


def _kind(problems: Problems, raw: Mapping[str, Any], path: str) -> Kind:
    """Without a type, options make a choice; `multiSelect` makes it several."""
    several = fields.boolean(problems, raw, "multiSelect", path, default=False)
    kind = codenomad.declared_kind(problems, raw, path)
    if raw.get("type") is None and raw.get("options"):
        kind = Kind.SELECT
    return Kind.MULTI_SELECT if several and kind is Kind.SELECT else kind


_KINDLY = codenomad.Style(kind=_kind, option=question_fields.any_option, text=_QUESTION, title=("title", "header"))
