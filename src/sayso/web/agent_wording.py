"""How an agent at work is told on a page: what it waits for, runs, or was last seen at. Plain text only."""

from __future__ import annotations

from collections.abc import Callable

from sayso.operations.operation import Operation
from sayso.roster import AgentAtWork
from sayso.text import one_line
from sayso.web.wording import NAME_WIDTH, Standing, headline

Words = Callable[[Operation], str]


def standing(agent: AgentAtWork) -> Standing:
    """In the words and tones of conversations. Of one whose session cannot be read it is not known whether it works."""
    if agent.waits:
        return Standing(word="Waits for you", tone="late")
    if agent.open:
        return Standing(word="Has a question open", tone="late")
    if agent.commands:
        return Standing(word="Running a command", tone="waiting")
    if agent.in_turn:
        return Standing(word="At work", tone="waiting")
    return Standing(word="Open" if agent.in_turn is None else "Quiet", tone="quiet")


def moved_at(agent: AgentAtWork) -> int:
    """When it was last heard of."""
    return max(agent.seen_at, agent.said_at)


def doing(agent: AgentAtWork, words: Words) -> str:
    """In one line."""
    if agent.asks:
        return headline(agent.asks[0])
    if agent.commands:
        operation = agent.commands[0]
        return one_line(words(operation), 300) or one_line(operation.tool, 100)
    if agent.said:
        return agent.said
    return f"Last: {one_line(agent.doing, 200)}" if agent.doing else "Asks nothing right now"


def name(agent: AgentAtWork) -> str:
    """Tells it from others of its client, wherever it is told."""
    return f"session {one_line(agent.name, NAME_WIDTH)}"
