"""A call becomes a command: checked before anything runs, given exactly what was said, answered as it should be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.e2e.run.kit import (
    WAIT,
    Place,
    Worker,
    background,
    data_of,
    eventually,
    fresh_token,
    gone,
    showing_argv,
    text_of,
    waited_for,
    with_argument,
    worker,
    write_tool,
)
from tests.e2e.stdio.harness import new_place

BUILD = {
    "name": "build",
    "description": "Build it.",
    "synchronous": True,
    "end_of_options": True,
    "options": [
        {"name": "release", "type": "boolean"},
        {"name": "target", "type": "string"},
        {"name": "jobs", "type": "integer", "minimum": 1, "maximum": 64},
        {"name": "ratio", "type": "number"},
        {"name": "feature", "type": "array"},
        {"name": "mode", "type": "string", "enum": ["fast", "slow"]},
        {"name": "tag", "type": "string", "pattern": "^v[0-9]+$"},
        {"name": "few", "type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "integer"}},
    ],
    "positional_args": [{"name": "rest", "type": "array"}],
}


@pytest.fixture(scope="module")
def cargo() -> Iterator[Worker]:
    """A client of a server whose tool `cargo_build` prints its arguments."""
    with new_place() as place:
        showing_argv(place, "cargo", BUILD)
        with worker(place) as one:
            yield one


def words(worker: Worker, **arguments: Any) -> list[str]:
    """What the program was given."""
    result = worker.do("cargo_build", **arguments)
    assert not result.is_error, text_of(result)
    told: list[str] = json.loads(data_of(result)["stdout"])
    return told


@pytest.mark.requirement("H-01", "H-14", "H-19", "H-20", "H-21", "H-22")
def test_each_type_of_option_reaches_the_program_in_the_order_of_the_file(cargo: Worker) -> None:
    assert words(cargo, feature=["a b", "c"], jobs=3, target="x86", release=True) == [
        *("build", "--release", "--target", "x86", "--jobs", "3", "--feature", "a b", "--feature", "c")
    ]
    assert words(cargo, release=False) == ["build"]


@pytest.mark.requirement("H-22")
def test_every_element_of_an_array_is_an_argument_of_its_own(cargo: Worker) -> None:
    assert words(cargo, rest=["one two", "three,four", ""]) == ["build", "--", "one two", "three,four", ""]


ANYTHING = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)


@pytest.mark.requirement("H-25")
@given(
    target=ANYTHING,
    rest=st.lists(
        st.one_of(
            ANYTHING,
            st.sampled_from(
                ["-rf", "--", "$(id)", "; rm -rf /", "`id`", "a\nb", "'", '"', "\\", "é漢🚀", "-", "--x=y"]
            ),
        ),
        min_size=1,
        max_size=6,
    ),
)
@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_whatever_a_value_holds_it_fills_its_own_argument_and_nothing_else(
    cargo: Worker, target: str, rest: list[str]
) -> None:
    told = words(cargo, target=target, rest=rest)
    bound = [f"--target={target}"] if target.startswith("-") and target != "-" else ["--target", target]
    assert told == ["build", *bound, "--", *rest]


@pytest.mark.requirement("H-23", "H-56", "H-58", "H-59", "H-60")
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"release": "yes"}, 'release: is a string "yes"'),
        ({"target": 3}, "target: is an integer 3"),
        ({"jobs": "3"}, 'jobs: is a string "3"'),
        ({"jobs": 2.5}, "jobs: is a number 2.5"),
        ({"jobs": 65}, "at most 64"),
        ({"ratio": "much"}, "ratio: is a string"),
        ({"feature": "a"}, 'feature: is a string "a"'),
        ({"feature": [1]}, "feature[0]: is an integer 1"),
        ({"mode": "fst"}, "Did you mean `fast`?"),
        ({"tag": "1"}, "`^v[0-9]+$`"),
        ({"few": []}, "few: has 0 elements"),
        ({"few": [1, 2, 3]}, "few: has 3 elements"),
        ({"target": None}, "target: is null"),
    ],
)
def test_a_wrong_argument_is_refused_before_anything_runs(cargo: Worker, arguments: Any, named: str) -> None:
    result = cargo.do("cargo_build", **arguments)
    assert result.is_error
    assert named in text_of(result)
    assert "Nothing was run." in text_of(result)
    assert data_of(result)["status"] == "invalid"


@pytest.mark.requirement("H-24")
def test_an_argument_that_the_tool_does_not_know_is_refused_and_not_dropped(cargo: Worker) -> None:
    result = cargo.do("cargo_build", relaese=True, zzz=1)
    assert result.is_error
    assert "relaese: is not an argument of cargo_build. Did you mean `release`?" in text_of(result)
    assert [problem["path"] for problem in data_of(result)["problems"]] == ["relaese", "zzz"]


@pytest.mark.requirement("H-57")
def test_a_required_argument_that_is_missing_is_named(shared: Worker) -> None:
    result = shared.do("bg")
    assert result.is_error
    assert "script: is missing. Give a string." in text_of(result)


@pytest.mark.requirement("H-25")
def test_a_value_that_would_be_taken_for_an_option_is_refused_where_nothing_can_guard_it(shared: Worker) -> None:
    result = shared.do("fg", script="-x")
    assert result.is_error
    assert "which the program would take for an option" in text_of(result)


def test_a_path_that_leaves_the_project_is_refused(place: Place) -> None:
    file = {"name": "file", "type": "string", "format": "path", "required": True}
    showing_argv(place, "show", {"name": "default", "description": "Show.", "synchronous": True, "options": [file]})
    (place.project / "inside").mkdir()
    with worker(place) as one:
        for path in ("../outside", "/etc/passwd", "~/x", "inside/../../x"):
            assert "file: is" in text_of(one.do("show", file=path))
            assert "working_directory: is" in text_of(one.do("show", file="x", working_directory=path))
        assert not one.do("show", file="inside/new.txt", working_directory="inside").is_error


def test_text_with_every_kind_of_quote_arrives_by_stdin_and_by_file_as_it_was_given(place: Place) -> None:
    heredoc = "line 'one'\nEOF\n$(touch pwned)\n\"two\"\\\n`id`\n"
    by_stdin = {"name": "text", "type": "string", "style": "stdin"}
    write_tool(
        place,
        "cat",
        command="cat",
        synchronous=True,
        subcommand=[{"name": "default", "description": "Copy.", "options": [by_stdin]}],
    )
    by_file = {"name": "message", "type": "string", "file_arg": True, "file_flag": "-A"}
    write_tool(
        place,
        "show",
        command="cat",
        synchronous=True,
        subcommand=[{"name": "default", "description": "Show.", "options": [by_file]}],
    )
    with worker(place) as one:
        assert data_of(one.do("cat", text=heredoc))["stdout"] == heredoc
        shown = data_of(one.do("show", message=heredoc))["stdout"]
        assert shown.replace("$\n", "\n") == heredoc
    assert not (place.project / "pwned").exists()


@pytest.mark.requirement("H-02", "H-26", "H-46")
def test_a_background_command_is_answered_at_once_with_an_id_and_a_hint(shared: Worker) -> None:
    token = fresh_token()
    result = shared.do("bg", script=f"sleep {token}")
    data = data_of(result)
    assert (data["status"], data["tool"]) == ("started", "bg")
    assert f"Started bg as operation {data['id']}." in text_of(result)
    assert "Meanwhile, go on with work that does not depend on it." in text_of(result)
    assert shared.status(data["id"])["status"] == "running"
    shared.do("cancel", id=data["id"])
    assert gone(token)


@pytest.mark.requirement("H-46", "H-66")
def test_the_hint_fits_the_kind_of_work_and_the_file_may_give_its_own(place: Place) -> None:
    subs = [{"name": name, "description": f"{name} it.", "guidance_key": None} for name in ("test", "build", "own")]
    hints = {"test": "Meanwhile, write the next test.", "custom": {"own": "Meanwhile, have some tea."}}
    write_tool(place, "cargo", command="true", subcommand=subs, hints=hints)
    with worker(place) as one:
        assert "write the next test" in text_of(one.do("cargo_test"))
        assert "read through what you changed last" in text_of(one.do("cargo_build"))
        assert "have some tea" in text_of(one.do("cargo_own"))


@pytest.mark.requirement("H-04")
def test_other_calls_are_answered_while_commands_run(shared: Worker) -> None:
    token = fresh_token()
    waiting = shared.call("fg", {"script": f"sleep {token}"})
    eventually(lambda: with_argument(token))
    running = shared.start("bg", script=f"sleep {token}1")
    assert data_of(shared.do("fg", script="echo quick"))["stdout"] == "quick\n"
    assert not waiting.done()
    assert shared.status(running)["status"] == "running"
    waiting.cancel()
    shared.do("cancel", id=running)
    eventually(lambda: gone(token))


@pytest.mark.requirement("H-05", "H-32", "H-33", "H-38")
def test_a_synchronous_command_returns_its_result_and_says_nothing_of_operations(shared: Worker) -> None:
    result = shared.do("fg", script="echo out; echo err >&2")
    assert not result.is_error
    assert text_of(result) == "stdout:\nout\n\nstderr:\nerr"
    assert not {"id", "started_at", "ended_at"} & data_of(result).keys()
    assert (data_of(result)["exit_code"], data_of(result)["stdout"]) == (0, "out\n")
    assert text_of(shared.do("fg", script="printf just-this")) == "just-this"
    assert text_of(shared.do("fg", script="true")) == "fg succeeded and printed nothing."
    failed = shared.do("fg", script="echo out; echo why >&2; exit 3")
    assert failed.is_error
    assert "fg failed with exit code 3" in text_of(failed)
    assert "why" in text_of(failed)
    assert "operation" not in text_of(failed) + text_of(result)


@pytest.mark.requirement("H-06", "H-33")
def test_a_synchronous_command_causes_no_notifications(place: Place, mode: str) -> None:
    waited_for(place)
    progress: list[object] = []

    async def take(*told: object) -> None:
        progress.append(told)

    with worker(place, mode) as one:
        result = one.call_heeding("fg", {"script": "sleep 0.2; echo done"}, take).result(WAIT)
        assert data_of(result)["stdout"] == "done\n"
        assert one.resources() == {}
        assert "You have no operations." in text_of(one.do("status"))
        assert progress == []
        assert one.heard.all == []


def test_any_background_command_can_be_waited_for_in_one_call(shared: Worker) -> None:
    result = shared.do("bg", script="echo now", execution_mode="synchronous")
    assert (text_of(result), "id" in data_of(result)) == ("now", False)
    assert "execution_mode: is not an argument of fg" in text_of(
        shared.do("fg", script="true", execution_mode="asynchronous")
    )


@pytest.mark.requirement("H-67")
def test_a_quick_command_returns_its_result_at_once_where_the_owner_lets_calls_hold_on(place: Place) -> None:
    background(place)
    background(place, "patient", inline_ms=30_000)
    with worker(place) as one:
        assert data_of(one.do("bg", script="echo hi"))["status"] == "started"
        quick = one.do("patient", script="echo hi")
        assert (data_of(quick)["status"], data_of(quick)["stdout"]) == ("completed", "hi\n")
        failed = one.do("patient", script="echo no >&2; exit 2")
        assert failed.is_error
        assert (data_of(failed)["exit_code"], data_of(failed)["stderr"]) == (2, "no\n")
    with worker(place, environment={"SAYSO_INLINE_MS": "30000"}) as one:
        assert data_of(one.do("bg", script="echo hi"))["status"] == "completed"


@pytest.mark.requirement("H-27")
def test_a_hundred_calls_give_a_hundred_ids_over_all_kinds_and_after_a_restart(place: Place) -> None:
    background(place)
    step = {"tool": "bg", "subcommand": "default", "args": {"script": "true"}}
    write_tool(place, "both", command="true", sequence=[step])
    ids: list[str] = []
    for _ in range(2):
        with worker(place) as one:
            calls = [one.call("bg", {"script": "true"}) for _ in range(40)]
            calls += [one.call("both", None) for _ in range(10)]
            ids += [data_of(call.result(WAIT))["id"] for call in calls]
    assert len(ids) == 100
    assert len(set(ids)) == 100


@pytest.mark.requirement("H-38")
def test_a_failed_command_is_reported_as_a_failure_with_its_code_and_what_it_printed(shared: Worker) -> None:
    failed = shared.start("bg", script="echo some; echo broken >&2; exit 7")
    result = shared.do("await", id=failed)
    assert result.is_error
    assert f"bg (operation {failed}) failed with exit code 7" in text_of(result)
    (data,) = data_of(result)["finished"]
    assert (data["exit_code"], data["stdout"], data["stderr"]) == (7, "some\n", "broken\n")
    killed = shared.ended(shared.start("bg", script="kill -SEGV $$"))
    assert (killed["status"], killed["signal"], killed["exit_code"]) == ("failed", 11, None)


def test_exit_codes_that_count_as_success_are_the_files_to_say(place: Place) -> None:
    waited_for(place, "grep", success_exit_codes=[0, 1])
    with worker(place) as one:
        assert not one.do("grep", script="exit 1").is_error
        assert one.do("grep", script="exit 2").is_error


@pytest.mark.requirement("H-40")
def test_a_command_that_cannot_be_started_is_an_error_with_the_way_to_install_it(place: Place) -> None:
    sub = {"name": "default", "description": "Not there."}
    write_tool(place, "nope", command="no-such-program", install_instructions="buy one", subcommand=[sub])
    write_tool(place, "now", command="no-such-program", synchronous=True, subcommand=[sub])
    with worker(place) as one:
        for tool, hint in (("nope", " To install it: buy one"), ("now", "")):
            result = one.do(tool)
            assert result.is_error
            assert " could not be started: 'no-such-program' was not found on PATH" in text_of(result)
            assert hint in text_of(result)


def test_a_probe_runs_at_the_first_call_and_says_how_to_install_what_is_missing(place: Place) -> None:
    there, log = place.project / "there", place.project / "probed"
    script = f"echo probed >>{log}; test -e {there}"
    write_tool(
        place,
        "gadget",
        command="echo",
        availability_check={"command": "bash", "args": ["-c", script]},
        install_instructions="Get it from the shop.",
        synchronous=True,
        subcommand=[{"name": "go", "description": "Go."}],
    )
    with worker(place) as one:
        one.tools()
        assert not log.exists()
        missing = one.do("gadget_go")
        assert missing.is_error
        assert "gadget_go could not be started: `bash -c" in text_of(missing)
        assert "To install it: Get it from the shop." in text_of(missing)
        there.touch()
        assert text_of(one.do("gadget_go")) == "go"
        assert text_of(one.do("gadget_go")) == "go"
        assert log.read_text().count("probed") == 2


def test_a_file_may_set_environment_directory_and_input(place: Place) -> None:
    (place.project / "sub").mkdir()
    (place.project / "other").mkdir()
    waited_for(place, "here", env={"GREETING": "hello there"}, cwd="sub", stdin="from the file\n")
    with worker(place) as one:
        told = data_of(one.do("here", script='echo "$GREETING"; pwd; cat'))["stdout"]
        assert told == f"hello there\n{place.project / 'sub'}\nfrom the file\n"
        assert data_of(one.do("here", script="pwd", working_directory="other"))["stdout"].endswith("/other\n")


@pytest.mark.requirement("H-35")
def test_commands_get_the_login_environment_without_colours_pagers_or_sayso(place: Place) -> None:
    (place.home / ".profile").write_text("export FROM_PROFILE=yes PATH=$HOME/bin:$PATH\n")
    waited_for(place)
    with worker(place, environment={"SHELL": "/bin/sh", "SAYSO_PERSON": "ada"}) as one:
        told = data_of(one.do("fg", script="env; cat"))["stdout"].splitlines()
        assert "FROM_PROFILE=yes" in told
        assert {"NO_COLOR=1", "TERM=dumb", "PAGER=cat"} <= set(told)
        (path,) = [line.removeprefix("PATH=") for line in told if line.startswith("PATH=")]
        assert f"{place.home}/bin" in path.split(":")
        assert not [line for line in told if line.startswith("SAYSO_")]
