"""What a call would do, as an action."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.operations.test_sandbox_of_order import Prepared, order, tool

from sayso.config import Config
from sayso.operations.wanted_action import WantedActions, place_among_first, programs
from sayso.permissions.action import Action, ActionKind
from sayso.toolfiles.catalog import CommandTool


def test_a_command_that_runs_first_is_known_by_its_words_and_its_folder(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    folders = [str(tmp_path), str(tmp_path / "sub")]
    first = [{"argv": ["make", "-v"], "program": [], "folder": folder} for folder in folders]
    action = Action(kind=ActionKind.COMMAND, tool="make", folder=str(tmp_path), data={"argv": ["make"], "first": first})
    assert [place_among_first(action, ("make", "-v"), Path(folder)) for folder in folders] == [0, 1]
    assert place_among_first(action, ("make", "-v"), tmp_path / "moved") == 0, "its runner then names the folder"
    assert place_among_first(action, ("make", "-V"), tmp_path) is None


def test_the_programs_of_a_sequence_are_those_of_its_steps() -> None:
    steps = [
        {"kind": "command", "tool": name, "folder": "/", "data": {"argv": [name], "program": [f"/nowhere/{name}"]}}
        for name in ("make", "cargo")
    ]
    action = Action(kind=ActionKind.SEQUENCE, tool="both", folder="/", data={"steps": steps})
    assert list(programs(action)) == [("make", "/nowhere/make"), ("cargo", "/nowhere/cargo")]


def test_a_program_and_what_runs_before_it_are_known_by_their_files_and_when_those_were_touched(tmp_path: Path) -> None:
    def named(folder: str) -> tuple[tuple[object, ...], ...]:
        program = tmp_path / folder / "run.sh"
        described = {"argv": ["./run.sh"], "program": [str(program)], "folder": str(program.parent)}
        data = {**described, "first": [described]}
        found = tuple(programs(Action(kind=ActionKind.COMMAND, tool="run", folder=folder, data=data)))
        assert found[0] == found[1]
        later = Action(kind=ActionKind.SEQUENCE, tool="both", folder=folder, data={"steps": [_step(data), _step(data)]})
        assert list(programs(later))[-1] == ("./run.sh", str(program)), "an earlier step may have made it"
        return found

    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "run.sh").write_text("true")
    before = named("one")
    assert named("one") == before
    assert named("two") != before
    (tmp_path / "new").write_text("false")
    (tmp_path / "new").rename(tmp_path / "one" / "run.sh")
    assert named("one") != before


def _step(data: Mapping[str, object]) -> dict[str, object]:
    return {"kind": "command", "tool": "run", "folder": "/", "data": data}


def test_an_earlier_step_may_bring_the_program_of_a_later_one_and_of_the_steps_of_that(tmp_path: Path) -> None:
    config = Config(project=tmp_path, user_dir=tmp_path / "mine", state_dir=tmp_path / "state")

    def sequence(name: str, *steps: str) -> CommandTool:
        called = [{"tool": step, "subcommand": "default"} for step in steps]
        return tool(config.user_tools_dir, name, sequence=called)

    missing = [tool(config.user_tools_dir, name, command="no-such-program") for name in ("early", "late", "deep")]
    tools = {each.name: each for each in [*missing, sequence("inner", "deep")]}
    whole, folder = order(config, sequence("whole", "early", "late", "inner")), config.operations_dir / "op"
    action = WantedActions(config, tools, Prepared(config)).of(whole, whole.command(config, folder), folder)
    early, late, inner = (step["data"] for step in action.data["steps"])
    assert early["program"] == [], "nothing runs before the first: it has to be there"
    assert late["program"] is None
    assert inner["steps"][0]["data"]["program"] is None
