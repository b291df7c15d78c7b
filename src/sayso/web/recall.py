"""What an agent was told when it had asked, from the results of the tool it asks by.

Where no history is kept, questions and answers are forgotten once they are delivered; what the agent got is part of the
conversation, and tells a card that is shown again what was answered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from sayso import untrusted_json
from sayso.agents.model import EventKind, RunEvent
from sayso.dialects import promptmanager
from sayso.text import one_line

_ASKING = f"__{promptmanager.NAME}"
_TELLING = re.compile(r"^User (selected|answered|noted): ", re.M)
_MOST_CHARACTERS = 400


def answers(events: Sequence[RunEvent]) -> Iterator[str]:
    """The answer to each question that was asked by the tool, in their order; empty where there is none yet."""
    results = {event.body["id"]: event.body["text"] for event in events if event.kind is EventKind.TOOL_RESULT}
    for event in events:
        if event.kind is EventKind.TOOL and event.body["name"].endswith(_ASKING):
            yield one_line(_words(results.get(event.body["id"], "")), _MOST_CHARACTERS)


def _words(result: str) -> str:
    """Some clients hand on the sentence, some the data beside it."""
    try:
        told = untrusted_json.loads(result)
        return "; ".join(", ".join(_parts(answer)) for answer in told["answers"])
    except (ValueError, TypeError, KeyError, AttributeError):
        return _TELLING.sub("", result)


def _parts(answer: dict[str, Any]) -> list[str]:
    said = [*answer["selected"], answer["text"], answer.get("note")]
    return [part for part in said if isinstance(part, str)]
