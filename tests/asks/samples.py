"""Asks, people and a clock for the tests."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable

from sayso.asks.desk import Retention
from sayso.asks.model import Answer, Asker, Kind, NewAsk, Option, Question, Settler
from sayso.asks.table import AskTable
from sayso.clock import now_ms
from sayso.config import Config
from sayso.dialects import approve
from sayso.process_table import started
from sayso.records import replace
from sayso.store import Store, Transaction

ANNA = Settler(person="anna", surface="terminal")
BEN = Settler(person="ben", surface="browser")

AGENT = Asker(
    client="an-agent",
    version="1.2",
    session="a-session",
    project="/home/anna/shop",
    host="workbench",
    pid=4242,
    started="17",
    agent="",
)

HOUR = 3_600_000
DAY = 24 * HOUR
KEEP = Retention(ended=7 * DAY, undelivered=30 * DAY, unattended=7 * DAY)

COLOUR = Question(
    id="1",
    text="Which colour?",
    title="Colour",
    kind=Kind.SELECT,
    options=(Option(id="1", label="Red", description="warm"), Option(id="2", label="Blue", recommended=True)),
)

RED = (Answer(question="1", chosen=("1",)),)
BLUE = (Answer(question="1", chosen=("2",)),)


class FakeClock:
    """Time that passes only when it is told to."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_000

    def __call__(self) -> int:
        return self.now

    def forward(self, milliseconds: int) -> None:
        self.now += milliseconds


def living(**about: str) -> Asker:
    """A session of Claude Code on this machine that lives as long as the test."""
    here = {"host": socket.gethostname(), "started": started(os.getpid())}
    return Asker(client="claude-code", pid=os.getpid(), **here, **about)


def never_twice(clock: Callable[[], int]) -> Callable[[], int]:
    """A clock by which no two asks are of the same age, so that their order is known."""
    last = 0

    def now() -> int:
        nonlocal last
        last = max(last + 1, clock())
        return last

    return now


def flood(store: Store, asker: Asker, count: int) -> None:
    """So many asks of one agent in one moment, which nobody waits for."""

    def work(tx: Transaction) -> None:
        for number in range(count):
            AskTable(tx, now_ms() + number - count).open(ask(f"Noise {number}?", asker=asker), None, "")

    store.write(work)


def ask(text: str = COLOUR.text, *, asker: Asker = AGENT, timeout_ms: int | None = None, title: str = "") -> NewAsk:
    """A call with one question."""
    question = replace(COLOUR, text=text)
    return NewAsk(tool="ask_user_questions", questions=(question,), asker=asker, timeout_ms=timeout_ms, title=title)


def own_text(text: str) -> tuple[Answer, ...]:
    return (Answer(question="1", text=text),)


def permission_ask(wanted: approve.Permission, asker: Asker) -> NewAsk:
    """What a client's own tool asks for, where no rule has a say."""
    return approve.ask_for(approve.wanted_action(wanted, asker.project, None), asker, Config())
