"""Permissions while everything happens at once: verdicts on two surfaces, withdrawals, limits, kill -9. Whatever ran
was allowed, once, as it ran. The audit reads what the commands themselves wrote down.

`make race` plays it with 1,000 actions; ACTIONS and SEED choose.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.run.kit import Place, write_tool
from tests.e2e.stdio.harness import new_place
from tests.e2e.stdio.log import Log
from tests.e2e.stdio.person import Person
from tests.e2e.stdio.pipe import Pipe

from sayso.asks.model import Ask
from sayso.chain import LogKind
from sayso.permissions.action import action_of
from sayso.permissions.verdict import Decision, verdict_of

ACTIONS = int(os.environ.get("SAYSO_RACE_ACTIONS", "60"))
SEED = os.environ.get("SAYSO_RACE_SEED", "7")
AGENTS = 2
MOST_OPEN = 12
ROOT = Path(__file__).parents[3]
RECORDER = """#!/bin/sh
read -r said
printf '%s|%s|%s\\n' "$1" "$said" "$PWD" >>"{record}"
"""


@dataclass(frozen=True)
class Executed:
    """What a command wrote down of itself."""

    token: str
    said: str
    folder: str


class RacingAgent:
    """Has a server of its own, calls, lets go of calls, and loses its server now and then."""

    def __init__(self, place: Place, number: int, actions: int) -> None:
        self._place, self._number, self._actions = place, number, actions
        self._rolls = random.Random(f"{SEED} {number}")
        self._open: list[int] = []
        self.fault: BaseException | None = None

    def run(self) -> None:
        try:
            self._run()
        except BaseException as error:
            self.fault = error

    def _run(self) -> None:
        for part in self._parts():
            with self._server() as pipe:
                pipe.connect("2025-11-25")
                self._open = []
                for action in part:
                    self._call(pipe, action)
                if part[-1] == self._actions - 1:
                    self._hear_until(pipe, 0)
                    pipe.request("tools/call", name="await", arguments={})
                else:
                    self._hear_until(pipe, self._rolls.randrange(len(self._open) + 1))
                    pipe.process.kill()

    def _parts(self) -> list[range]:
        """The actions of each server: it is killed after the last of them, whatever is open then."""
        ends = sorted(self._rolls.sample(range(1, self._actions), max(1, self._actions // 50)))
        return [range(*ends_of) for ends_of in zip([0, *ends], [*ends, self._actions], strict=True)]

    def _call(self, pipe: Pipe, action: int) -> None:
        token = f"{self._number}-{action}"
        tool = self._rolls.choice(["waited", "waited", "later"])
        self._open.append(pipe.begin("tools/call", name=tool, arguments={"token": token, "said": f"input of {token}"}))
        if self._rolls.random() < 0.2:
            pipe.cancel(self._open.pop(self._rolls.randrange(len(self._open))))
        self._hear_until(pipe, MOST_OPEN)

    def _hear_until(self, pipe: Pipe, most: int) -> None:
        """Take what comes until no more calls than this are open."""
        while len(self._open) > most:
            message = pipe.next()
            if "method" not in message and message["id"] in self._open:
                self._open.remove(message["id"])

    @contextmanager
    def _server(self) -> Iterator[Pipe]:
        # One of them cannot wait for long: its calls end before anybody has decided.
        limit = {"SAYSO_CALL_LIMITS": "tester=1s"} if self._number == 0 else {}
        argv, environment = [str(Path(sys.executable).parent / "sayso"), "server"], {**self._place.environment, **limit}
        with Log() as log:
            process = subprocess.Popen(
                argv,
                cwd=self._place.project,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log.writer,
                bufsize=0,
            )
            log.close_our_end()
            pipe = Pipe(process, log)
            try:
                yield pipe
            finally:
                pipe.end()


@contextmanager
def surface(place: Place, seed: str) -> Iterator[subprocess.Popen[bytes]]:
    """Somebody who decides, until they are killed."""
    argv = [sys.executable, "-m", "tests.e2e.run.deciding", seed]
    environment = {**place.environment, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(argv, cwd=place.project, env=environment)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def recording(place: Place) -> Path:
    """Two tools that write down what they were really run with."""
    record, program = place.folder / "ran", place.folder / "recorder"
    record.touch()
    program.write_text(RECORDER.format(record=record))
    program.chmod(0o700)
    token = {"name": "token", "type": "string", "required": True}
    said = {"name": "said", "type": "string", "style": "stdin"}
    for name, fields in (("waited", {"synchronous": True}), ("later", {})):
        default: dict[str, Any] = {"name": "default", "description": "Record.", "positional_args": [token], **fields}
        sub = [{**default, "options": [said], "approve": "always"}]
        write_tool(place, name, command=str(program), schema_version=2, subcommand=sub)
    return record


@pytest.mark.finding("F-13", "F-14")
def test_whatever_ran_was_allowed_once_and_as_it_ran_and_nothing_else_did() -> None:
    with new_place(max_open_asks="100000", max_open_commands="100000", command_grace="200ms") as place:
        record = recording(place)
        agents = [RacingAgent(place, number, ACTIONS // AGENTS) for number in range(AGENTS)]
        threads = [threading.Thread(target=agent.run, daemon=True) for agent in agents]
        with place.person() as person, surface(place, f"{SEED} a"):
            with surface(place, f"{SEED} b"):
                for thread in threads:
                    thread.start()
                threads[0].join()
            # The second person was killed in the middle of whatever they did; a third takes over.
            with surface(place, f"{SEED} c"):
                for thread in threads:
                    thread.join()
                person.wait_until(lambda: person.desk.release_the_dead() or True if not person.inbox() else None)
            assert [agent.fault for agent in agents] == [None] * AGENTS
            executed = [Executed(*line.split("|")) for line in record.read_text().splitlines()]
            found = audit(person.asks(), executed)
            check_log(person, executed)
            for ask in (ask for ask in person.asks() if _decision(ask) is Decision.ALLOWED):
                assert [event.kind for event in person.desk.events(ask.id)].count("allowed") == 1
    print(found)
    assert found["ran"] > 0
    assert found["denied"] > 0


def audit(asks: list[Ask], executed: list[Executed]) -> Counter[str]:
    """Every execution has its one allow, for the digest of exactly what ran. How many there were of each kind."""
    by_token: dict[str, list[Ask]] = {}
    for ask in asks:
        action = action_of(ask)
        assert action
        by_token.setdefault(action.data["argv"][-1], []).append(ask)
    for one in executed:
        (ask,) = by_token[one.token]
        verdict, action = verdict_of(ask), action_of(ask)
        assert verdict
        assert action
        assert verdict.allows(action), f"{one} ran, and its permission is {verdict.decision}"
        assert (action.data["stdin"], action.folder) == (one.said, one.folder)
    assert max(Counter(one.token for one in executed).values()) == 1, "an allow is for one execution"
    found = Counter(str(_decision(ask)) for ask in asks)
    return found + Counter(ran=len(executed))


def check_log(person: Person, executed: list[Executed]) -> None:
    """Whoever was killed at whatever moment: each execution is logged, under its one allow, and the log is whole."""
    found = person.log.check()
    assert found.whole, found.faults
    outcomes = [one for one in person.log.outcomes(most=100_000) if one.entry.event.kind is LogKind.ALLOWED]
    logged = {outcome.entry.event.title.split()[-1]: outcome for outcome in outcomes}
    for one in executed:
        outcome = logged[one.token]
        assert [run.entry.event.digest for run in outcome.executions] == [outcome.entry.event.digest]
        assert outcome.ran == 1


def _decision(ask: Ask) -> Decision | None:
    verdict = verdict_of(ask)
    return verdict.decision if verdict else None
