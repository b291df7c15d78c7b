"""What tool files make: one tool for each subcommand, with its schema and the words that guide a model."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import mcp_types as types
import pytest
from tests.e2e.run.kit import Place, background, data_of, text_of, tools_dir, worker, write_project_tool, write_tool
from tests.e2e.stdio.harness import MODES, new_place
from tests.trusting import trust

from sayso.toolfiles.guidance import BACKGROUND
from sayso.toolfiles.toolfile import ready_files

CARGO = {
    "command": "cargo",
    "subcommand": [
        {
            "name": "build",
            "description": "Compile the project.",
            "options": [
                {"name": "release", "type": "boolean", "description": "Optimize."},
                {"name": "jobs", "type": "integer", "minimum": 1},
                {"name": "profile", "type": "string", "enum": ["dev", "release"], "default": "dev"},
                {"name": "features", "type": "array", "items": {"type": "string"}, "maxItems": 3},
                {"name": "manifest", "type": "string", "required": True, "pattern": "toml$"},
                {"name": "config", "type": "object"},
                {"name": "ratio", "type": "number"},
            ],
        },
        {"name": "version", "description": "Show the version.", "synchronous": True},
        {"name": "secret", "description": "Hidden.", "enabled": False},
        {
            "name": "nextest",
            "description": "Better tests.",
            "subcommand": [{"name": "run", "description": "Run the tests.", "annotations": {"readOnlyHint": True}}],
        },
    ],
}


@pytest.fixture(scope="module")
def cargo_place() -> Iterator[Place]:
    with new_place() as place:
        write_tool(place, "cargo", **CARGO)
        write_tool(place, "hidden", command="true", enabled=False)
        (tools_dir(place) / "notes.txt").write_text("not a tool file")
        (tools_dir(place) / "old.json.bak").write_text("{")
        write_project_tool(place, "shared", command="true")
        write_project_tool(place, "cargo", command="true")
        trust(place.state, place.project)
        yield place


@pytest.fixture(scope="module", params=MODES)
def tools(request: pytest.FixtureRequest, cargo_place: Place) -> dict[str, types.Tool]:
    with worker(cargo_place, request.param, flags=["--profile", "ahma"]) as one:
        assert one.client.server_info
        assert one.client.server_info.name == "ahma"
        return {tool.name: tool for tool in one.tools()}


@pytest.mark.requirement("H-10", "H-11", "H-12", "H-13", "H-15", "H-16", "H-17")
def test_each_enabled_subcommand_of_each_file_is_one_tool_named_after_it(tools: dict[str, types.Tool]) -> None:
    operations = ["status", "await", "cancel", "output"]
    assert list(tools) == [*operations, "cargo_build", "cargo_version", "cargo_nextest_run", "shared"]


@pytest.mark.requirement("H-18", "H-19", "H-20", "H-21", "H-22", "H-56", "H-57", "H-58", "H-59", "H-60")
def test_the_schema_says_what_the_options_are(tools: dict[str, types.Tool]) -> None:
    schema = tools["cargo_build"].input_schema
    properties = schema["properties"]
    assert properties["release"] == {"type": "boolean", "description": "Optimize."}
    assert properties["jobs"] == {"type": "integer", "minimum": 1}
    assert properties["profile"] == {"type": "string", "enum": ["dev", "release"], "default": "dev"}
    assert properties["features"] == {"type": "array", "items": {"type": "string"}, "maxItems": 3}
    assert properties["manifest"] == {"type": "string", "pattern": "toml$"}
    assert (properties["config"]["type"], properties["ratio"]["type"]) == ("object", "number")
    assert schema["required"] == ["manifest"]
    assert schema["additionalProperties"] is False
    assert {"working_directory", "timeout_seconds", "execution_mode"} <= properties.keys()
    assert tools["cargo_nextest_run"].annotations
    assert tools["cargo_nextest_run"].annotations.read_only_hint is True


@pytest.mark.requirement("H-29", "H-45")
def test_every_background_tool_carries_the_same_guidance_to_go_on_with_other_work(
    tools: dict[str, types.Tool],
) -> None:
    for name in ("cargo_build", "cargo_nextest_run", "shared"):
        assert str(tools[name].description).endswith(BACKGROUND)
    assert "Go on with work that does not need it." in BACKGROUND
    assert tools["cargo_build"].description == f"Compile the project.\n\n{BACKGROUND}"


@pytest.mark.requirement("H-34")
def test_a_synchronous_tool_says_nothing_of_background_ids_or_tracking(tools: dict[str, types.Tool]) -> None:
    assert tools["cargo_version"].description == "Show the version."
    told = json.dumps(tools["cargo_version"].model_dump(mode="json"))
    assert not re.search(r"(?i)async|operation|background|execution_mode", told)


@pytest.mark.requirement("H-30", "H-31", "H-47")
def test_waiting_is_possible_and_strongly_discouraged_but_for_final_validation(tools: dict[str, types.Tool]) -> None:
    told = str(tools["await"].description)
    assert "Avoid this tool" in told
    assert "final validation of the project alone" in told
    assert "no productive work remains" in told


def test_the_tools_for_operations_take_an_id(tools: dict[str, types.Tool]) -> None:
    for name in ("status", "await", "cancel", "output"):
        assert tools[name].input_schema["properties"]["id"]["type"] == "string"


@pytest.mark.requirement("H-48")
def test_descriptions_are_imperative_and_never_shout(tools: dict[str, types.Tool]) -> None:
    for tool in tools.values():
        told = str(tool.description)
        assert not re.search(r"\b[A-Z]{4,}\b|!|(?i:\b(?:must always|never ever|important|critical)\b)", told), told
        assert "lock file" not in told
        assert len(told) < 2048
    assert [str(tools[name].description).split()[0] for name in ("status", "await", "cancel", "output")] == [
        *("Show", "Wait", "Stop", "Read")
    ]


def test_no_schema_has_alternatives_at_its_top(tools: dict[str, types.Tool]) -> None:
    for tool in tools.values():
        assert not {"oneOf", "anyOf", "allOf"} & tool.input_schema.keys()


def test_beside_the_ask_tools_they_are_shown_only_where_there_are_tool_files(place: Place) -> None:
    with worker(place) as one:
        asking = [tool.name for tool in one.tools()]
        assert "ask_user" in asking
        assert not {"status", "await", "cancel", "output"} & set(asking)
        assert "commands in the project" not in str(one.client.instructions)
    background(place)
    with worker(place) as one:
        assert [tool.name for tool in one.tools()] == [*asking, "status", "await", "cancel", "output", "bg"]
        assert "run commands in the project" in str(one.client.instructions)


def test_a_named_directory_takes_the_place_of_all_others(cargo_place: Place, tmp_path: Path) -> None:
    other = {"name": "other", "description": "Another.", "command": "true"}
    (tmp_path / "other.json").write_text(json.dumps(other))
    for flags, settings in ((["--tools-dir", str(tmp_path)], {}), ([], {"SAYSO_TOOLS_DIR": str(tmp_path)})):
        with worker(cargo_place, flags=["--profile", "ahma", *flags], environment=settings) as one:
            assert [tool.name for tool in one.tools()][4:] == ["other"]


def test_the_user_may_leave_out_what_the_project_brings(cargo_place: Place) -> None:
    with worker(cargo_place, environment={"SAYSO_TOOLS_FROM_PROJECT": "false"}) as one:
        names = [tool.name for tool in one.tools()]
        assert "cargo_build" in names
        assert "shared" not in names
        unknown = one.call("shared", {})
        assert "There is no tool 'shared'. The tools are ask_user," in str(unknown.exception(30))


@pytest.mark.requirement("H-01", "H-63")
def test_the_ready_made_files_are_served_as_they_are(place: Place) -> None:
    for name, file in ready_files().items():
        (tools_dir(place) / f"{name}.json").write_text(file.read_text())
    with worker(place, flags=["--profile", "ahma"]) as one:
        names = {tool.name for tool in one.tools()}
        assert {"cargo_build", "git_commit", "npm_install", "pytest", "docker_ps", "gh_pr_list"} <= names
        subprocess.run(["git", "init", "-q", place.project], check=True)
        (place.project / "new file.txt").touch()
        assert "new file.txt" in text_of(one.do("git_status"))


PREFIX = {
    "name": "default",
    "description": "Run code.",
    "options": [{"name": "code", "type": "string", "alias": "-c", "required": True}],
}


@pytest.mark.finding("F-45")
def test_programs_of_an_activated_virtual_environment_are_found_though_the_profile_sets_path_afresh(
    place: Place, mode: str
) -> None:
    venv = place.folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    program = venv / "bin" / "only-here"
    program.write_text(f"#!{venv}/bin/python\nimport os, sys\nprint(sys.prefix, os.environ['FROM_LOGIN'])\n")
    program.chmod(0o700)
    (place.home / ".bash_profile").write_text("export PATH=/usr/local/bin:/usr/bin:/bin FROM_LOGIN=yes\n")
    write_tool(place, "here", command="only-here", synchronous=True)
    write_tool(place, "which", command="python", synchronous=True, subcommand=[PREFIX])
    activated = {
        "PATH": f"{venv / 'bin'}:{place.environment['PATH']}",
        "VIRTUAL_ENV": str(venv),
        "SHELL": "/bin/bash",
    }
    with worker(place, mode, environment=activated) as one:
        assert data_of(one.do("here"))["stdout"] == f"{venv} yes\n"
        assert data_of(one.do("which", code="import sys; print(sys.prefix)"))["stdout"] == f"{venv}\n"
    with worker(place, mode, environment={"SHELL": "/bin/bash"}) as one:
        assert "'only-here' was not found on PATH" in text_of(one.do("here"))
