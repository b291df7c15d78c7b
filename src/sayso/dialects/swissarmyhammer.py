"""SwissArmyHammer's `question_ask` and `question_summary`: a question in the client's form, answers kept as YAML."""

from __future__ import annotations

from typing import Any

from sayso.dialects import fields
from sayso.dialects.dialect import Arguments
from sayso.errors import Problems

NO_FORM = (
    "This tool requires client elicitation support, which is not available. Please upgrade your MCP client or manually "
    "create question files in .swissarmyhammer/questions/"
)


def read_question(arguments: Arguments) -> str:
    problems = Problems()
    question = fields.text(problems, arguments, ["question"], "", required=True)
    if unknown := sorted(arguments.keys() - {"question"}):
        problems.add(
            unknown[0], "is not known here. The only field is `question`, one text; ask one question per call."
        )
    problems.check()
    return question


def read_limit(arguments: Arguments) -> int | None:
    value = arguments.get("limit")
    if value is None:
        return None
    problems = Problems()
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if not whole or isinstance(value, bool) or value < 0:
        problems.add("limit", f"expected a whole number from 0, got {fields.given(value)}.")
    problems.check()
    return int(value)


def form_schema(question: str) -> dict[str, Any]:
    """The form that the client is asked to show."""
    return {
        "type": "object",
        "properties": {"answer": {"type": "string", "description": question}},
        "required": ["answer"],
    }
