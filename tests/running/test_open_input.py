"""What is said to a command reaches it once and in order, whoever says it, how often, and whoever dies meanwhile."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.running.processes import PATH, PATIENCE, eventually

from sayso.running import speaking
from sayso.running.folder import read_runner
from sayso.running.launch import Launch
from sayso.running.open_input import OpenInput
from sayso.running.output import read
from sayso.running.readiness import Readiness
from sayso.running.spawner import Spawner

LONG = 150_000
"""More than a pipe takes at once."""


class Delivery(RuleBasedStateMachine):
    """Any number of speakers, each of which may die between keeping something and leaving it; one runner; one command
    that reads when it likes."""

    def __init__(self) -> None:
        super().__init__()
        self.open = contextlib.ExitStack()
        self.folder = Path(self.open.enter_context(tempfile.TemporaryDirectory()))
        self.kept: list[bytes] = []
        self.heard = b""

    @initialize()
    def start(self) -> None:
        self.input = OpenInput(str(self.folder), timeout=None)
        os.set_blocking(self.input.read_end, False)
        self.input.listen(Readiness())

    @rule(size=st.sampled_from([0, 10, LONG]))
    def keep(self, size: int) -> None:
        self.kept.append(f"{len(self.kept) + 1}:{'x' * size}\n".encode())

    @precondition(lambda self: self.kept)
    @rule(data=st.data())
    def leave_any(self, data: st.DataObject) -> None:
        """In whatever order, and as often as one likes."""
        number = data.draw(st.integers(1, len(self.kept)))
        speaking.say(self.folder, number, self.kept[number - 1])

    @rule()
    def wake(self) -> None:
        self.input.attend(self.input.bell)

    @rule()
    def listen(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while heard := os.read(self.input.read_end, 1 << 16):
                self.heard += heard
        self.input.attend(self.input.write_end)

    @rule(after=st.integers(0, 3))
    def let_rest(self, after: int) -> None:
        speaking.let_rest(self.folder, after, 100)

    @rule()
    def time_is_up(self) -> None:
        resting = bool(self.input._resting)
        if self.input.until is not None and not self.input.closed:
            assert self.input.is_over() is not resting

    @invariant()
    def each_thing_is_heard_once_and_in_order(self) -> None:
        assert b"".join(self.kept).startswith(self.heard)

    @invariant()
    def what_the_runner_notes_is_so(self) -> None:
        state = speaking.state(self.folder)
        assert state.handed_on <= state.begun <= state.handed_on + 1
        assert len(self.heard) <= len(b"".join(self.kept[: state.begun]))

    def teardown(self) -> None:
        """Whoever comes last passes on all that was kept, and then all of it is heard, unless the input was closed."""
        for number, text in enumerate(self.kept, start=1):
            speaking.say(self.folder, number, text)
        while len(self.heard) < len(b"".join(self.kept)) and not self.input.closed:
            self.wake()
            self.listen()
        noted = speaking.state(self.folder)
        if not self.input.closed:
            assert self.heard == b"".join(self.kept)
            assert noted.handed_on == len(self.kept)
        for fd in (self.input.read_end, self.input.bell, self.input._own_end, self.input.write_end):
            with contextlib.suppress(OSError):
                os.close(fd)
        self.open.close()


TestDelivery = Delivery.TestCase
TestDelivery.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)


@pytest.fixture
def spawner() -> Iterator[Spawner]:
    spawner = Spawner(pool_size=1)
    yield spawner
    spawner.stop()


def _echo(folder: Path) -> Launch:
    """A command that says what it hears, and ends when its input does."""
    told = "import sys\nfor line in sys.stdin: print('heard', line.strip(), flush=True)\nprint('end of input')"
    return Launch(folder=folder, argv=[sys.executable, "-c", told], cwd=folder.parent, env=PATH, spoken_to=True)


def _heard(folder: Path) -> list[str]:
    return read(folder, "stdout").text.splitlines()


def test_a_command_is_spoken_to_by_several_and_rests_when_all_is_said(spawner: Spawner, tmp_path: Path) -> None:
    folder = tmp_path / "op"
    speaking.say(folder, 1, b"first\n")
    ended = spawner.start_operation(_echo(folder))
    eventually(lambda: _heard(folder) == ["heard first"])
    speaking.say(folder, 3, b"third\n")
    speaking.say(folder, 2, b"second\n")
    for _ in range(2):
        speaking.say(folder, 3, b"third\n")
    eventually(lambda: _heard(folder) == ["heard first", "heard second", "heard third"])
    # Told to rest before something else was said: that counts no more.
    speaking.let_rest(folder, 2, 0)
    assert not ended.done()
    speaking.let_rest(folder, 3, 0)
    status = ended.result(PATIENCE)
    assert (status.reason, status.exit_code) == ("exit", 0)
    assert _heard(folder)[-1] == "end of input"
    assert speaking.state(folder).closed
    speaking.say(folder, 4, b"too late\n")
    assert speaking.state(folder).begun == 3, "so it may be said to another"


def test_a_command_that_is_dismissed_ends_though_somebody_lets_it_rest_in_the_same_moment(
    spawner: Spawner, tmp_path: Path
) -> None:
    folder = tmp_path / "op"
    folder.mkdir()
    # Both are there before the runner looks, as if they had come between two of its looks.
    speaking.dismiss(folder, 1)
    speaking.let_rest(folder, 1, 3600)
    speaking.say(folder, 1, b"first\n")
    ended = spawner.start_operation(_echo(folder))
    assert ended.result(PATIENCE).reason == "exit"
    assert _heard(folder) == ["heard first", "end of input"]


def test_a_command_that_was_told_more_than_who_dismissed_it_knew_goes_on(spawner: Spawner, tmp_path: Path) -> None:
    folder = tmp_path / "op"
    speaking.say(folder, 1, b"first\n")
    speaking.say(folder, 2, b"second\n")
    ended = spawner.start_operation(_echo(folder))
    eventually(lambda: _heard(folder) == ["heard first", "heard second"])
    speaking.dismiss(folder, 1)
    speaking.say(folder, 3, b"third\n")
    eventually(lambda: _heard(folder)[-1] == "heard third")
    assert not ended.done()
    speaking.dismiss(folder, 3)
    assert ended.result(PATIENCE).reason == "exit"


def test_what_a_killed_runner_had_not_begun_to_hand_on_can_be_said_to_another(spawner: Spawner, tmp_path: Path) -> None:
    folder = tmp_path / "op"
    speaking.say(folder, 1, b"first\n")
    ended = spawner.start_operation(_echo(folder))
    eventually(lambda: _heard(folder) == ["heard first"])
    runner = read_runner(folder)
    assert runner is not None
    os.kill(runner.pid, signal.SIGKILL)
    speaking.say(folder, 2, b"second\n")
    assert ended.result(PATIENCE).reason == "lost"
    assert json.loads((folder / "line.json").read_text()) == {"handed_on": 1, "begun": 1, "closed": False}
    assert _heard(folder) == ["heard first"]
    (folder / "line.json").write_bytes(b"")  # as a power cut leaves it: it may have heard everything
    assert (speaking.state(folder).begun > 2, speaking.state(folder).closed) == (True, True)
