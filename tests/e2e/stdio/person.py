"""The person of the end-to-end tests: a desk on the same store, in a process that is not the server's."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeVar

from sayso.asks.desk import AskDesk
from sayso.asks.model import ALLOWING, Answer, Ask, Question, Settler, State
from sayso.config import Config
from sayso.permissions.action import AllowScope
from sayso.permissions.desk import PermissionDesk
from sayso.permissions.log import PermissionLog
from sayso.store import open_store

WAIT = 60.0
"""Seconds after which anything that has not happened never will."""

T = TypeVar("T")


class Person:
    """Sees the asks of a store and settles them. `desk` is there for whatever else a surface can do."""

    def __init__(self, config: Config) -> None:
        self.settler = Settler(person="ada", surface="test")
        self.store = open_store(config)
        self._bell = self.store.bell()
        self.desk, self.log = AskDesk(self.store), PermissionLog(self.store)

    def wait_until(self, look: Callable[[], T | None], timeout: float = WAIT) -> T:
        """What `look` finds, looking again after each ring of the bell."""
        deadline = time.monotonic() + timeout
        while (found := look()) is None:
            left = deadline - time.monotonic()
            assert left > 0, f"not seen in {timeout:g} s; the inbox holds {[_subject(ask) for ask in self.inbox()]}"
            self._bell.wait(min(left, 1.0))
        return found

    def wait_for_ask(self, wanted: str | Callable[[Ask], bool], timeout: float = WAIT) -> Ask:
        """The open ask whose first question has this text, or that fits the predicate; attended by its agent."""

        def fits(ask: Ask) -> bool:
            named = _subject(ask) == wanted if isinstance(wanted, str) else wanted(ask)
            return named and ask.state is State.PENDING and ask.wait is not None

        return self.wait_until(lambda: next((ask for ask in self.inbox() if fits(ask)), None), timeout)

    def wait_for_change(self, ask: Ask, fits: Callable[[Ask], bool], timeout: float = WAIT) -> Ask:
        """The ask once it has become so."""

        def look() -> Ask | None:
            now = self.desk.get(ask.id)
            return now if fits(now) else None

        return self.wait_until(look, timeout)

    def wait_until_unattended(self, ask: Ask, timeout: float = WAIT) -> Ask:
        return self.wait_for_change(ask, lambda now: now.wait is None, timeout)

    def wait_until_delivered(self, ask: Ask, timeout: float = WAIT) -> Ask:
        return self.wait_for_change(ask, lambda now: now.delivered, timeout)

    def inbox(self) -> list[Ask]:
        return self.desk.inbox(most=100_000)

    def asks(self) -> list[Ask]:
        """Every ask of the store, open or ended."""
        return [*self.inbox(), *(ask for ask in self.desk.history(most=100_000) if not ask.state.answerable)]

    def answer(self, ask: Ask, *said: str | Answer) -> Ask:
        """Say one thing to each question: an option's label, or own words where no option is called so."""
        given = [
            each if isinstance(each, Answer) else _read(asked, each)
            for asked, each in zip(ask.questions, said, strict=True)
        ]
        return self.desk.answer(ask.id, given, self.settler) if ask.wanted is None else self._decide(ask, given[0])

    def _decide(self, ask: Ask, said: Answer) -> Ask:
        """Everything but a plain allow is a no."""
        desk = PermissionDesk(self.desk)
        if said.text is None and said.chosen and said.chosen[0] in ALLOWING:
            scope = AllowScope.SESSION if said.chosen[0] == "always" else None
            return desk.allow(ask.id, ask.digest, self.settler, scope)
        return desk.deny(ask.id, self.settler, " ".join(part for part in (said.text, said.note) if part))

    def reject(self, ask: Ask, reason: str = "") -> Ask:
        return self.desk.reject(ask.id, reason, self.settler)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.store.close()


def _read(asked: Question, said: str) -> Answer:
    chosen = tuple(option.id for option in asked.choices if option.label == said)
    return Answer(question=asked.id, chosen=chosen) if chosen else Answer(question=asked.id, text=said)


def _subject(ask: Ask) -> str:
    return ask.questions[0].text if ask.questions else ""
