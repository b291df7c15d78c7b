"""What a client program tells the test, and the replies the test gives to forms. No processes here."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Json = dict[str, Any]


class ClientError(Exception):
    """The client program could not do what the test asked."""


class ClientGone(ClientError):
    """The client program has ended."""


class CallFailed(ClientError):
    """A request ended with an error, as the client library reports it."""

    def __init__(self, code: int | str | None, message: str, data: Any) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.data = data


class CallCancelled(CallFailed):
    """The test itself cancelled this call."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """One line from the client program: `done`, `failed`, `progress`, `elicitation`, `withdrawn`, `log`,
    `tools_changed` or `closed`."""

    kind: str
    fields: Json

    def about(self, key: str) -> bool:
        return self.fields.get("id") == key or self.fields.get("form") == key


@dataclass(frozen=True, kw_only=True)
class Connected:
    """What the client learned by connecting."""

    protocol_version: str
    server_info: Json | None
    capabilities: Json
    instructions: str | None


@dataclass(frozen=True, kw_only=True)
class CallResult:
    """A tool's result as the client library gave it to the program."""

    content: list[Json]
    structured: Any
    is_error: bool
    meta: Json | None

    @property
    def text(self) -> str:
        return "".join(part["text"] for part in self.content if part["type"] == "text")


@dataclass(frozen=True, kw_only=True)
class Elicitation:
    """A form (or a link) that the server asked the client to show. `form` names it in `reply`."""

    form: str
    message: str
    mode: str
    schema: Json | None
    url: str | None


@dataclass(frozen=True, kw_only=True)
class Progress:
    """One progress notification, as the library's own callback got it."""

    progress: float
    total: float | None
    message: str | None


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What the program does with a form, after so many milliseconds."""

    action: Literal["accept", "decline", "cancel", "hold", "error"]
    content: Json | None = None
    message: str | None = None
    after_ms: int = 0

    def as_json(self) -> Json:
        return asdict(self)


DECLINE = Reply(action="decline")
CANCEL = Reply(action="cancel")
HOLD = Reply(action="hold")
"""Leave the form open until the test calls `reply`."""


def accept(content: Json | None = None, *, after_ms: int = 400) -> Reply:
    """Fill in the form, as fast as a person may on the shared machine of the tests."""
    return Reply(action="accept", content=content, after_ms=after_ms)


def refuse(message: str) -> Reply:
    """Answer the request for a form with a protocol error."""
    return Reply(action="error", message=message)


@dataclass(kw_only=True)
class EventLog:
    """Every event in the order it came; a thread adds, the test takes."""

    _events: list[Event] = field(default_factory=list)
    _taken: set[int] = field(default_factory=set)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _ended: bool = False

    def add(self, event: Event) -> None:
        with self._changed:
            self._events.append(event)
            self._changed.notify_all()

    def end(self) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def all(self, kind: str) -> list[Event]:
        with self._changed:
            return [event for event in self._events if event.kind == kind]

    def take(self, predicate: Callable[[Event], bool], timeout: float) -> Event:
        """The first event that fits and that no one took before. Raises TimeoutError, or ClientGone at the end."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while (found := self._first(predicate)) is None:
                if self._ended:
                    raise ClientGone("the client program has ended")
                if not self._changed.wait(deadline - time.monotonic()):
                    raise TimeoutError(f"no such event within {timeout} s")
            self._taken.add(found)
            return self._events[found]

    def _first(self, predicate: Callable[[Event], bool]) -> int | None:
        fitting = (n for n, event in enumerate(self._events) if n not in self._taken and predicate(event))
        return next(fitting, None)
