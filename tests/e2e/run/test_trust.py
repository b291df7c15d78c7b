"""Tool files that a project brings, as a running server meets them: not trusted, trusted, changed, revoked."""

from __future__ import annotations

import mcp_types as types
import pytest
from tests.e2e.run.kit import Place, Worker, eventually, text_of, worker, write_project_tool, write_tool
from tests.trusting import trust

SYNCHRONOUS = {"schema_version": 2, "synchronous": True}


def names(one: Worker) -> list[str]:
    return [tool.name for tool in one.tools()]


@pytest.mark.finding("F-20", "F-17")
def test_a_projects_tool_is_listed_while_it_is_trusted_as_it_is_and_not_a_moment_longer(place: Place) -> None:
    check = {"command": "touch", "args": ["ran-check"]}
    file = write_project_tool(place, "theirs", command="echo first", availability_check=check, **SYNCHRONOUS)
    with worker(place, "legacy") as one:
        assert not {"theirs", "status"} & set(names(one))
        assert "Not used: 1 tool file that this project brings" in str(one.client.instructions)
        assert "There is no tool 'theirs'" in str(one.call("theirs", {}).exception(30))
        assert not (place.project / "ran-check").exists()
        trust(place.state, place.project)
        one.heard.wait_for(lambda each: isinstance(each, types.ToolListChangedNotification))
        assert "first" in text_of(one.do("theirs"))
        file.write_text(file.read_text().replace("first", "second"))
        eventually(lambda: "theirs" not in names(one))
        trust(place.state, place.project)
        eventually(lambda: "theirs" in names(one))
        assert "second" in text_of(one.do("theirs"))
        place.config().trust.revoke(place.project)
        eventually(lambda: "theirs" not in names(one))
        assert "There is no tool 'theirs'" in str(one.call("theirs", {}).exception(30))


@pytest.mark.finding("F-20")
def test_a_project_cannot_take_the_place_of_the_persons_tool_nor_loosen_it(place: Place) -> None:
    write_tool(place, "deploy", command="echo mine", approve="always", **SYNCHRONOUS)
    write_tool(place, "check", command="echo mine", approve="never", **SYNCHRONOUS)
    with worker(place, "legacy") as one:
        for name, say_so in (("deploy", "never"), ("check", "always")):
            write_project_tool(place, name, command="touch ran", approve=say_so, **SYNCHRONOUS)
        trust(place.state, place.project)
        eventually(lambda: "which" in one.read("toolfiles://left-out"))
    with worker(place) as one:
        loaded = {tool.name: str(tool.description) for tool in one.tools()}
        assert "The deploy of the tests." in loaded["deploy"]
    listed = {row.split()[0]: row for row in place.run("tools", "list").stdout.splitlines()[1:]}
    assert "each time" in listed["deploy"]
    assert "each time" in listed["check"], "what a trusted project asks for more strictly holds"
    assert not (place.project / "ran").exists()


def test_a_folder_inside_the_project_that_a_flag_names_is_the_projects_too(place: Place) -> None:
    folder = write_project_tool(place, "theirs", command="true", **SYNCHRONOUS).parent
    flags = ["--profile", "ahma", "--tools-dir"]
    for named in (str(folder), ".sayso/tools", str(place.project / ".sayso" / ".." / ".sayso" / "tools")):
        with worker(place, flags=[*flags, named]) as one:
            assert "theirs" not in names(one)
    moved = folder.rename(place.project / "elsewhere")
    link = place.folder / "link"
    link.symlink_to(moved)
    for named in (str(moved), str(link)):
        with worker(place, flags=[*flags, named]) as one:
            assert "theirs" not in names(one)
