"""What was allowed is compared with what is about to run, by the process that runs it, right before it does."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.running.processes import PATH, PATIENCE

from sayso.permissions.action import Action, ActionKind
from sayso.records import replace
from sayso.running.launch import Launch
from sayso.running.output import read
from sayso.running.program import identity
from sayso.running.spawner import Spawner

READ_ONLY = {"profile": "read-only", "network": "none", "write": [], "read": [], "hidden": [], "home": "/"}
SCRIPT = 'cat - "$1"; printf %s "$COLOUR"; pwd'


@pytest.fixture(scope="module")
def spawner() -> Iterator[Spawner]:
    spawner = Spawner(pool_size=2)
    yield spawner
    spawner.stop()


def allowed_launch(folder: Path, stdin: str = "input") -> Launch:
    """A command with everything that one can have, and the word that it was allowed so."""
    here, message, tool_file = folder / "here", folder / "message", folder / "tool.json"
    here.mkdir(parents=True)
    message.write_text(" message ")
    tool_file.write_text("{}")
    program = shutil.which("sh", path=PATH["PATH"])
    assert program
    action = Action(
        kind=ActionKind.COMMAND,
        tool="cat",
        folder=str(here),
        data={
            "argv": ["sh", "-c", SCRIPT, "sh", str(message)],
            "program": identity(program, "/"),
            "stdin": stdin,
            "files": {str(message): " message "},
            "environment": {"COLOUR": "blue"},
            "first": [],
            "tool_file": {"path": str(tool_file), "sha256": hashlib.sha256(b"{}").hexdigest()},
        },
    )
    return Launch(
        folder=folder / "op",
        argv=action.data["argv"],
        cwd=here,
        env={**PATH, "COLOUR": "blue"},
        stdin=stdin.encode(),
        allowed={"action": action.plain, "digest": action.digest, "first": None},
    )


def test_what_was_allowed_runs_with_its_input_whole(spawner: Spawner, tmp_path: Path) -> None:
    launch = allowed_launch(tmp_path)
    assert spawner.start_operation(launch).result(PATIENCE).exit_code == 0
    assert read(launch.folder, "stdout").text == f"input message blue{tmp_path}/here\n"


def _elsewhere(launch: Launch) -> Launch:
    launch.cwd.rmdir()
    launch.cwd.symlink_to(launch.cwd.parent)
    return launch


def _written(name: str) -> Callable[[Launch], Launch]:
    def change(launch: Launch) -> Launch:
        (launch.cwd.parent / name).write_text("other")
        return launch

    return change


def _found_first(launch: Launch) -> Launch:
    """The same word finds another file."""
    folder = launch.cwd.parent / "bin"
    folder.mkdir()
    (folder / "sh").write_text("#!/bin/sh\ntouch ran\n")
    (folder / "sh").chmod(0o755)
    return replace(launch, env={**launch.env, "PATH": f"{folder}:{launch.env['PATH']}"})


def _removed(launch: Launch) -> Launch:
    (launch.cwd.parent / "tool.json").unlink()
    return launch


CHANGES: dict[str, tuple[Callable[[Launch], Launch], str]] = {
    "argv": (lambda launch: replace(launch, argv=[*launch.argv, "more"]), "the command line"),
    "stdin": (lambda launch: replace(launch, stdin=b"other"), "its standard input"),
    "no stdin": (lambda launch: replace(launch, stdin=None), "its standard input"),
    "environment": (lambda launch: replace(launch, env={**PATH, "COLOUR": "red"}), "the environment variable COLOUR"),
    "file": (_written("message"), "the contents of "),
    "program": (_found_first, "the program that is found (now "),
    "folder": (_elsewhere, "the folder"),
    "tool file": (_written("tool.json"), "the tool file"),
    "no tool file": (_removed, "the tool file"),
    "sandbox": (lambda launch: replace(launch, sandbox=READ_ONLY), "the sandbox that it runs in"),
}


@pytest.mark.finding("F-16")
@pytest.mark.parametrize("changed", CHANGES)
def test_whatever_changed_since_is_refused_by_its_name(spawner: Spawner, tmp_path: Path, changed: str) -> None:
    change, named = CHANGES[changed]
    launch = change(allowed_launch(tmp_path))
    status = spawner.start_operation(launch).result(PATIENCE)
    assert (status.reason, status.exit_code) == ("cancelled", None)
    assert status.text.startswith(f"It was not run: {named}")
    assert not (launch.folder / "stdout").exists()


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(codec="utf-8"), max_size=200), st.integers(0))
def test_any_input_arrives_as_it_was_allowed(spawner: Spawner, tmp_path: Path, stdin: str, number: int) -> None:
    folder = tmp_path / hashlib.sha256(f"{stdin}{number}".encode()).hexdigest()[:20]
    if folder.exists():
        return
    launch = allowed_launch(folder, stdin)
    assert spawner.start_operation(launch).result(PATIENCE).exit_code == 0
    assert (launch.folder / "stdout").read_bytes().startswith(stdin.encode())
