"""What every dialect gives: a tool as it is listed, how its arguments are read, how an outcome is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sayso.config import Config
from sayso.errors import InvalidInput, Problem
from sayso.records import field, record

if TYPE_CHECKING:
    from sayso.asks.model import Ask, Asker, NewAsk

Arguments = Mapping[str, Any]

ASK_TOOLS = ("ask_user", "ask_user_questions", "get_answers", "question_ask", "question_summary")
"""The tools that ask a person or hand over answers, and do nothing else. Clients are told to allow them by these names,
so no tool file may take one, whichever profile is shown."""


@record
class ToolReply:
    """What the agent gets: a text, the same as data, and whether it is an error."""

    text: str
    data: dict[str, Any] | None = None
    is_error: bool = False
    message: str = ""
    """What the text says beside the answers themselves, for those who read only the data; empty: the whole text."""


@record
class Tool:
    """A tool as a client sees it."""

    name: str
    title: str
    description: str
    schema: Mapping[str, Any]
    annotations: Mapping[str, bool] = field(default_factory=dict)
    needs_form: bool = False
    """Listed only to clients that can show a form."""
    for_permissions: bool = False
    """Listed only to clients that ask for permissions by it, and hide it from the model."""
    always_loaded: bool = True
    """False for those of which there may be many: clients may leave them out until they are looked for."""


@record
class AskRequest:
    """A call that was understood: what to ask, and how its caller wants the outcome told."""

    new: NewAsk
    render: Callable[[Ask], ToolReply]
    waits: bool = True
    """False when the agent will come for the answer later."""
    is_words_alone: bool = False
    """Whether its caller takes a text and nothing beside it: of pictures it is told where they lie."""


def say_path_first(problems: Sequence[Problem]) -> str:
    return "; ".join(str(problem) for problem in problems)


@record
class AskTool(Tool):
    """A tool that puts questions to a person."""

    read: Callable[[Arguments, Asker, Config], AskRequest]
    say_problems: Callable[[Sequence[Problem]], str] = say_path_first

    def refuse(self, error: InvalidInput) -> ToolReply:
        """What was wrong with a call, as a result that a model can act on. Nothing was asked."""
        problems = [{"path": problem.path, "text": problem.text} for problem in error.problems]
        data = {"outcome": "invalid", "problems": problems}
        return ToolReply(text=self.say_problems(error.problems), data=data, is_error=True)


@cache
def description(name: str) -> str:
    """The text of `descriptions/<name>.md`."""
    return (Path(__file__).with_name("descriptions") / f"{name}.md").read_text(encoding="utf-8").strip()
