"""What a call would do, as an action."""

from __future__ import annotations

from pathlib import Path

from sayso.operations.wanted_action import place_among_first, programs
from sayso.permissions.action import Action, ActionKind


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
        {"kind": "command", "tool": name, "folder": "/", "data": {"argv": [name], "program": [f"/bin/{name}"]}}
        for name in ("make", "cargo")
    ]
    action = Action(kind=ActionKind.SEQUENCE, tool="both", folder="/", data={"steps": steps})
    assert list(programs(action)) == [("make", "/bin/make"), ("cargo", "/bin/cargo")]
