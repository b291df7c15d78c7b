"""What happens in a soak, drawn from its seed alone: which faults come when, and what each agent does turn by turn.

Equal seeds give equal plans. How the processes interleave is the machine's business and differs from run to run.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

PAUSE = 1.5
"""Seconds between two faults, on average."""

DAY = 86_400
"""Seconds. Clocks jump less far than the week for which unattended asks are kept."""


class Kind(StrEnum):
    """What goes wrong."""

    KILL = "kill an agent's server"
    KILL_RUNNER = "kill a runner of a command"
    KILL_WEB = "kill the web server"
    STALL = "stop a server for a while"
    FILL = "leave a server no room on the disk for a while"
    CLOCK = "let a server's clock jump"
    SWEEP = "sweep the sockets of the bell away"
    RESTART = "pull the plug of the store for a while"


COMMON = {
    Kind.KILL: 8,
    Kind.KILL_RUNNER: 2,
    Kind.KILL_WEB: 1,
    Kind.STALL: 3,
    Kind.FILL: 3,
    Kind.CLOCK: 3,
}
ON_SQLITE: Mapping[Kind, int] = {**COMMON, Kind.SWEEP: 1}
ON_POSTGRES: Mapping[Kind, int] = {**COMMON, Kind.RESTART: 1}


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One thing that goes wrong, `at` so many seconds after the beginning."""

    at: float
    kind: Kind
    agent: int
    lasts: float
    jump: int
    room: int

    def __str__(self) -> str:
        more = {
            Kind.STALL: f", {self.lasts:.1f} s",
            Kind.FILL: f", {self.lasts:.1f} s, {self.room} bytes",
            Kind.CLOCK: f", {self.jump:+} s",
            Kind.RESTART: f", {self.lasts:.1f} s",
        }.get(self.kind, "")
        return f"{self.at:6.1f} s  {self.kind} (agent {self.agent}{more})"


def faults(seed: int, seconds: float, agents: int, weights: Mapping[Kind, int]) -> Iterator[Fault]:
    """The faults of a soak, the earliest first. The first seconds are quiet, so that there is something to disturb."""
    chance = random.Random(f"{seed} faults")
    at = min(3.0, seconds / 4)
    while (at := at + chance.expovariate(1 / PAUSE)) < seconds:
        yield Fault(
            at=at,
            kind=chance.choices(list(weights), list(weights.values()))[0],
            agent=chance.randrange(agents),
            lasts=chance.uniform(0.2, 2.0),
            jump=chance.choice([-DAY, -3600, -60, -1, 1, 60, 3600, DAY]),
            room=chance.choice([0, 4096, 65_536]),
        )


class Manner(StrEnum):
    """How an agent goes about a question."""

    PLAIN = "plain"
    SLOW = "slow"
    """People take so long that the call's own limit, or the client's, is over first."""
    CANCEL = "cancel"
    """The client lets go of the call and makes it again."""
    LEAVE = "leave"
    """The client closes the pipe, starts another server and makes the call again."""
    COMMON = "common"
    """All agents ask it word for word."""


@dataclass(frozen=True, kw_only=True)
class Question:
    name: str
    manner: Manner
    after: float
    """Seconds until the client cancels or leaves."""


@dataclass(frozen=True, kw_only=True)
class Command:
    name: str
    seconds: float
    background: bool
    cancelled: bool


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What an agent does at the same time."""

    questions: tuple[Question, ...]
    commands: tuple[Command, ...]


def turns(seed: int, agent: int) -> Iterator[Turn]:
    """What an agent does, for ever."""
    chance = random.Random(f"{seed} agent {agent}")
    number = 0
    while True:
        number += 1
        asked = [_question(chance, f"{agent}.{number}.{part}", number) for part in range(chance.randint(1, 3))]
        run = [_command(chance, f"command-{agent}-{number}")] if chance.random() < 0.6 else []
        yield Turn(questions=tuple(asked), commands=tuple(run))


def _question(chance: random.Random, name: str, turn: int) -> Question:
    manner = chance.choices(list(Manner), [6, 2, 2, 1, 1])[0]
    # One to a turn at most: the same question twice at a time would be two asks.
    if manner is Manner.COMMON and name.endswith(".0"):
        name = f"common.{turn}"
    return Question(name=name, manner=manner, after=chance.uniform(0.0, 0.5))


def _command(chance: random.Random, name: str) -> Command:
    return Command(
        name=name,
        seconds=round(chance.uniform(0, 1.5), 2),
        background=chance.random() < 0.7,
        cancelled=chance.random() < 0.2,
    )
