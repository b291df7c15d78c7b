"""Tool files: which ones load, and what exactly is said about those that do not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sayso.records import fields
from sayso.toolfiles.format import SHAPES
from sayso.toolfiles.leaves import Leaf, leaves
from sayso.toolfiles.model import Fault, ToolFile
from sayso.toolfiles.toolfile import load_dir, load_file, parse

MINIMAL: dict[str, Any] = {"name": "git", "description": "Version control.", "command": "git"}


def tool(**more: Any) -> dict[str, Any]:
    return {**MINIMAL, **more}


def with_option(**option: Any) -> dict[str, Any]:
    return tool(subcommand=[{"name": "log", "description": "History.", "options": [{"name": "x", **option}]}])


def with_positional(**option: Any) -> dict[str, Any]:
    return tool(subcommand=[{"name": "log", "description": "History.", "positional_args": [{"name": "x", **option}]}])


def faults_of(document: object) -> tuple[Fault, ...]:
    found = parse(json.dumps(document, indent=2), Path("git.json"))
    return () if isinstance(found, ToolFile) else found


def loaded(document: object) -> ToolFile:
    found = parse(json.dumps(document), Path("git.json"))
    assert isinstance(found, ToolFile), [str(fault) for fault in found]
    return found


def only_fault(document: object) -> Fault:
    (fault,) = faults_of(document)
    return fault


def leaf_of(document: object, name: str) -> Leaf:
    return next(leaf for leaf in leaves(loaded(document)) if leaf.name == name)


def write(directory: Path, name: str, document: object) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / name
    file.write_text(json.dumps(document, indent=2), encoding="utf-8")
    return file


# what loads


def test_the_smallest_file_is_one_tool() -> None:
    (leaf,) = leaves(loaded(MINIMAL))
    assert (leaf.name, leaf.segments[0].words, leaf.synchronous) == ("git", ("git",), False)


def test_each_leaf_subcommand_is_one_tool_and_default_adds_no_word() -> None:
    document = tool(
        subcommand=[
            {"name": "default", "description": "Itself."},
            {"name": "status", "description": "State."},
            {
                "name": "stash",
                "description": "Aside.",
                "subcommand": [{"name": "pop", "description": "Back."}, {"name": "default", "description": "Put."}],
            },
        ]
    )
    found = {leaf.name: leaf.path for leaf in leaves(loaded(document))}
    assert found == {"git": (), "git_status": ("status",), "git_stash_pop": ("stash", "pop"), "git_stash": ("stash",)}


def test_a_disabled_subcommand_has_no_tool() -> None:
    document = tool(subcommand=[{"name": "push", "description": "Send.", "enabled": False}])
    assert leaves(loaded(document)) == ()


def test_settings_of_the_tool_hold_until_a_subcommand_says_otherwise() -> None:
    document = tool(
        timeout_seconds=60,
        synchronous=True,
        env={"A": "1", "B": "1"},
        lock="git",
        approve="once",
        subcommand=[
            {"name": "a", "description": "A."},
            {
                "name": "b",
                "description": "B.",
                "timeout_seconds": 5,
                "synchronous": False,
                "env": {"B": "2"},
                "approve": "never",
            },
        ],
    )
    a, b = leaves(loaded(document))
    assert (a.settings.timeout_seconds, a.synchronous, a.settings.env, a.approve) == (
        60,
        True,
        {"A": "1", "B": "1"},
        "once",
    )
    assert (b.settings.timeout_seconds, b.synchronous, b.settings.env, b.approve) == (
        5,
        False,
        {"A": "1", "B": "2"},
        "never",
    )
    assert b.settings.lock == "git"


def test_the_command_may_have_words_and_quotes() -> None:
    (leaf,) = leaves(loaded(tool(command="'/opt/my tools/git' --no-pager -c a=C:\\x")))
    assert leaf.segments[0].words == ("/opt/my tools/git", "--no-pager", "-c", "a=C:\\x")


def test_null_is_the_same_as_leaving_an_optional_field_out() -> None:
    assert loaded(tool(timeout_seconds=None, subcommand=None, hints=None)) == loaded(MINIMAL)


def test_a_working_directory_among_the_options_is_the_calls_own_and_no_flag() -> None:
    option = {"name": "working_directory", "type": "string", "format": "path", "description": "Here.", "required": True}
    document = tool(subcommand=[{"name": "log", "description": "History.", "options": [option]}])
    leaf = leaf_of(document, "git_log")
    assert leaf.options == ()
    assert leaf.arguments["working_directory"].required
    assert leaf.arguments["working_directory"].description == "Here."


def test_an_array_named_args_among_the_options_is_the_words_that_come_last() -> None:
    leaf = leaf_of(with_option(type="boolean") | {"subcommand": [_with_args()]}, "git_log")
    assert [spec.name for spec in leaf.positional_args] == ["args"]


def _with_args() -> dict[str, Any]:
    return {"name": "log", "description": "History.", "options": [{"name": "args", "type": "array"}]}


def test_every_field_of_the_format_reaches_the_model() -> None:
    for shape in SHAPES.values():
        targets = {field.target for field in shape.fields} - {""}
        assert targets == set(fields(shape.model)) - {"file", "content"}, shape.name


def test_probes_run_the_tools_own_check_and_the_subcommands() -> None:
    document = tool(
        availability_check={"args": ["--version"]},
        subcommand=[
            {
                "name": "lfs",
                "description": "Large.",
                "availability_check": {"args": ["-h"], "success_exit_codes": [129]},
            },
            {
                "name": "flow",
                "description": "Flow.",
                "availability_check": {"args": ["flow", "version"], "skip_subcommand_args": True},
            },
            {"name": "hub", "description": "Hub.", "availability_check": {"command": "hub", "args": ["--version"]}},
        ],
    )
    probes = {leaf.name: [probe.argv for probe in leaf.probes] for leaf in leaves(loaded(document))}
    assert probes == {
        "git_lfs": [("git", "--version"), ("git", "lfs", "-h")],
        "git_flow": [("git", "--version"), ("git", "flow", "version")],
        "git_hub": [("git", "--version"), ("hub", "--version")],
    }


@pytest.mark.requirement("H-68")
def test_files_of_every_known_version_load() -> None:
    assert loaded(MINIMAL).schema_version == 1
    assert loaded(tool(schema_version=1)).schema_version == 1
    assert loaded(tool(schema_version=2)).schema_version == 2


@pytest.mark.requirement("H-68")
def test_a_file_of_a_newer_version_is_refused_as_just_that() -> None:
    fault = only_fault(tool(schema_version=3, something_new=[1], command="' means something else now"))
    assert (fault.path, fault.kind, fault.expected, fault.actual) == (
        "schema_version",
        "enum",
        "a version up to 2",
        "3",
    )
    assert "update Sayso" in fault.suggestion


# what is said about faults


@pytest.mark.requirement("H-50", "H-51", "H-52", "H-53")
def test_a_fault_names_file_line_field_kind_expected_actual_and_remedy() -> None:
    text = """{
  "name": "git",
  "description": "Version control.",
  "command": "git",
  "subcommand": [
    {
      "name": "log",
      "description": "History.",
      "options": [
        { "name": "oneline", "type": "boolean" },
        { "name": "graph",
          "description": "Draw.",
          "type": "bool" }
      ]
    }
  ]
}"""
    found = parse(text, Path("tools/git.json"))
    assert found == (
        Fault(
            file=Path("tools/git.json"),
            line=13,
            path="subcommand[0].options[1].type",
            kind="enum",
            expected='one of "string", "boolean", "integer", "number", "array", "object"',
            actual='"bool"',
            suggestion="Did you mean `boolean`?",
        ),
    )
    assert str(found[0]).startswith("tools/git.json:13: subcommand[0].options[1].type: [enum] expected one of")


@pytest.mark.requirement("H-57")
def test_a_missing_field_is_told_at_the_object_that_lacks_it() -> None:
    text = '{\n "name": "git",\n "command": "git",\n "description": "x",\n "subcommand": [\n  {"name": "log"}]}'
    (fault,) = _faults(text)
    assert (fault.line, fault.path, fault.kind, fault.actual) == (6, "subcommand[0].description", "missing", "nothing")
    assert fault.suggestion.startswith('Add "description"')


def _faults(text: str) -> tuple[Fault, ...]:
    found = parse(text, Path("x.json"))
    assert not isinstance(found, ToolFile)
    return found


def test_all_faults_are_told_at_once_in_the_order_of_the_lines() -> None:
    document = {
        "name": "git tools",
        "description": 7,
        "comand": "git",
        "timeout_seconds": 0,
        "subcommand": [
            {"name": "log", "description": "x", "options": [{"name": "a", "type": "array", "style": "flag"}]},
            {"name": "log", "description": "x", "env": {"A-B": "x"}},
        ],
    }
    found = [(fault.path, fault.kind) for fault in faults_of(document)]
    assert found == [
        ("command", "missing"),
        ("name", "pattern"),
        ("description", "type"),
        ("comand", "unknown"),
        ("timeout_seconds", "range"),
        ("subcommand[0].options[0].style", "enum"),
        ("subcommand[1].name", "duplicate"),
        ("subcommand[1].env.A-B", "pattern"),
    ]


@pytest.mark.parametrize(
    ("change", "path", "kind", "suggestion"),
    [
        ({"comand": "x"}, "comand", "unknown", "Did you mean `command`?"),
        ({"subcommands": []}, "subcommands", "unknown", "Did you mean `subcommand`?"),
        ({"asynchronous": False}, "asynchronous", "unknown", "Use `synchronous` with the opposite value."),
        ({"synchronous": "true"}, "synchronous", "type", "Write true without quotes."),
        ({"timeout_seconds": "30"}, "timeout_seconds", "type", "Write 30 without quotes."),
        ({"timeout_seconds": True}, "timeout_seconds", "type", ""),
        ({"timeout_seconds": 1.5}, "timeout_seconds", "type", ""),
        ({"description": 5}, "description", "type", 'Put it in quotes: "5".'),
        ({"approve": True}, "approve", "type", "Write one of these, in quotes."),
        ({"success_exit_codes": 0}, "success_exit_codes", "type", "Put it in square brackets."),
        ({"success_exit_codes": []}, "success_exit_codes", "size", ""),
        ({"success_exit_codes": [0, 256]}, "success_exit_codes[1]", "range", ""),
        ({"description": ""}, "description", "size", ""),
        ({"name": None}, "name", "type", "Give it a value or remove it."),
        ({"name": "a/b"}, "name", "pattern", ""),
        ({"name": "git\n"}, "name", "pattern", ""),
        ({"tool_type": "comand"}, "tool_type", "enum", "Did you mean `command`?"),
        ({"command": "git 'x"}, "command", "pattern", ""),
        ({"command": "g\0it"}, "command", "pattern", ""),
        ({"hints": {"tests": "x"}}, "hints.tests", "unknown", "Did you mean `test`?"),
        ({"output": {"max_bytes": 10}}, "output.max_bytes", "range", ""),
    ],
)
@pytest.mark.requirement("H-50", "H-51", "H-53", "H-56", "H-58", "H-59", "H-60")
def test_each_kind_of_fault_has_its_field_and_its_remedy(
    change: dict[str, Any], path: str, kind: str, suggestion: str
) -> None:
    fault = only_fault(tool(**change))
    assert (fault.path, fault.kind) == (path, kind)
    assert fault.suggestion == suggestion or (fault.suggestion and not suggestion)


@pytest.mark.parametrize(
    ("option", "path", "kind"),
    [
        ({"type": "string", "style": "flag"}, "style", "enum"),
        ({"type": "boolean", "style": "csv"}, "style", "enum"),
        ({"type": "string", "items": {"type": "string"}}, "items", "unknown"),
        ({"type": "string", "minItems": 1}, "minItems", "unknown"),
        ({"type": "string", "minimum": 1}, "minimum", "unknown"),
        ({"type": "integer", "pattern": "x"}, "pattern", "unknown"),
        ({"type": "integer", "format": "path"}, "format", "unknown"),
        ({"type": "boolean", "enum": [True]}, "enum", "unknown"),
        ({"type": "integer", "minimum": 5, "maximum": 1}, "maximum", "range"),
        ({"type": "array", "minItems": 5, "maxItems": 1}, "maxItems", "range"),
        ({"type": "string", "pattern": "("}, "pattern", "pattern"),
        ({"type": "integer", "enum": [1, "2"]}, "enum[1]", "type"),
        ({"type": "integer", "default": "1"}, "default", "type"),
        ({"type": "string", "enum": ["a"], "default": "b"}, "default", "type"),
        ({"type": "string", "file_flag": "-F"}, "file_arg", "missing"),
        ({"type": "integer", "file_arg": True}, "file_arg", "unknown"),
        ({"type": "string", "file_arg": True, "style": "stdin"}, "style", "unknown"),
        ({"type": "string", "end_of_options": True}, "end_of_options", "unknown"),
    ],
)
def test_fields_of_an_option_that_do_not_fit_together_are_faults(option: dict[str, Any], path: str, kind: str) -> None:
    fault = only_fault(with_option(**option))
    assert (fault.path, fault.kind) == (f"subcommand[0].options[0].{path}", kind)
    assert ".." not in str(fault)


@pytest.mark.parametrize(
    ("option", "path"),
    [
        ({"type": "string", "alias": "x"}, "alias"),
        ({"type": "string", "style": "equals"}, "style"),
        ({"type": "string", "file_arg": True, "file_flag": "-F"}, "file_flag"),
    ],
)
def test_a_positional_argument_has_no_flag(option: dict[str, Any], path: str) -> None:
    assert only_fault(with_positional(**option)).path == f"subcommand[0].positional_args[0].{path}"


@pytest.mark.parametrize(
    ("subcommand", "path"),
    [
        ({"synchronous": True, "force_synchronous": False}, "subcommand[0].force_synchronous"),
        (
            {"options": [{"name": "a", "type": "string"}, {"name": "a", "type": "string"}]},
            "subcommand[0].options[1].name",
        ),
        (
            {"options": [{"name": "a", "type": "boolean", "alias": "x"}, {"name": "-x", "type": "boolean"}]},
            "subcommand[0].options[1].name",
        ),
        (
            {"options": [{"name": "a", "type": "string"}], "positional_args": [{"name": "a", "type": "string"}]},
            "subcommand[0].positional_args[0].name",
        ),
        (
            {"positional_args": [{"name": "timeout_seconds", "type": "integer"}]},
            "subcommand[0].positional_args[0].name",
        ),
        ({"options": [{"name": "timeout_seconds", "type": "string"}]}, "subcommand[0].options[0].type"),
        ({"positional_args_first": True, "end_of_options": True}, "subcommand[0].positional_args_first"),
        (
            {"stdin": "x", "options": [{"name": "a", "type": "string", "style": "stdin"}]},
            "subcommand[0].options[0].style",
        ),
        (
            {
                "positional_args": [{"name": "a", "type": "string"}],
                "subcommand": [{"name": "b", "description": "B."}],
            },
            "subcommand[0].positional_args",
        ),
        (
            {
                "options": [{"name": "a", "type": "string"}],
                "subcommand": [{"name": "b", "description": "B.", "options": [{"name": "a", "type": "string"}]}],
            },
            "subcommand[0].subcommand[0].options[0].name",
        ),
        (
            {
                "options": [{"name": "a", "type": "string", "style": "stdin"}],
                "subcommand": [{"name": "b", "description": "B."}],
            },
            "subcommand[0].options[0].style",
        ),
        ({"subcommand": [{"name": "x" * 50, "description": "B."}]}, "subcommand[0].subcommand[0].name"),
        (
            {
                "sequence": [{"tool": "git", "subcommand": "log"}],
                "options": [{"name": "a", "type": "string"}],
            },
            "subcommand[0].options",
        ),
    ],
)
def test_what_would_collide_or_be_ignored_is_a_fault(subcommand: dict[str, Any], path: str) -> None:
    assert only_fault(tool(subcommand=[{"name": "s", "description": "S.", **subcommand}])).path == path


def test_names_that_meet_only_when_joined_collide() -> None:
    document = tool(
        subcommand=[
            {"name": "a_b", "description": "x"},
            {"name": "a", "description": "x", "subcommand": [{"name": "b", "description": "x"}]},
        ]
    )
    fault = only_fault(document)
    assert (fault.path, fault.actual) == ("subcommand[1].subcommand[0].name", '"git_a_b", which is taken')


LOG: dict[str, Any] = {
    "source_command": "tail",
    "source_args": ["-f", "${file}"],
    "detection_prompt": "Crashes.",
    "llm_provider": {"base_url": "http://localhost:1/v1", "model": "m"},
    "parameters": [{"name": "file", "description": "The log.", "required": True}],
}


def test_a_followed_log_is_one_tool_with_its_parameters() -> None:
    (leaf,) = leaves(loaded(tool(tool_type="livelog", livelog=LOG)))
    assert leaf.arguments["file"].required
    assert leaf.livelog is not None


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"tool_type": "livelog"}, "livelog"),
        ({"livelog": LOG}, "livelog"),
        ({"tool_type": "livelog", "livelog": {**LOG, "source_args": ["${nope}"]}}, "livelog.source_args[0]"),
        ({"tool_type": "livelog", "livelog": {**LOG, "prefilter_regex": "("}}, "livelog.prefilter_regex"),
        (
            {"tool_type": "livelog", "livelog": {**LOG, "parameters": LOG["parameters"] * 2}},
            "livelog.parameters[1].name",
        ),
        (
            {"sequence": [{"tool": "a", "subcommand": "b"}], "subcommand": [{"name": "a", "description": "b"}]},
            "sequence",
        ),
    ],
)
def test_faults_of_logs_and_sequences_at_the_top(change: dict[str, Any], path: str) -> None:
    assert only_fault(tool(**change)).path == path


# JSON itself


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('{\n "name": "x",\n}', 2, "Remove the comma after the last element"),
        ('{\n "name": "x"\n "b": 1}', 3, "A comma or `}` is missing"),
        ("{\n // note\n}", 2, "JSON has no comments"),
        ("{'name': 1}", 1, "double quotes"),
        ('{"name" 1}', 1, "A colon is missing"),
        ('{"a": NaN}', 1, "NaN is not JSON"),
        ('{"a": 1e999}', 1, "too large"),
        ("[" * 100, 1, "Nested deeper than 64 levels"),
        ("{}\n\nx", 3, "after the end"),
        ("", 1, "Expecting value"),
    ],
)
def test_broken_json_is_told_with_its_line_and_how_to_mend_it(text: str, line: int, words: str) -> None:
    (fault,) = _faults(text)
    assert (fault.kind, fault.line) == ("json", line)
    assert words in fault.actual


def test_a_field_that_is_there_twice_is_a_fault_on_its_second_line() -> None:
    (fault,) = _faults('{"name": "x", "description": "x",\n "command": "a",\n "command": "b"}')
    assert (fault.kind, fault.line, fault.path) == ("duplicate", 3, "command")


@pytest.mark.parametrize("document", [[], 5, "x", None, True])
def test_a_file_that_is_not_an_object_is_a_fault(document: object) -> None:
    assert only_fault(document).kind == "type"


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "git.json"
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps(MINIMAL).encode())
    assert isinstance(load_file(file), ToolFile)


def test_what_is_not_utf8_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "git.json"
    file.write_bytes(b'{\n "name": "\xff"}')
    found = load_file(file)
    assert isinstance(found, tuple)
    assert (found[0].kind, found[0].line, found[0].actual) == ("encoding", 2, "the byte 0xff")


def test_a_file_over_one_mebibyte_is_refused_and_one_of_just_that_size_is_read(tmp_path: Path) -> None:
    file = tmp_path / "git.json"
    text = json.dumps(MINIMAL)
    file.write_text(text.ljust(2**20))
    assert isinstance(load_file(file), ToolFile)
    file.write_text(text.ljust(2**20 + 1))
    found = load_file(file)
    assert isinstance(found, tuple)
    assert (found[0].kind, found[0].actual) == ("size", "more")


def test_what_is_no_file_is_told_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "gone.json").symlink_to(tmp_path / "nowhere")
    found = load_dir([tmp_path])
    assert [(fault.file.name, fault.kind) for fault in found.faults] == [
        ("folder.json", "unreadable"),
        ("gone.json", "unreadable"),
        ("pipe.json", "unreadable"),
    ]


# directories


def test_only_json_files_are_read_and_an_invalid_one_does_not_stop_the_others(tmp_path: Path) -> None:
    write(tmp_path, "b.json", tool(name="b"))
    write(tmp_path, "a.json", {"name": "a"})
    write(tmp_path, "c.json", tool(name="c"))
    write(tmp_path, ".hidden.json", {"name": "h"})
    (tmp_path / "notes.txt").write_text("no JSON")
    found = load_dir([tmp_path])
    assert [loaded_tool.name for loaded_tool in found.tools] == ["b", "c"]
    assert {fault.file.name for fault in found.faults} == {"a.json"}


def test_a_disabled_tool_is_hidden(tmp_path: Path) -> None:
    write(tmp_path, "git.json", tool(enabled=False))
    found = load_dir([tmp_path])
    assert (found.tools, [hidden.name for hidden in found.hidden], found.faults) == ((), ["git"], ())


def test_the_first_of_a_name_wins_and_the_other_is_reported(tmp_path: Path) -> None:
    first = write(tmp_path / "project", "git.json", tool(description="First."))
    second = write(tmp_path / "user", "my-git.json", tool(description="Second."))
    found = load_dir([tmp_path / "project", tmp_path / "user"])
    assert [loaded_tool.description for loaded_tool in found.tools] == ["First."]
    (fault,) = found.faults
    assert (fault.file, fault.line, fault.path, fault.kind) == (second, 2, "name", "duplicate")
    assert str(first) in fault.actual


def test_a_disabled_tool_hides_one_of_the_same_name_in_a_later_directory(tmp_path: Path) -> None:
    write(tmp_path / "project", "git.json", tool(enabled=False))
    write(tmp_path / "user", "git.json", tool())
    assert load_dir([tmp_path / "project", tmp_path / "user"]).tools == ()


def test_two_files_whose_tools_get_the_same_name_do_not_both_load(tmp_path: Path) -> None:
    write(tmp_path, "a.json", tool(subcommand=[{"name": "log_all", "description": "x"}]))
    write(tmp_path, "b.json", tool(name="git_log", subcommand=[{"name": "all", "description": "x"}]))
    found = load_dir([tmp_path])
    assert [loaded_tool.name for loaded_tool in found.tools] == ["git"]
    assert "git_log_all" in found.faults[0].actual


def test_no_file_can_take_the_name_of_one_of_our_own_tools(tmp_path: Path) -> None:
    write(tmp_path, "a.json", tool(name="ask", subcommand=[{"name": "user", "description": "x"}]))
    found = load_dir([tmp_path], reserved={"ask_user"})
    assert found.tools == ()
    assert found.faults[0].actual == "`ask_user`, which Sayso itself already has"


def test_a_tool_may_be_named_like_the_first_words_of_another(tmp_path: Path) -> None:
    write(tmp_path, "a.json", tool(subcommand=[{"name": "lfs", "description": "x"}]))
    write(tmp_path, "b.json", tool(name="git_lfs", subcommand=[{"name": "pull", "description": "x"}]))
    assert load_dir([tmp_path]).faults == ()


def test_reading_tool_files_loads_no_library_but_the_standard_one() -> None:
    program = (
        "import sys\n"
        "from sayso.toolfiles import argv, guidance, schema, toolfile\n"
        "outside = {'jsonschema', 'pydantic', 'mcp', 'yaml', 'click', 'anyio'} & set(sys.modules)\n"
        "assert not outside, outside"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_a_directory_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    write(tmp_path / "real", "git.json", tool())
    found = load_dir([tmp_path / "none", tmp_path / "real"])
    assert (found.faults[0].kind, found.faults[0].file) == ("unreadable", tmp_path / "none")
    assert len(found.tools) == 1


def sequence(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"name": "all", "description": "All.", "command": "sequence", "sequence": list(steps)}


def nested_sequence(*steps: dict[str, Any]) -> dict[str, Any]:
    check = {"name": "check", "description": "Check.", "sequence": list(steps)}
    return tool(name="do", subcommand=[{"name": "all", "description": "All.", "subcommand": [check]}])


def test_a_sequence_of_known_steps_loads(tmp_path: Path) -> None:
    write(tmp_path, "git.json", with_option(type="string", required=True))
    write(tmp_path, "all.json", sequence({"tool": "git", "subcommand": "log", "args": {"x": "1"}}))
    found = load_dir([tmp_path])
    assert found.faults == ()
    assert leaves(found.tools[0])[0].sequence[0].args == {"x": "1"}


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ({"tool": "git", "subcommand": "lag"}, "Did you mean `git_log`?"),
        ({"tool": "git", "subcommand": "log", "args": {"y": 1}}, "is not an argument of git_log"),
        ({"tool": "git", "subcommand": "log", "args": {"x": 1}}, "is an integer 1. Give a string"),
        ({"tool": "all", "subcommand": "default"}, "a sequence itself"),
    ],
)
def test_a_sequence_with_a_step_that_nothing_can_run_is_not_loaded(
    tmp_path: Path, step: dict[str, Any], words: str
) -> None:
    write(tmp_path, "git.json", with_option(type="string"))
    file = write(tmp_path, "all.json", sequence({"tool": "git", "subcommand": "log"}, step))
    found = load_dir([tmp_path])
    assert [loaded_tool.name for loaded_tool in found.tools] == ["git"]
    (fault,) = found.faults
    assert (fault.file, fault.path) == (file, "sequence[1]")
    assert words in str(fault)


def test_a_broken_step_deep_in_a_file_is_told_with_its_line(tmp_path: Path) -> None:
    file = write(tmp_path, "do.json", nested_sequence({"tool": "none", "subcommand": "x"}))
    (fault,) = load_dir([tmp_path]).faults
    assert fault.path == "subcommand[0].subcommand[0].sequence[0]"
    line = file.read_text().splitlines()[fault.line - 1]
    assert line.strip() == "{"
    assert '"tool": "none"' in file.read_text().splitlines()[fault.line]


def test_what_leans_on_a_broken_file_falls_with_it(tmp_path: Path) -> None:
    broken = tool(
        name="a",
        subcommand=[
            {"name": "ok", "description": "x"},
            {"name": "bad", "description": "x", "sequence": [{"tool": "none", "subcommand": "x"}]},
        ],
    )
    write(tmp_path, "a.json", broken)
    write(tmp_path, "b.json", sequence({"tool": "a", "subcommand": "ok"}))
    found = load_dir([tmp_path])
    assert found.tools == ()
    assert len(found.faults) == 2
