"""SwissArmyHammer's `question_ask` and `question_summary`: a question in the client's form, answers kept as YAML."""

from __future__ import annotations

from typing import Any

from sayso.asks.model import Problems
from sayso.dialects import fields
from sayso.dialects.dialect import Arguments, Tool, description

ASK = "question_ask"
SUMMARY = "question_summary"
NO_FORM = (
    "This tool requires client elicitation support, which is not available. Please upgrade your MCP client or manually "
    "create question files in .swissarmyhammer/questions/"
)


def ask_tool(about: str = ASK) -> Tool:
    return Tool(
        name=ASK,
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


def summary_tool(about: str = SUMMARY) -> Tool:
    return Tool(
        name=SUMMARY,
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
