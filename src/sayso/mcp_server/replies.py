"""Replies as the protocol's tool results. Every end of a call is one of these; nothing here asks or waits."""

from __future__ import annotations

from sayso.asks.model import Ask
from sayso.dialects.dialect import Tool, ToolReply
from sayso.dialects.outcomes import STILL_WAITING, outcome_data, whose_words
from sayso.errors import SaysoError
from sayso.protocol.results import ToolResult


def result(reply: ToolReply) -> ToolResult:
    data = reply.data
    if data and "outcome" in data:
        # Some clients give the model only this: whose answer it is and what to do next must be in it.
        message = reply.message or (
            whose_words(data.get("surface", "")) if data["outcome"] == "answered" else reply.text
        )
        data = {"message": message, **data}
    return ToolResult(reply.text, data, is_error=reply.is_error)


def pending(ask: Ask) -> ToolResult:
    """Not an answer and not an error: the question is open, and how to come back for it."""
    data = {**outcome_data(ask), "outcome": "pending"}
    return result(ToolReply(text=STILL_WAITING.format(ask_id=ask.id), data=data))


def say_stopping(told: ToolResult) -> None:
    """That whoever comes back at once may find nobody: what the model would see then is its client's own error."""
    add(told, "stopping", "Sayso is stopping or being restarted: if your next call fails, make it again after a while.")


def failure(error: SaysoError) -> ToolResult:
    """A fault of ours or of the machine's, as a result."""
    return _failure(str(error))


def fault(tool: Tool | None) -> ToolResult:
    """A fault in Sayso itself: what it was is in the log, and no business of the model's. A question stays open; what
    asks for a permission, or before a command, ends with its call."""
    stays = " If a question was open, it stays open." if tool and not tool.for_permissions else ""
    return _failure(f"Sayso failed on this call; its log says why.{stays}")


def add(told: ToolResult, name: str, text: str) -> None:
    """One more sentence, for those who read the text and for those who read the data. What has none gets none: some
    clients show the model nothing but the data of a result that has any."""
    told.say_after(text)
    if told.data is not None:
        told.data = {**told.data, name: text}


def _failure(what: str) -> ToolResult:
    data = {"outcome": "failed", "error": what}
    return result(ToolReply(text=f"{what} No answer was given; do not assume one.", data=data, is_error=True))
