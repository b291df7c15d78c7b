"""From the arguments of a call to a command: what is refused, and what a real program then gets to see."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.errors import InvalidInput
from sayso.toolfiles.argv import Invocation, build_argv, check_arguments
from sayso.toolfiles.leaves import Leaf, leaves
from sayso.toolfiles.model import ToolFile
from sayso.toolfiles.toolfile import parse

ECHO = "import json, sys; json.dump(sys.argv[1:], sys.stdout)"


def leaf_with(
    options: list[dict[str, Any]] | None = None,
    positional_args: list[dict[str, Any]] | None = None,
    tool: dict[str, Any] | None = None,
    **subcommand: Any,
) -> Leaf:
    parts = {"options": options or [], "positional_args": positional_args or [], **subcommand}
    document = {
        "name": "t",
        "description": "T.",
        "command": "t",
        "subcommand": [{"name": "do", "description": "Do.", **parts}],
        **(tool or {}),
    }
    found = parse(json.dumps(document), Path("t.json"))
    assert isinstance(found, ToolFile), [str(fault) for fault in found]
    return leaves(found)[0]


def command(leaf: Leaf, arguments: dict[str, Any], root: Path | None = None) -> Invocation:
    project = root or Path("/")
    return build_argv(leaf, arguments, project=project, roots=[project], folder=project / "operation")


def argv(leaf: Leaf, **arguments: Any) -> list[str]:
    return list(command(leaf, arguments).argv)


def refusal(leaf: Leaf, arguments: dict[str, Any], root: Path | None = None) -> dict[str, str]:
    with pytest.raises(InvalidInput) as caught:
        command(leaf, arguments, root)
    return {problem.path: problem.text for problem in caught.value.problems}


def text(name: str = "x", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": "string", **more}


def array(name: str = "x", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": "array", **more}


# the words


def test_words_come_in_the_order_of_the_file_not_of_the_call() -> None:
    leaf = leaf_with([text("a"), text("b")], [text("p"), text("q")])
    assert argv(leaf, q="4", b="2", p="3", a="1") == ["t", "do", "--a", "1", "--b", "2", "3", "4"]


def test_positional_arguments_come_first_where_the_file_says_so() -> None:
    leaf = leaf_with([text("-name")], [text("path")], positional_args_first=True)
    assert argv(leaf, **{"-name": "*.py", "path": "src"}) == ["t", "do", "src", "-name", "*.py"]


def test_options_of_a_group_stand_right_after_its_word() -> None:
    up = {"name": "up", "description": "Up.", "options": [{"name": "detach", "type": "boolean"}]}
    leaf = leaf_with([text("file")], subcommand=[up])
    assert argv(leaf, detach=True, file="c.yml") == ["t", "do", "--file", "c.yml", "up", "--detach"]


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ({"type": "boolean"}, True, ["--x"]),
        ({"type": "boolean"}, False, []),
        ({"type": "boolean", "alias": "b"}, True, ["-b"]),
        ({"type": "boolean", "alias": "bee"}, True, ["--bee"]),
        ({"type": "boolean", "style": "equals"}, False, ["--x=false"]),
        ({"type": "boolean", "style": "separate"}, True, ["--x", "true"]),
        ({"type": "string"}, "a b", ["--x", "a b"]),
        ({"type": "string"}, "", ["--x", ""]),
        ({"type": "string", "alias": "m"}, "v", ["--x", "v"]),
        ({"type": "string", "alias": "-m"}, "v", ["-m", "v"]),
        ({"type": "string", "style": "equals"}, "v", ["--x=v"]),
        ({"type": "integer"}, 7, ["--x", "7"]),
        ({"type": "integer"}, 7.0, ["--x", "7"]),
        ({"type": "integer"}, 10**30, ["--x", "1" + "0" * 30]),
        ({"type": "number"}, 0.25, ["--x", "0.25"]),
        ({"type": "number"}, 3, ["--x", "3"]),
        ({"type": "object"}, {"a": [1, "é"]}, ["--x", '{"a": [1, "é"]}']),
        ({"type": "array"}, ["a b", "c"], ["--x", "a b", "--x", "c"]),
        ({"type": "array", "style": "repeat"}, ["a", "b"], ["--x", "a", "--x", "b"]),
        ({"type": "array", "style": "equals"}, ["a", "b"], ["--x=a", "--x=b"]),
        ({"type": "array", "style": "separate"}, ["a", "b"], ["--x", "a", "b"]),
        ({"type": "array", "style": "csv"}, ["a", "b"], ["--x", "a,b"]),
        ({"type": "array", "style": "csv"}, [], []),
        ({"type": "array", "style": "separate"}, [], []),
        ({"type": "array", "items": {"type": "integer"}}, [1, 2], ["--x", "1", "--x", "2"]),
    ],
)
def test_each_type_and_style_has_its_words(option: dict[str, Any], value: object, words: list[str]) -> None:
    assert argv(leaf_with([{"name": "x", **option}]), x=value) == ["t", "do", *words]


def test_a_default_is_used_when_a_call_leaves_the_argument_out() -> None:
    leaf = leaf_with([{"name": "n", "type": "integer", "default": 20}])
    assert argv(leaf) == ["t", "do", "--n", "20"]
    assert argv(leaf, n=5) == ["t", "do", "--n", "5"]


def test_positional_arrays_are_one_word_for_each_element() -> None:
    assert argv(leaf_with(None, [array("files")]), files=["a b", "c"]) == ["t", "do", "a b", "c"]


def test_the_words_of_ahmas_args_come_last() -> None:
    leaf = leaf_with([array("args"), text("a")], [text("p")])
    assert argv(leaf, args=["x", "y"], a="1", p="2") == ["t", "do", "--a", "1", "2", "x", "y"]
    group = leaf_with([array("args")], subcommand=[{"name": "up", "description": "Up."}])
    assert argv(group, args=["x"]) == ["t", "do", "--args", "x", "up"]


# nothing becomes an option


@pytest.mark.parametrize("value", ["-x", "--force", "-", "--", "-1"])
def test_a_value_that_begins_with_a_dash_is_bound_to_its_long_flag(value: str) -> None:
    words = ["--x", value] if value == "-" else [f"--x={value}"]
    assert argv(leaf_with([text()]), x=value) == ["t", "do", *words]
    assert argv(leaf_with([array()]), x=[value, "a"]) == ["t", "do", *words, "--x", "a"]
    assert argv(leaf_with([array(style="csv")]), x=[value]) == ["t", "do", *words]


@pytest.mark.parametrize(
    ("leaf", "value", "path"),
    [
        (leaf_with([text(style="separate")]), "-x", "x"),
        (leaf_with([text(alias="-m")]), "-x", "x"),
        (leaf_with([text("-name")]), "-x", "-name"),
        (leaf_with([array(style="separate")]), ["a", "--x"], "x[1]"),
        (leaf_with(None, [text()]), "--x", "x"),
        (leaf_with(None, [array()]), ["a", "-x"], "x[1]"),
        (leaf_with(None, [{"name": "x", "type": "integer"}]), -5, "x"),
        (leaf_with([array("args")]), ["--force"], "args[0]"),
    ],
)
def test_where_it_cannot_be_bound_it_is_refused(leaf: Leaf, value: object, path: str) -> None:
    name = path.partition("[")[0]
    found = refusal(leaf, {name: value})
    assert list(found) == [path]
    assert "would take for an option" in found[path]


def test_after_the_end_of_options_a_dash_is_just_a_character() -> None:
    leaf = leaf_with([text("a")], [text("p"), array("q")], end_of_options=True)
    assert argv(leaf, p="-x", q=["--y"], a="1") == ["t", "do", "--a", "1", "--", "-x", "--y"]
    assert argv(leaf, a="1") == ["t", "do", "--a", "1"]


def test_the_end_of_options_may_stand_before_one_positional_argument() -> None:
    leaf = leaf_with(None, [text("revision"), array("paths", end_of_options=True)])
    assert argv(leaf, revision="HEAD", paths=["-a"]) == ["t", "do", "HEAD", "--", "-a"]
    assert argv(leaf, paths=["-a"]) == ["t", "do", "--", "-a"]
    assert "revision" in refusal(leaf, {"revision": "-a"})


def test_a_path_that_begins_with_a_dash_is_still_a_path(tmp_path: Path) -> None:
    leaf = leaf_with([text("f", format="path", style="separate")], [text("p", format="path")])
    assert command(leaf, {"p": "-rf", "f": "--x"}, tmp_path).argv == ("t", "do", "--f", "./--x", "./-rf")


def test_a_positional_argument_cannot_slip_into_the_place_of_one_before_it() -> None:
    leaf = leaf_with(None, [text("remote"), text("branch")])
    assert refusal(leaf, {"branch": "main"}) == {
        "branch": "comes after `remote` on the command line and would be taken for it. Give both."
    }
    assert argv(leaf, remote="origin", branch="main") == ["t", "do", "origin", "main"]
    assert argv(leaf_with(None, [array("targets"), text("last")]), last="x") == ["t", "do", "x"]


def test_a_comma_cannot_make_two_elements_of_one() -> None:
    assert "split it in two" in refusal(leaf_with([array(style="csv")]), {"x": ["a", "b,c"]})["x[1]"]


# what is refused


@pytest.mark.parametrize(
    ("option", "value", "path", "words"),
    [
        ({"type": "string"}, 1, "x", "is an integer 1. Give a string."),
        ({"type": "string"}, None, "x", "is null. Give a string, or leave it out."),
        ({"type": "boolean"}, "true", "x", 'is a string "true". Give a boolean.'),
        ({"type": "integer"}, True, "x", "is a boolean true. Give an integer."),
        ({"type": "integer"}, 1.5, "x", "is a number 1.5. Give an integer."),
        ({"type": "integer", "minimum": 1, "maximum": 9}, 10, "x", "is 10. Give an integer, at least 1 and at most 9."),
        ({"type": "number"}, float("nan"), "x", "is NaN. Give a number."),
        (
            {"type": "string", "enum": ["open", "closed"]},
            "opn",
            "x",
            'Give one of "open", "closed". Did you mean `open`?',
        ),
        ({"type": "string", "pattern": "^[a-z]+$"}, "A", "x", "Give a string that matches `^[a-z]+$`."),
        ({"type": "string", "pattern": "^[a-z]+$"}, "a\n", "x", "Give a string that matches `^[a-z]+$`."),
        ({"type": "array"}, "a", "x", 'is a string "a". Give an array of strings.'),
        ({"type": "array"}, ["a", 1], "x[1]", "is an integer 1. Give a string."),
        ({"type": "array", "minItems": 2}, ["a"], "x", "has 1 elements. Give at least 2."),
        ({"type": "array", "maxItems": 1}, ["a", "b"], "x", "has 2 elements. Give at most 1."),
        ({"type": "array", "required": True}, [], "x", "has 0 elements. Give at least 1."),
        ({"type": "object"}, [], "x", "is an array []. Give an object."),
        ({"type": "string"}, "a\0b", "x", "holds a NUL character, which no argument can carry. Remove it."),
        ({"type": "string"}, "a\ud800", "x", "holds half of a surrogate pair"),
        ({"type": "array"}, ["a", "\0"], "x[1]", "holds a NUL character"),
        ({"type": "string"}, "x" * 131_072, "x", "is 131,072 bytes long; an argument holds 131,071. Shorten it."),
    ],
)
def test_a_wrong_value_is_refused_with_what_was_given_and_what_is_allowed(
    option: dict[str, Any], value: object, path: str, words: str
) -> None:
    found = refusal(leaf_with([{"name": "x", **option}]), {"x": value})
    assert list(found) == [path]
    assert words in found[path]


ENDLESS = "^(a+)+$"
"""Takes twice as long with each letter of a text that does not match."""


def test_a_pattern_that_would_take_for_ever_with_a_text_refuses_it() -> None:
    option = {"name": "x", "type": "string", "pattern": ENDLESS}
    found = refusal(leaf_with([option]), {"x": "a" * 60 + "!"})
    assert found == {"x": f"cannot be held against `{ENDLESS}` in time. Give something shorter, or a simpler pattern."}


def test_a_pattern_that_might_take_for_ever_is_held_against_every_element_all_the_same() -> None:
    leaf = leaf_with([array(pattern="^([a-z]+,?)+$")])
    assert list(refusal(leaf, {"x": ["a,b", "A", "c", "1"]})) == ["x[1]", "x[3]"]
    assert check_arguments(leaf, {"x": ["a,b", "c"]}) == ()


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\s+$", " " * 100_000 + "x"),
        ("a?" * 30 + "a" * 30, "a" * 29),
        ("(a|aa)" * 30 + "$", "a" * 60 + "b"),
        ("a*" * 30 + "b", "a" * 60),
        ("^(?:[(]|a)*$(?<=b)", "a" * 100_000),
    ],
)
def test_whatever_makes_a_pattern_slow_ends_in_time(pattern: str, text: str) -> None:
    option = {"name": "x", "type": "string", "pattern": pattern}
    assert list(refusal(leaf_with([option]), {"x": text})) == ["x"]


def test_unknown_and_missing_arguments_are_all_told_at_once() -> None:
    leaf = leaf_with([text("message", required=True), {"name": "amend", "type": "boolean"}])
    found = {problem.path: problem.text for problem in check_arguments(leaf, {"mesage": "x", "amend": 1})}
    assert found["mesage"].startswith("is not an argument of t_do. Did you mean `message`? It takes message, amend,")
    assert found["message"] == "is missing. Give a string."
    assert found["amend"] == "is an integer 1. Give a boolean."


def test_the_arguments_of_every_call_are_checked_too() -> None:
    found = refusal(leaf_with(), {"timeout_seconds": 0, "execution_mode": "fast", "working_directory": 5})
    assert found["timeout_seconds"] == "is 0. Give an integer, at least 1 and at most 86400."
    assert found["execution_mode"] == 'is "fast". Give one of "asynchronous", "synchronous".'
    assert found["working_directory"] == "is an integer 5. Give a string."


def test_a_synchronous_tool_has_no_execution_mode() -> None:
    found = refusal(leaf_with(synchronous=True), {"execution_mode": "synchronous"})
    assert (
        found["execution_mode"] == "is not an argument of t_do, which always returns its result itself. Leave it out."
    )


@pytest.mark.parametrize(
    ("mode", "synchronous"),
    [("synchronous", True), ("asynchronous", False), ("Synchronous", True), ("AsyncResultPush", False)],
)
def test_a_call_may_choose_its_mode_in_our_words_or_ahmas(mode: str, synchronous: bool) -> None:
    assert command(leaf_with(), {"execution_mode": mode}).synchronous is synchronous


def test_the_timeout_of_the_call_comes_before_that_of_the_file() -> None:
    leaf = leaf_with(timeout_seconds=60)
    assert command(leaf, {}).timeout_seconds == 60
    assert command(leaf, {"timeout_seconds": 5}).timeout_seconds == 5
    assert command(leaf_with(), {}).timeout_seconds is None


# files, standard input, environment


def test_a_value_can_go_through_a_file_of_its_own(tmp_path: Path) -> None:
    leaf = leaf_with([text("message", file_arg=True, file_flag="-F")])
    made = command(leaf, {"message": "Fix it\n\n- why: 'x' $(y)\n"}, tmp_path)
    (file,) = made.files
    (tmp_path / "operation").mkdir()
    file.write()
    assert made.argv == ("t", "do", "-F", str(file.path))
    assert file.path.parent == tmp_path / "operation"
    assert file.path.read_text() == "Fix it\n\n- why: 'x' $(y)\n"
    assert file.path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        file.write()


def test_a_file_is_passed_by_the_options_own_flag_or_as_a_word() -> None:
    assert argv(leaf_with([text(file_arg=True)]), x="v") == ["t", "do", "--x", "/operation/argument-0-x"]
    assert argv(leaf_with([text(file_arg=True, style="equals")]), x="v") == ["t", "do", "--x=/operation/argument-0-x"]
    assert argv(leaf_with(None, [text(file_arg=True)]), x="-v") == ["t", "do", "/operation/argument-0-x"]


def test_standard_input_comes_from_the_file_or_from_the_call() -> None:
    assert command(leaf_with(), {}).stdin is None
    assert command(leaf_with(stdin="y\n"), {}).stdin == b"y\n"
    assert command(leaf_with([text(style="stdin")]), {"x": "-é"}).stdin == "-é".encode()
    assert command(leaf_with(None, [array(style="stdin")]), {"x": ["a", "-b"]}).stdin == b"a\n-b\n"
    assert argv(leaf_with([text(style="stdin")]), x="-a") == ["t", "do"]
    assert "line break" in refusal(leaf_with([array(style="stdin")]), {"x": ["a\nb"]})["x[0]"]


def test_a_long_value_goes_through_a_file_or_standard_input() -> None:
    long = "x" * 200_000
    assert command(leaf_with([text(style="stdin")]), {"x": long}).stdin == long.encode()
    assert command(leaf_with([text(file_arg=True)]), {"x": long}).files[0].content == long.encode()


def test_the_variables_of_the_file_go_with_the_command() -> None:
    assert command(leaf_with(env={"A": "1"}, tool={"env": {"B": "2"}}), {}).env == {"A": "1", "B": "2"}


LOG = {
    "source_command": "adb",
    "source_args": ["logcat", "--pid=${pid}", "${tag}"],
    "detection_prompt": "Crashes.",
    "llm_provider": {"base_url": "http://localhost", "model": "m"},
    "parameters": [{"name": name, "description": "D."} for name in ("pid", "tag", "serial")],
    "env": {"ANDROID_SERIAL": "${serial}", "MODE": "x"},
    "clear_command": ["logcat", "-c"],
}


def test_a_followed_log_leaves_out_what_is_not_filled_in() -> None:
    document = {"name": "t", "description": "T.", "command": "adb", "tool_type": "livelog", "livelog": LOG}
    tool = parse(json.dumps(document), Path("t.json"))
    assert isinstance(tool, ToolFile)
    (leaf,) = leaves(tool)
    bare = command(leaf, {})
    assert (bare.argv, bare.env, bare.before) == (("adb", "logcat"), {"MODE": "x"}, ("adb", "logcat", "-c"))
    full = command(leaf, {"pid": "-7", "tag": "App", "serial": "e1", "clear": False})
    assert full.argv == ("adb", "logcat", "--pid=-7", "App")
    assert (full.env["ANDROID_SERIAL"], full.before) == ("e1", ())
    assert "would take for an option" in refusal(leaf, {"tag": "-c"})["tag"]


# paths


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").touch()
    (tmp_path / "secret").touch()
    (root / "out").symlink_to(tmp_path)
    (root / "inside").symlink_to(root / "src")
    return root


PATHS = leaf_with([text("file", format="path")], [array("paths", items={"type": "string", "format": "path"})])


@pytest.mark.parametrize("value", ["src/a.py", "src/../src/a.py", "new/file.py", ".", "inside/a.py", "a\\b", "C:"])
def test_a_path_inside_the_project_is_passed_as_it_is(project: Path, value: str) -> None:
    assert command(PATHS, {"file": value, "paths": [value]}, project).argv == ("t", "do", "--file", value, value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("../secret", "It must stay inside"),
        ("/etc/passwd", "which leads to /etc/passwd"),
        ("src/../../secret", "It must stay inside"),
        ("out/secret", "It must stay inside"),
        ("out", "It must stay inside"),
        ("~/x", "`~` is not expanded"),
        ("C:\\Users\\x", "a Windows path"),
        ("\\\\host\\share", "a Windows path"),
        ("..\\secret", "a Windows path"),
        ("", "is empty"),
    ],
)
def test_a_path_that_leads_out_of_the_project_is_refused(project: Path, value: str, words: str) -> None:
    found = refusal(PATHS, {"file": value, "paths": ["src", value]}, project)
    assert set(found) == {"file", "paths[1]"}
    assert all(words in reason for reason in found.values())


def test_paths_are_read_from_the_working_directory(project: Path) -> None:
    made = command(PATHS, {"working_directory": "src", "file": "../src/a.py"}, project)
    assert made.cwd == project / "src"
    assert "file" in refusal(PATHS, {"working_directory": "src", "file": "../../secret"}, project)
    assert made.leads_to == {".": os.path.realpath(project / "src"), "../src/a.py": os.path.realpath(made.cwd / "a.py")}
    assert command(PATHS, {}, project).leads_to == {}, "where the person's own file says to work is theirs"


@pytest.mark.parametrize("argument", ["working_directory", "file"])
def test_where_a_link_leads_is_looked_at_once_and_noted_as_it_was_found(
    project: Path, monkeypatch: pytest.MonkeyPatch, argument: str
) -> None:
    link, resolve = project / "inside", Path.resolve

    def leads_elsewhere_at_once(path: Path, strict: bool = False) -> Path:
        found = resolve(path, strict)
        if path == link:
            link.unlink()
            link.symlink_to(project / "out")
        return found

    monkeypatch.setattr(Path, "resolve", leads_elsewhere_at_once)
    made = command(PATHS, {argument: "inside"}, project)
    assert list(made.leads_to.values()) == [os.path.realpath(project / "src")]


@pytest.mark.parametrize("value", ["..", "/", "out", "none", "src/a.py", "~", "C:\\x"])
def test_a_working_directory_outside_or_not_there_is_refused(project: Path, value: str) -> None:
    assert "working_directory" in refusal(PATHS, {"working_directory": value}, project)


def test_the_working_directory_of_the_file_holds_when_the_call_says_none(project: Path) -> None:
    assert command(leaf_with(cwd="src"), {}, project).cwd == project / "src"
    assert command(leaf_with(cwd="src"), {"working_directory": "."}, project).cwd == project / "."


def test_several_roots_are_all_allowed(project: Path, tmp_path: Path) -> None:
    made = build_argv(
        PATHS, {"file": "../secret"}, project=project, roots=[project, tmp_path], folder=tmp_path / "operation"
    )
    assert made.argv[-1] == "../secret"


# a real program


HOSTILE = st.one_of(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12),
    st.sampled_from(
        ["a b", "'", '"', "; ls", "$(id)", "`id`", "a\nb", "-x", "--", "--force", "-", "", "é漢🙂", "%s", "\\", "*"]
    ),
)
FREE = leaf_with(
    [text("one"), text("two", style="equals"), array("many"), array("eq", style="equals")],
    [array("rest")],
    tool={"command": f"{sys.executable} -c"},
    end_of_options=True,
)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "one": HOSTILE,
                "two": HOSTILE,
                "many": st.lists(HOSTILE, max_size=4),
                "eq": st.lists(HOSTILE, max_size=4),
                "rest": st.lists(HOSTILE, max_size=4),
            },
        ),
        min_size=5,
        max_size=15,
    )
)
@pytest.mark.requirement("H-22", "H-25")
def test_values_reach_a_real_program_exactly_as_they_were_given(calls: list[dict[str, Any]]) -> None:
    """Many calls go into one process: each is a run of words between marks, so that a lost border would show."""
    made = [argv(FREE, **call)[3:] for call in calls]
    words = [word for line in made for word in ("<<", *line, ">>")]
    ran = subprocess.run([sys.executable, "-c", ECHO, *words], capture_output=True, check=True, timeout=60)
    assert json.loads(ran.stdout) == words
    for call, line in zip(calls, made, strict=True):
        assert line == _expected(call)


def _expected(call: dict[str, Any]) -> list[str]:
    def bound(flag: str, value: str) -> list[str]:
        return [f"{flag}={value}"] if value.startswith("-") and value != "-" else [flag, value]

    words = bound("--one", call["one"]) if "one" in call else []
    words += [f"--two={call['two']}"] if "two" in call else []
    words += [word for value in call.get("many", []) for word in bound("--many", value)]
    words += [f"--eq={value}" for value in call.get("eq", [])]
    return words + (["--", *call["rest"]] if call.get("rest") else [])


PARSER = """
import getopt, json, sys
lines = json.load(sys.stdin)
json.dump([getopt.gnu_getopt(line, "", ["one=", "two=", "many=", "force"]) for line in lines], sys.stdout)
"""


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "one": HOSTILE,
                "two": HOSTILE,
                "many": st.lists(HOSTILE, max_size=3),
                "rest": st.lists(HOSTILE, max_size=3),
            }
        ),
        min_size=5,
        max_size=15,
    )
)
@pytest.mark.requirement("H-25")
def test_a_real_option_parser_gives_every_value_back_and_no_option_that_was_not_meant(
    calls: list[dict[str, Any]],
) -> None:
    lines = [argv(FREE, **call)[3:] for call in calls]
    ran = subprocess.run(
        [sys.executable, "-c", PARSER], input=json.dumps(lines).encode(), capture_output=True, check=True, timeout=60
    )
    for call, parsed in zip(calls, json.loads(ran.stdout), strict=True):
        many = [["--many", value] for value in call["many"]]
        assert parsed == [[["--one", call["one"]], ["--two", call["two"]], *many], call["rest"]]


def test_a_whole_command_runs_as_it_was_built(tmp_path: Path) -> None:
    dump = "import json,os,sys; print(json.dumps([sys.argv[1:], os.getcwd(), os.environ['MARK'], sys.stdin.read()]))"
    (tmp_path / "sub").mkdir()
    (tmp_path / "dump.py").write_text(dump)
    leaf = leaf_with(
        [text("message", file_arg=True, file_flag="-F"), text("input", style="stdin")],
        [array("rest")],
        tool={"command": f"{sys.executable} {tmp_path / 'dump.py'}", "env": {"MARK": "a b"}},
        end_of_options=True,
    )
    folder = tmp_path / "operation"
    folder.mkdir()
    arguments = {"message": "m\n", "input": "in\n", "rest": ["-x", "$HOME"], "working_directory": "sub"}
    made = build_argv(leaf, arguments, project=tmp_path, roots=[tmp_path], folder=folder)
    for file in made.files:
        file.write()
    ran = subprocess.run(
        made.argv,
        cwd=made.cwd,
        env={**os.environ, **made.env},
        input=made.stdin,
        capture_output=True,
        check=True,
        timeout=60,
    )
    words, cwd, mark, stdin = json.loads(ran.stdout)
    assert words == ["do", "-F", str(folder / "argument-0-message"), "--", "-x", "$HOME"]
    assert (Path(cwd), mark, stdin) == ((tmp_path / "sub").resolve(), "a b", "in\n")
    assert Path(words[2]).read_text() == "m\n"
