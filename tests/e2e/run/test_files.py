"""Tool files as a server meets them: validated at start-up, left out with the reason, loaded again when they change."""

from __future__ import annotations

import json

import jsonschema
import mcp_types as types
import pytest
from mcp.server.subscriptions import ResourceUpdated, ToolsListChanged
from tests.e2e.run.kit import Place, Worker, background, data_of, eventually, text_of, tools_dir, worker, write_tool
from tests.e2e.stdio.harness import new_place

WRONG = {
    "name": "broken",
    "description": "Wrong in two places.",
    "command": "true",
    "subcommand": [{"name": "one", "description": "One.", "options": [{"name": "x", "type": "bool"}]}],
    "timeout_seconds": "long",
}


def names(one: Worker) -> list[str]:
    return [tool.name for tool in one.tools()]


@pytest.mark.requirement("H-12", "H-40", "H-49", "H-50", "H-51", "H-52", "H-53", "H-54", "H-55", "H-64")
def test_an_invalid_file_is_left_out_and_everybody_can_see_why(mode: str) -> None:
    with new_place() as place:
        background(place)
        (tools_dir(place) / "broken.json").write_text(json.dumps(WRONG, indent=1))
        (tools_dir(place) / "half.json").write_text('{"name": "half",')
        write_tool(place, "taken", command="true", subcommand=[{"name": "default", "description": "x", "sequenze": []}])
        with worker(place, mode) as one:
            assert "bg" in names(one)
            assert not {"broken_one", "half", "taken"} & set(names(one))
            told = str(one.client.instructions)
            assert "3 tool files were left out because of faults; `sayso tools validate` shows them all" in told
            for faults in (told, text_of(one.do("status")), one.read("toolfiles://left-out"), one.log.text):
                assert "subcommand[0].options[0].type: [enum] expected" in faults
                assert 'found "bool"' in faults
                assert "Did you mean `boolean`?" in faults
                assert "timeout_seconds: [type] expected" in faults
                assert "broken.json:" in faults
                assert "half.json:1: [json]" in faults
                assert "sequenze" in faults
            assert len(data_of(one.do("status"))["left_out"]) >= 4
            assert not one.do("bg", script="true").is_error


@pytest.mark.requirement("H-55")
def test_no_file_can_take_the_name_of_another_tool(place: Place) -> None:
    for name in ("status", "ask_user"):
        write_tool(place, name, command="true")
    with worker(place) as one:
        assert names(one).count("status") == 1
        assert "`status`, which Sayso itself already has" in text_of(one.do("status"))


def test_a_named_directory_that_is_not_there_is_said(place: Place) -> None:
    with worker(place, flags=["--profile", "ahma", "--tools-dir", str(place.folder / "nowhere")]) as one:
        assert names(one) == ["status", "await", "cancel", "output"]
        assert "nowhere:1: [unreadable] expected a directory of tool files" in str(one.client.instructions)


@pytest.mark.requirement("H-63")
def test_a_handshake_client_is_told_of_changed_files_and_sees_them(place: Place) -> None:
    with worker(place, "legacy") as one:
        capability = one.client.server_capabilities.tools
        assert capability
        assert capability.list_changed is True
        assert "bg" not in names(one)
        background(place)
        one.heard.wait_for(lambda each: isinstance(each, types.ToolListChangedNotification))
        assert names(one)[-5:] == ["status", "await", "cancel", "output", "bg"]
        assert not one.do("bg", script="true").is_error
        one.subscribe("toolfiles://left-out")
        (tools_dir(place) / "bg.json").write_text("{")
        one.heard.wait_for(lambda each: isinstance(each, types.ResourceUpdatedNotification))
        assert "bg.json:1: [json]" in one.read("toolfiles://left-out")
        assert "bg" not in names(one)
        assert "There is no tool 'bg'" in str(one.call("bg", {"script": "true"}).exception(30))
        background(place, description="Mended.")
        eventually(lambda: "bg" in names(one))
        assert "Mended." in str(next(tool for tool in one.tools() if tool.name == "bg").description)
        assert one.read("toolfiles://left-out") == "No tool file is left out."


@pytest.mark.requirement("H-63")
def test_a_modern_client_is_told_of_changed_files_on_its_stream(place: Place) -> None:
    background(place)
    with worker(place) as one:
        wanted = {"tools_list_changed": True, "resource_subscriptions": ["toolfiles://left-out"]}
        with one.listening(**wanted) as next_event:
            write_tool(place, "new", command="true")
            assert next_event() == ToolsListChanged()
            assert "new" in names(one)
            (tools_dir(place) / "bad.json").write_text("[]")
            assert next_event() == ResourceUpdated(uri="toolfiles://left-out")
            (tools_dir(place) / "new.json").unlink()
            assert next_event() == ToolsListChanged()
        assert "new" not in names(one)


@pytest.mark.requirement("H-68")
def test_files_of_the_first_version_still_load(place: Place) -> None:
    subs = [
        {"name": "go", "description": "Go.", "force_synchronous": True, "options": [{"name": "args", "type": "array"}]}
    ]
    write_tool(place, "old", command="echo", subcommand=subs, hints={"build": "x"}, enabled=True)
    write_tool(place, "new", command="echo", schema_version=2, synchronous=True)
    write_tool(place, "far", command="echo", schema_version=99)
    with worker(place) as one:
        assert text_of(one.do("old_go", args=["a b"])) == "go a b"
        assert text_of(one.do("new")) == "new succeeded and printed nothing."
        assert "far" not in names(one)
        assert "schema_version" in text_of(one.do("status"))


GOOD = {"name": "good", "description": "Fine.", "command": "true"}
VERDICTS = {
    "a file that is right": (GOOD, None),
    "a field that does not exist": ({**GOOD, "comand": "x"}, "unknown"),
    "a field of the wrong type": ({**GOOD, "timeout_seconds": "30"}, "type"),
    "a field that is missing": ({"name": "good", "command": "true"}, "missing"),
    "a value that is none of those allowed": ({**GOOD, "monitor_level": "loud"}, "enum"),
    "a number that is too small": ({**GOOD, "timeout_seconds": 0}, "range"),
}


@pytest.mark.requirement("H-62")
@pytest.mark.parametrize("case", VERDICTS)
def test_a_server_the_command_line_and_an_editor_give_the_same_verdict(place: Place, case: str) -> None:
    content, kind = VERDICTS[case]
    file = tools_dir(place) / "good.json"
    file.write_text(json.dumps(content))
    checked = place.run("tools", "validate", "--json")
    faults = json.loads(checked.stdout)
    assert ([fault["kind"] for fault in faults], checked.returncode) == (([kind], 1) if kind else ([], 0))
    assert place.run("tools", "validate", str(file)).returncode == checked.returncode
    schema = json.loads(place.run("tools", "schema").stdout)
    assert jsonschema.Draft202012Validator(schema).is_valid(content) is (kind is None)
    with worker(place) as one:
        assert ("good" in names(one)) is (kind is None)
        if kind:
            left_out = one.read("toolfiles://left-out")
            assert f"[{kind}]" in left_out
            assert place.run("tools", "validate").stdout.splitlines()[0] in left_out
