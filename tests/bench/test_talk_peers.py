"""What is measured of Talk beside another page, with the stand-in for Claude and no program from npm."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.talk_peers import AIMS, Figures, SaysoTalker, Script, one_round, shown
from tests.e2e.programs.model import Json
from tests.e2e.talk.real_agents import CLAUDE
from tests.e2e.talk.stage import Stage, new_stage, permit


class Played(Script):
    """A round of the stand-in, which asks no model: it is told what to do, and is taken to have run its command."""

    def message(self) -> str:
        self.requests[self.round] = [time.time()]
        self.ran(self.round).write_text(f"{time.time_ns()}\n")
        return permit("Bash", command=f"make {self.round}")


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with new_stage(relay_dir=str(tmp_path / "relay"), run_rest="1h") as stage:
        yield stage
        assert stage.house.place.run("project", "stop").returncode == 0


def test_a_round_is_a_message_a_card_a_yes_and_the_end_of_the_turn(stage: Stage, tmp_path: Path) -> None:
    talker = SaysoTalker(stage, Played(CLAUDE, tmp_path), stage.project())
    figures = Figures(version=talker.version)
    for number in range(2):
        for what, value in one_round(talker, number).items():
            figures.took[what].append(value)
    assert [len(values) for values in figures.took.values()] == [2] * len(AIMS)
    assert len(stage.house.desk.history()) == 2
    assert talker.memory().endswith("MB a session")
    assert "| Sayso" in shown({"Sayso, Claude Code": figures})


def test_the_model_wants_one_command_for_each_message_and_then_is_done(tmp_path: Path) -> None:
    script = Script(CLAUDE, tmp_path)

    def asked(results: int) -> Json:
        content = [{"type": "tool_result", "content": "ok"}] * results
        return script({"messages": [{"role": "user", "content": content}], "tools": [{"name": "Bash"}]})

    for number in range(2):
        script.round = number
        assert asked(number)["input"]["command"].endswith(f"> {script.ran(number)}")
        assert asked(number + 1)["text"] == "Done."
    assert {number: len(times) for number, times in script.requests.items()} == {0: 1, 1: 1}
