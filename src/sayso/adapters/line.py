"""What Talk and an adapter say to each other, one JSON object a line.

Talk says `{"say": WHAT, "name": NAME, "text": TEXT, "pictures": [URL, …]}`; WHAT is a value of Saying, a picture is a
data URL. The adapter says

    {"event": KIND, "body": {…}}                          something happened; see EventKind
    {"session": ID}                                       the agent's own name for the conversation
    {"taken": [NAME, …]}                                  the agent has taken up these messages
    {"done": NAME, "refused": WHY}                        it has done something else, or will not, where there is a WHY
    {"ended": {"message": …, "cost_usd": …, "turns": …}}  its turn is over; a message says why it failed

`agents/adapted.py` is the other end.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from sayso import untrusted_json
from sayso.agents.model import EventKind, NewEvent, Saying
from sayso.records import record


@record
class PersonSaid:
    """Something that a person said, by way of Talk."""

    what: Saying
    name: str
    text: str
    pictures: tuple[str, ...] = ()
    """Each as a data URL."""


def read(line: bytes) -> PersonSaid:
    """ValueError for what is no such line."""
    try:
        said = untrusted_json.loads(line)
        pictures = tuple(map(str, said.get("pictures", ())))
        text = str(said.get("text", ""))
        return PersonSaid(what=Saying(said["say"]), name=str(said["name"]), text=text, pictures=pictures)
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"not said by Talk: {error!r}") from error


class TalkLine:
    """The way to Talk. `write` takes each line whole."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write

    def tell(self, events: Iterable[NewEvent]) -> None:
        for event in events:
            self._put({"event": event.kind, "body": event.body})

    def event(self, kind: EventKind, **body: Any) -> None:
        self._put({"event": kind, "body": body})

    def session(self, name: str) -> None:
        self._put({"session": name})

    def taken(self, *names: str) -> None:
        self._put({"taken": names})

    def done(self, name: str, refused: str = "") -> None:
        self._put({"done": name, "refused": refused})

    def ended(self, message: str = "", *, cost_usd: float | None = None, turns: int | None = None) -> None:
        self._put({"ended": {"message": message, "cost_usd": cost_usd, "turns": turns}})

    def _put(self, said: dict[str, Any]) -> None:
        self._write(json.dumps(said).encode() + b"\n")
