"""Two hundred permissions of the real Claude Code in a row, while gates, clients and the store are killed at random.

Each permission has its number, and each number its fate, which the seed alone decides: `SAYSO_GATE_SEED=7
SAYSO_GATE_FROM=120` plays the same from there. At the end everything that ran is held against what a person has said.
`make test-clients` runs this file.
"""

from __future__ import annotations

import itertools
import os
import random
import signal
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.cli.program import SOMEONE
from tests.e2e.programs.machine import Machine
from tests.e2e.programs.model import Json, Model, say, told, use
from tests.e2e.programs.real_gate import CLAUDE, DIALOG, MANUAL, installed
from tests.e2e.programs.seats import Client, Interactive, at_work, until

from sayso import process_table
from sayso.asks.desk import AskDesk
from sayso.asks.model import Ask, State
from sayso.chain import LogKind
from sayso.errors import AlreadySettled, NotFound
from sayso.permissions.desk import PermissionDesk
from sayso.permissions.log import PermissionLog
from sayso.store.sqlite import BUSY_SECONDS, SqliteStore

ROUNDS = int(os.environ.get("SAYSO_GATE_ROUNDS", "200"))
SEED = int(os.environ.get("SAYSO_GATE_SEED", "16"))
FROM = int(os.environ.get("SAYSO_GATE_FROM", "0"))
PATIENCE = 150.0
"""Seconds for a session to go on, on a busy machine. A gate waits for a store for 60 s, and 10 s for who writes."""
GATE_BEGINS = 15.0
"""Seconds within which a gate is there for a dialog."""
TOO_LONG = BUSY_SECONDS + 3
"""Seconds for which a store is locked that a gate does not wait out."""

_places = itertools.count()

FATES = {
    "allow": 6,
    "deny": 3,
    "kill the gate": 3,
    "kill the client": 2,
    "allow, and kill the gate": 3,
    "allow, and kill the client": 1,
    "lock the store for a moment": 2,
    "allow, and lock the store": 1,
    "lock the store before it asks": 1,
    "move the store away": 2,
    "move the store away and back": 2,
    "yes in the terminal": 2,
    "no in the terminal": 1,
    "deny, and yes in the terminal": 1,
    "allow, and no in the terminal": 1,
}
"""What may become of a permission, and how often beside the others."""


@dataclass(frozen=True, kw_only=True)
class Round:
    """One permission."""

    number: int
    command: str

    @property
    def chance(self) -> random.Random:
        return random.Random(f"{SEED} {self.number}")

    @property
    def fate(self) -> str:
        return self.chance.choices(list(FATES), list(FATES.values()))[0]


@dataclass(kw_only=True)
class Trial:
    """All permissions, and what the person has said to them."""

    machine: Machine
    rounds: list[Round]
    said: dict[int, float] = field(default_factory=dict)
    """When the person began to say yes to which number."""
    digests: dict[int, str] = field(default_factory=dict)
    """Of what they have said yes to in the inbox; to the others in the terminal."""
    moved: list[Path] = field(default_factory=list)
    longest: dict[str, float] = field(default_factory=dict)
    """Seconds until a session went on after each fate."""
    locks: list[threading.Thread] = field(default_factory=list)

    @property
    def state(self) -> Path:
        return self.machine.home.state

    @contextmanager
    def desk(self) -> Iterator[AskDesk]:
        with self.machine.home.desk() as desk:
            yield desk

    def open(self) -> list[Ask]:
        with self.desk() as desk:
            return [ask for ask in desk.inbox() if ask.state is State.PENDING and ask.wait]

    def gates(self) -> list[int]:
        mine = process_table.carrying(f"HOME={self.machine.home.folder}")
        return [each.pid for each in mine if "gate" in process_table.command_line(each.pid)]

    def looks(self) -> str:
        """How things stand."""
        with self.desk() as desk:
            asks = [(ask.id[:8], ask.state.value, ask.server, _command(ask)) for ask in desk.inbox()]
        return f"The gates {self.gates()} and the asks {asks} are there;"

    def begin(self, each: Round) -> None:
        """Just before the model wants it."""
        if each.fate == "lock the store before it asks":
            self.lock(TOO_LONG)

    def lock(self, seconds: float) -> None:
        """Nobody can write for so long."""
        locked = threading.Event()

        def hold() -> None:
            with closing(sqlite3.connect(self.state / "sayso.db", isolation_level=None, timeout=30)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                locked.set()
                threading.Event().wait(seconds)
                connection.execute("ROLLBACK")

        thread = threading.Thread(target=hold)
        thread.start()
        self.locks.append(thread)
        assert locked.wait(30)

    def unlocked(self) -> None:
        for thread in self.locks:
            thread.join()
        self.locks.clear()

    def move_away(self) -> Path:
        place = self.machine.home.folder / f"state-{next(_places)}"
        self.state.rename(place)
        return place

    def move_back(self, place: Path) -> None:
        """In the place of whatever a gate has made there meanwhile."""

        def is_back() -> bool:
            with suppress(OSError):
                self.moved.append(self.move_away())
            with suppress(OSError):
                place.rename(self.state)
            return not place.exists()

        until(PATIENCE, is_back, lambda: "the store to be back")


@dataclass(kw_only=True)
class Sitting:
    """One session of the client, in which some of the permissions come one after the other."""

    trial: Trial
    client: Client
    model: Model
    rounds: list[Round]
    is_over: bool = False
    alone_since: float = 0.0

    @property
    def in_terminal(self) -> bool:
        return isinstance(self.client, Interactive)

    def play(self) -> int:
        """How many of them it came to."""
        for place, each in enumerate(self.rounds):
            ask = self.asked(each, place)
            began = time.monotonic()
            if ask:
                self.befall(each, ask)
            self.trial.unlocked()
            if self.is_over:
                return place + 1
            self.go_on(each, place)
            name = each.fate
            self.trial.longest[name] = max(self.trial.longest.get(name, 0), time.monotonic() - began)
        return len(self.rounds)

    def asked(self, each: Round, place: int) -> Ask | None:
        """What stands in the inbox for it; None where the client has to do without."""
        found: list[Ask] = []
        self.alone_since = time.monotonic()

        def look() -> bool:
            found[:] = [ask for ask in self.trial.open() if _command(ask) == each.command]
            return bool(found) or self.went_on(place) or self.has_dialog_alone()

        until(PATIENCE, look, lambda: f"{each}: {each.fate}; {self.trial.looks()} it shows\n{self.client.shows()}")
        return found[0] if found else None

    def has_dialog_alone(self) -> bool:
        """Whether its gate has given up, so that the client's own dialog is all there is. It begins with the dialog."""
        if not self.in_terminal or self.trial.gates() or not self.shows_dialog():
            self.alone_since = time.monotonic()
        return time.monotonic() - self.alone_since > GATE_BEGINS

    def shows_dialog(self) -> bool:
        return DIALOG in self.client.shows()

    def went_on(self, place: int) -> bool:
        """Whether the model was told of the result of this one."""
        return any(len(told(request).results) > place for request in self.model.requests[-1:])

    def befall(self, each: Round, ask: Ask) -> None:
        chance, gate = each.chance, int(ask.server.partition("-")[0])
        chance.random()
        match each.fate:
            case "allow" | "lock the store before it asks":
                self.allow(each, ask)
            case "deny":
                self.deny(ask)
            case "kill the gate":
                _kill(gate)
            case "kill the client":
                self.kill_client(ask)
            case "allow, and kill the gate":
                self.allow(each, ask)
                threading.Event().wait(chance.random() * 0.05)
                _kill(gate)
            case "allow, and kill the client":
                self.allow(each, ask)
                threading.Event().wait(chance.random() * 0.2)
                self.kill_client(ask)
            case "lock the store for a moment":
                self.trial.lock(chance.random() * 3)
                self.allow(each, ask)
            case "allow, and lock the store":
                self.allow(each, ask)
                self.trial.lock(TOO_LONG)
            case "move the store away":
                self.trial.moved.append(self.trial.move_away())
            case "move the store away and back":
                place = self.trial.move_away()
                threading.Event().wait(chance.random() * 2)
                self.trial.move_back(place)
                self.allow(each, ask)
            case "yes in the terminal":
                self.wait_for_dialog()
                self.in_the_terminal(each, "1")
            case "no in the terminal":
                self.wait_for_dialog()
                self.in_the_terminal(each, "Escape")
            case "deny, and yes in the terminal":
                self.deny(ask)
                self.in_the_terminal(each, "1")
            case "allow, and no in the terminal":
                self.allow(each, ask)
                self.in_the_terminal(each, "Escape")

    def allow(self, each: Round, ask: Ask) -> None:
        with self.trial.desk() as desk:
            self.trial.said.setdefault(each.number, time.time())
            self.trial.digests.setdefault(each.number, ask.digest)
            with suppress(AlreadySettled, NotFound):
                PermissionDesk(desk).allow(ask.id, ask.digest, SOMEONE)

    def deny(self, ask: Ask) -> None:
        with self.trial.desk() as desk, suppress(AlreadySettled, NotFound):
            PermissionDesk(desk).deny(ask.id, SOMEONE)

    def kill_client(self, ask: Ask) -> None:
        _kill(ask.asker.pid)
        self.is_over = True

    def wait_for_dialog(self) -> None:
        """It may be drawn later than its gate has asked."""
        if self.in_terminal:
            until(PATIENCE, self.shows_dialog, lambda: f"the dialog; it shows\n{self.client.shows()}")

    def in_the_terminal(self, each: Round, key: str) -> None:
        """Nothing where there is none: then the inbox has to do, and says no."""
        if not isinstance(self.client, Interactive):
            for ask in self.trial.open():
                self.deny(ask)
        elif self.shows_dialog():
            if key == "1":
                self.trial.said.setdefault(each.number, time.time())
            self.client.press(key)

    def go_on(self, each: Round, place: int) -> None:
        """The session must not hang. In a terminal its own dialog may be all that is left; then the person says no
        there, and goes on."""
        nudged = [time.monotonic()]

        def look() -> bool:
            if self.went_on(place) or self.client.has_ended:
                return True
            if self.in_terminal and not self.trial.open() and time.monotonic() - nudged[0] > 3:
                nudged[0] = time.monotonic()
                if self.shows_dialog():
                    self.in_the_terminal(each, "Escape")
                elif "nterrupted" in self.client.shows():
                    self.client.nudge()
            return False

        until(
            PATIENCE,
            look,
            lambda: f"it to go on after {each}: {each.fate}; {self.trial.looks()} it shows\n{self.client.shows()}",
        )


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _command(ask: Ask) -> str:
    assert ask.wanted is not None
    return str(ask.wanted["action"]["data"]["input"]["command"])


@contextmanager
def sitting(trial: Trial, rounds: list[Round]) -> Iterator[Sitting]:
    modes = ("headless", "headless", "interactive")
    mode = random.Random(f"{SEED} session {rounds[0].number}").choice(modes)

    def script(request: Json) -> Json:
        done = len(told(request).results)
        if done == len(rounds):
            return say("Done.")
        trial.begin(rounds[done])
        given = {"command": rounds[done].command, "description": "Note a number"}
        return use("Bash", f"toolu_{rounds[done].number}", given)

    with (
        Model(script).serving() as model,
        at_work(CLAUDE, mode, trial.machine.home, model.url, MANUAL) as client,
    ):
        yield Sitting(trial=trial, client=client, model=model, rounds=rounds)


def recorder(machine: Machine) -> tuple[Path, Path]:
    """A program that notes which number it was started for, and when; and where it notes that."""
    program, notes = machine.home.project / "note", machine.home.folder / "ran"
    program.write_text(f'#!/bin/sh\necho "$1 $(date +%s.%N)" >> {notes}\n')
    program.chmod(0o755)
    notes.touch()
    return program, notes


def test_however_gates_clients_and_stores_are_killed_nothing_runs_that_nobody_allowed(machine: Machine) -> None:
    home = installed(machine)
    program, notes = recorder(machine)
    rounds = [Round(number=number, command=f"{program} {number}") for number in range(FROM, ROUNDS)]
    trial = Trial(machine=machine, rounds=rounds)
    sittings = 0
    while rounds:
        with sitting(trial, rounds) as one:
            rounds = rounds[one.play() :]
        sittings += 1
        until(PATIENCE, lambda: not trial.gates(), lambda: f"the gates {trial.gates()} to end with their session")
    ran = {int(number): float(at) for number, at in (line.split() for line in notes.read_text().splitlines())}
    told_of = f"seed {SEED}, in {sittings} sessions: {Counter(each.fate for each in trial.rounds)}"
    print(told_of, f"ran {len(ran)}, said yes {len(trial.said)}", trial.longest, sep="\n")
    assert len(ran) == len(notes.read_text().splitlines()), "each of them at most once"
    assert [number for number, at in ran.items() if at < trial.said.get(number, at + 1)] == [], told_of
    handed_over: set[str] = set()
    for state in filter(_has_store, (home.state, *trial.moved)):
        with closing(SqliteStore(state / "sayso.db", state / "bell")) as store:
            _nothing_dangles(store)
            handed_over |= _handed_over(store)
    assert {trial.digests[number] for number in ran if number in trial.digests} <= handed_over


def _has_store(state: Path) -> bool:
    return (state / "sayso.db").exists()


def _nothing_dangles(store: SqliteStore) -> None:
    desk = AskDesk(store)
    desk.release_the_dead()
    assert [ask for ask in desk.inbox() if ask.state is State.PENDING] == []


def _handed_over(store: SqliteStore) -> set[str]:
    """By the log. Each allow in it names the person, and what was handed over was allowed before."""
    log, digests = PermissionLog(store), set[str]()
    assert log.check().whole
    for one in log.outcomes(most=1000):
        event = one.entry.event
        if event.kind is LogKind.ALLOWED:
            assert (event.person, event.surface) == (SOMEONE.person, SOMEONE.surface)
        for execution in one.executions:
            assert event.kind is LogKind.ALLOWED
            assert execution.entry.event.digest == event.digest
            assert execution.entry.seq > one.entry.seq
            digests.add(event.digest)
    return digests
