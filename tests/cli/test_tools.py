"""`sayso tools` and `sayso ops`: a person writes, checks and runs tool files, and sees and stops what runs."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
import psutil
import pytest
from tests.cli.program import BIN, SECONDS, Home

from sayso.asks.model import State
from sayso.operations.desk import OperationDesk
from sayso.operations.operation import Operation
from sayso.store.bell import LOOK_EVERY
from sayso.store.sqlite import SqliteStore

SLEEPER: dict[str, Any] = {
    "name": "sleeper",
    "description": "Sleeps.",
    "command": "sh -c",
    "subcommand": [
        {
            "name": "default",
            "description": "Run a script.",
            "positional_args": [{"name": "script", "type": "string", "required": True}],
        }
    ],
}


def write_tool(home: Home, tool: dict[str, Any]) -> Path:
    folder = home.folder / ".config" / "sayso" / "tools"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{tool['name']}.json"
    file.write_text(json.dumps(tool, indent=2))
    return file


@contextmanager
def operations(home: Home) -> Iterator[OperationDesk]:
    store = SqliteStore(home.state / "sayso.db", home.state / "bell")
    try:
        yield OperationDesk(store, home.state / "operations")
    finally:
        store.close()


@contextmanager
def running(home: Home, script: str) -> Iterator[tuple[subprocess.Popen[bytes], Operation]]:
    """A tool under way, started from a shell."""
    write_tool(home, SLEEPER)
    process = subprocess.Popen(
        [BIN / "sayso", "tools", "run", "sleeper", f"script={script}"],
        cwd=home.project,
        env=home.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # the tests may run under nohup
    )
    try:
        yield process, _begun(home)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=SECONDS)


def _begun(home: Home) -> Operation:
    with operations(home) as desk, _bounded() as rounds:
        for _ in rounds:
            found = [one for one in desk.under_way() if one.started_at and (one.folder / "runner.json").exists()]
            if found:
                return found[0]
            desk._store.bell().wait(LOOK_EVERY / 5)
    raise AssertionError("no operation began")


@contextmanager
def _bounded() -> Iterator[range]:
    yield range(SECONDS * 5)


def test_a_run_that_was_stopped_is_not_said_to_have_been_stopped_by_a_server(home: Home) -> None:
    with running(home, "echo begun; exec sleep 1000") as (process, operation):
        process.send_signal(signal.SIGTERM)
        process.wait(SECONDS)
    shown = home.run("ops", "show", operation.id)
    assert "cancelled by `sayso tools run`, which was stopped" in shown.out
    assert "server" not in shown.out


def test_an_empty_project_is_told_what_there_is_to_begin_with(home: Home) -> None:
    ran = home.run("tools", "list")
    assert ran.code == 0
    assert "sayso tools init git" in ran.err
    assert "cargo" in ran.err


@pytest.mark.requirement("H-63")
def test_a_ready_made_file_is_written_once_and_gives_its_tools(home: Home) -> None:
    assert home.run("tools", "init", "git").code == 0
    file = home.project / ".sayso" / "tools" / "git.json"
    before = file.read_bytes()
    again = home.run("tools", "init", "git")
    assert "left alone" in again.err
    assert file.read_bytes() == before
    tools = json.loads(home.run("tools", "list", "--json").out)
    assert "git_status" in {tool["name"] for tool in tools}
    for tool in tools:
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])


@pytest.mark.parametrize("whose", ["the person's", "the project's"])
def test_a_ready_made_file_whose_tools_are_there_already_under_another_name_is_left_out(home: Home, whose: str) -> None:
    mine = write_tool(home, {**SLEEPER, "name": "git", "command": "git"}).rename(home.folder / "my-git.json")
    tools = (
        home.folder / ".config" / "sayso" / "tools" if whose == "the person's" else home.project / ".sayso" / "tools"
    )
    tools.mkdir(parents=True, exist_ok=True)
    mine.replace(tools / "my-git.json")
    written = home.project / ".sayso" / "tools" / "git.json"
    if whose == "the project's":
        ran = home.run("tools", "init", "git")
        assert written.exists(), "what nobody has trusted has no tools"
        written.unlink()
        home.trust()
    ran = home.run("tools", "init", "git", "cargo")
    assert ran.code == 0
    assert f"{written} was not written: {tools / 'my-git.json'} has git already" in ran.err
    assert "rename or remove the other one first, or add --anyway" in ran.err
    assert not written.exists()
    assert written.with_name("cargo.json").exists()
    assert home.run("tools", "validate").code == 0
    assert home.run("tools", "init", "git", "--anyway").code == 0
    assert written.exists()
    for_all = home.run("tools", "init", "git", "--user").err
    assert ("was not written" in for_all) == (whose == "the person's")


def test_an_unknown_ready_made_file_is_refused_with_those_there_are(home: Home) -> None:
    ran = home.run("tools", "init", "gti")
    assert ran.code == 3
    assert "git" in ran.err


@pytest.mark.requirement("H-62")
@pytest.mark.parametrize("how", ["file", "folder", "all"])
def test_validate_gives_the_same_verdict_for_a_file_a_folder_and_all(home: Home, how: str) -> None:
    file = write_tool(home, SLEEPER)
    path = {"file": [str(file)], "folder": [str(file.parent)], "all": []}[how]
    assert home.run("tools", "validate", *path).code == 0
    write_tool(home, {**SLEEPER, "comand": "x"})
    ran = home.run("tools", "validate", *path)
    assert ran.code == 1
    assert f"{file}:" in ran.out
    assert "comand" in ran.out
    (fault,) = json.loads(home.run("tools", "validate", *path, "--json").out)
    assert (fault["kind"], fault["path"], fault["file"]) == ("unknown", "comand", str(file))
    file.unlink()
    taken = write_tool(home, {**SLEEPER, "name": "ask_user"})
    ran = home.run("tools", "validate", *([str(taken)] if how == "file" else path))
    assert (ran.code, "Sayso itself already has" in ran.out) == (1, True), "a server leaves it out"
    assert "ask_user" not in home.run("tools", "list").out


def test_validate_tells_of_an_untrusted_file_what_it_will_tell_once_that_is_trusted(home: Home) -> None:
    steps = [{"tool": "elsewhere", "subcommand": "default", "args": {}}]
    folder = home.project / ".sayso" / "tools"
    folder.mkdir(parents=True)
    sequence = {"name": "verify", "description": "Both.", "command": "sequence", "sequence": steps}
    (folder / "verify.json").write_text(json.dumps(sequence))
    (folder / "zz.json").write_text(json.dumps({**SLEEPER, "name": "verify"}))
    before = home.run("tools", "validate")
    assert (before.code, "2 tool files of this project are not used" in before.err) == (1, True)
    assert "found `elsewhere`" in before.out
    home.trust()
    assert home.run("tools", "validate").out == before.out


def test_the_published_schema_accepts_what_is_served(home: Home) -> None:
    schema = json.loads(home.run("tools", "schema").out)
    jsonschema.Draft202012Validator(schema).validate(SLEEPER)


def test_a_tool_run_from_the_shell_tells_output_and_exit_code(home: Home) -> None:
    write_tool(home, SLEEPER)
    good = home.run("tools", "run", "sleeper", "script=echo hello; exit 0")
    assert good.code == 0
    assert "hello" in good.out
    bad = home.run("tools", "run", "sleeper", "script=echo oh >&2; exit 7", "--json")
    assert bad.code == 1
    assert "exit_code" in bad.out
    assert "oh" in bad.out


def test_a_wrong_argument_is_refused_before_anything_runs(home: Home) -> None:
    write_tool(home, SLEEPER)
    assert "script: has no value. Write script=VALUE." in home.run("tools", "run", "sleeper", "script").error
    twice = home.run("tools", "run", "sleeper", "script=echo 1", "script=echo 2")
    assert (twice.code, "script: takes one value, and is given more than once." in twice.error) == (2, True)
    ran = home.run("tools", "run", "sleeper", "skript=echo hello")
    assert ran.code == 2
    assert "script" in ran.err
    with operations(home) as desk:
        assert [*desk.under_way(), *desk.ended()] == []


GONE = {"schema_version": 2, "description": "Not there.", "command": "no-such-program", "synchronous": True}


@pytest.mark.parametrize("instructions", [{}, {"install_instructions": "buy one"}], ids=["", "with instructions"])
def test_a_program_that_is_missing_is_told_in_the_same_words_whoever_has_looked_for_it(
    home: Home, instructions: dict[str, str]
) -> None:
    check = {"availability_check": {"command": "no-such-program", "args": ["--version"]}}
    told = set()
    for more in ({}, check):
        write_tool(home, {**GONE, "name": "gone", **instructions, **more})
        ran = home.run("tools", "run", "gone")
        assert (ran.code, ran.out) == (8, "")
        told.add(ran.error)
        assert home.run("tools", "run", "gone", "--json").code == 8
    said = told.pop()
    assert not told
    assert said.startswith("Error: gone could not be started: 'no-such-program' was not found on PATH")
    assert said.endswith("PATH. To install it: buy one" if instructions else "). Install it, or give its full path.")
    german = home.run("tools", "run", "gone", LANG="de_DE.UTF-8")
    assert german.err.startswith("Fehler: gone konnte nicht gestartet werden: 'no-such-program'")


@pytest.mark.parametrize("checked", [False, True], ids=["", "though its check said so before"])
def test_a_sequence_that_had_begun_has_failed_where_a_step_of_it_could_not_be_started(
    home: Home, checked: bool
) -> None:
    check = {"availability_check": {"command": "no-such-program"}} if checked else {}
    write_tool(home, {**GONE, "name": "gone", **check})
    write_tool(home, {**GONE, "name": "there", "command": "true"})
    for steps, code in ((["gone", "there"], 8), (["there", "gone"], 1)):
        sequence = [{"tool": name, "subcommand": "default"} for name in steps]
        write_tool(home, {**GONE, "name": "both", "command": "true", "sequence": sequence})
        ran = home.run("tools", "run", "both")
        assert ran.code == code
        assert "gone, could not begin: gone could not be started: 'no-such-program' was not found on PATH" in ran.err
        assert ("The 1 after it were not run." in ran.err) == (code == 8)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP], ids=["Ctrl-C", "closed"])
def test_what_a_tool_writes_is_printed_as_it_comes_and_interrupting_it_ends_every_process(
    home: Home, number: signal.Signals
) -> None:
    with running(home, "echo first; sleep 300 & exec sleep 300") as (process, operation):
        children = _processes_of(operation)
        assert children
        assert process.stdout is not None
        assert process.stdout.readline() == b"first\n"
        process.send_signal(number)
        process.communicate(timeout=SECONDS)
        assert process.returncode == 130
        assert not any(child.is_running() for child in children)


def test_running_a_tool_does_not_end_what_goes_on_without_its_agent(home: Home) -> None:
    with running(home, "exec sleep 300") as (process, operation):
        children = _processes_of(operation)
        process.kill()
        process.wait(SECONDS)
        assert home.run("tools", "run", "sleeper", "script=echo hello").out == "hello\n"
        assert all(child.is_running() for child in children)
        assert "was cancelled" in home.run("ops", "cancel", operation.id[:8]).err
        assert not any(child.is_running() for child in children)


def test_a_copy_of_the_state_leaves_what_the_original_runs_and_keeps_alone(home: Home) -> None:
    copy, moved = home.folder / "copy", home.folder / "moved"
    with running(home, "echo first; exec sleep 300") as (process, operation):
        assert process.stdout is not None
        assert process.stdout.readline() == b"first\n"
        children, short = _processes_of(operation), operation.id[:8]
        shutil.copytree(home.state, copy, ignore=shutil.ignore_patterns("bell"))
        tried = {"SAYSO_STATE_DIR": str(copy), "SAYSO_KEEP_OPERATIONS": "1ms"}
        assert "It had ended already: lost." in home.run("ops", "cancel", short, **tried).err
        assert home.run("tools", "run", "sleeper", "script=echo hello", **tried).out == "hello\n"
        assert all(child.is_running() for child in children)
        assert home.run("ops", "output", short).out == "first\n"
        assert "was cancelled" in home.run("ops", "cancel", short).err
    home.state.rename(moved)
    assert home.run("ops", "output", short, SAYSO_STATE_DIR=str(moved)).out == "first\n"


def test_a_person_sees_watches_and_cancels_what_runs(home: Home) -> None:
    with running(home, "echo first; exec sleep 300") as (process, operation):
        short = operation.id[:8]
        listed = home.run("ops", "list", "--running")
        assert short in listed.out
        assert "running" in listed.out
        assert "first" in home.run("ops", "output", short).out
        children = _processes_of(operation)
        cancelled = home.run("ops", "cancel", short)
        assert cancelled.code == 0
        assert not any(child.is_running() for child in children)
        process.communicate(timeout=SECONDS)
        assert process.returncode == 1
    shown = json.loads(home.run("ops", "show", short, "--json").out)
    assert shown["status"] == "cancelled"
    assert "cancelled" in home.run("ops", "show", short).out


def test_a_command_that_still_runs_is_listed_first_however_many_have_ended_since(home: Home) -> None:
    with running(home, "exec sleep 300") as (process, operation):
        for number in range(3):
            home.run("tools", "run", "sleeper", f"script=echo {number}")
        listed = home.run("ops", "list", "--limit", "2")
        assert listed.out.splitlines()[1].startswith(operation.id[:8])
        assert "echo 2" in listed.out.splitlines()[2]
        assert f"Stop one: sayso ops cancel {operation.id[:8]}" in listed.err
        only = home.run("ops", "list", "--running", "--limit", "1")
        assert operation.id[:8] in only.out
        home.run("ops", "cancel", operation.id[:8])
        process.communicate(timeout=SECONDS)
    ended = home.run("ops", "list")
    assert "See one: sayso ops show" in ended.err
    assert "Stop one" not in ended.err


def test_secrets_in_a_command_line_are_masked_as_in_what_it_prints(home: Home) -> None:
    write_tool(home, SLEEPER)
    home.run("tools", "run", "sleeper", "script=: API_KEY=hunter2hunter2")
    listed = home.run("ops", "list").out
    assert "API_KEY=***" in listed
    shown = home.run("ops", "show", listed.splitlines()[1].split()[0]).out
    assert "API_KEY=***" in shown
    assert "hunter2" not in listed + shown


def test_watching_prints_what_is_written_and_ends_with_the_command(home: Home) -> None:
    write_tool(home, SLEEPER)
    home.run("tools", "run", "sleeper", "script=printf 'one\\ntwo\\n'; exit 3")
    (listed,) = json.loads(home.run("ops", "list", "--json").out)
    watched = home.run("ops", "watch", listed["id"])
    assert watched.out == "one\ntwo\n"
    assert watched.code == 1
    assert home.run("ops", "output", listed["id"], "--tail", "1").out == "two\n"
    assert home.run("ops", "output", listed["id"], "--grep", "^o").out == "one\n"


def test_a_search_in_output_says_where_it_stops(home: Home) -> None:
    write_tool(home, SLEEPER)
    home.run("tools", "run", "sleeper", "script=seq 1200")
    (listed,) = json.loads(home.run("ops", "list", "--json").out)
    found = home.run("ops", "output", listed["id"], "--grep", ".")
    assert len(found.out.splitlines()) == 1_000
    assert found.err == "… and more: these are the first 1,000 lines of a stream that match.\n"
    assert home.run("ops", "output", listed["id"], "--grep", "^11").err == ""


def test_what_is_said_of_a_command_begins_a_line_of_its_own(home: Home) -> None:
    write_tool(home, SLEEPER)
    assert "oops\nsleeper (operation " in home.run("tools", "run", "sleeper", "script=printf oops >&2").err


def test_no_operation_says_how_to_get_one(home: Home) -> None:
    assert "tools init" in home.run("ops", "list").err
    assert home.run("ops", "show", "abcdef").code == 3


def _processes_of(operation: Operation) -> list[psutil.Process]:
    runner = json.loads((operation.folder / "runner.json").read_text())
    return psutil.Process(runner["pid"]).children(recursive=True)


def test_a_tool_that_is_not_there_is_told_the_nearest_name(home: Home) -> None:
    home.run("tools", "init", "git")
    ran = home.run("tools", "run", "git_stauts")
    assert ran.code == 3
    assert ran.error.startswith("Error: There is no tool 'git_stauts' here. Did you mean git_status?")


NOISY = "echo to stdout; echo to stderr >&2"


@pytest.mark.finding("F-63")
def test_what_a_command_writes_to_either_stream_is_shown_and_one_can_be_chosen(home: Home) -> None:
    write_tool(home, SLEEPER)
    home.run("tools", "run", "sleeper", f"script={NOISY}")
    (listed,) = json.loads(home.run("ops", "list", "--json").out)
    for shown in (home.run("ops", "watch", listed["id"]), home.run("ops", "output", listed["id"])):
        assert shown.out == "to stdout\n--- stderr ---\nto stderr\n"
    assert home.run("ops", "output", listed["id"], "--stderr").out == "--- stderr ---\nto stderr\n"
    assert home.run("ops", "output", listed["id"], "--stdout").out == "to stdout\n"
    assert home.run("ops", "watch", listed["id"], "--stdout").out == "to stdout\n"
    assert "to stderr" in home.run("ops", "output", listed["id"], "--grep", "err").out
    assert "to stderr" in home.run("ops", "output", listed["id"], "--tail", "1").out


def test_both_streams_of_a_command_come_in_the_order_in_which_it_wrote(home: Home) -> None:
    write_tool(home, SLEEPER)
    home.run("tools", "run", "sleeper", "script=echo first >&2; echo second")
    (listed,) = json.loads(home.run("ops", "list", "--json").out)
    for more in ([], ["--tail", "2"], ["--grep", "r|s"]):
        shown = home.run("ops", "output", listed["id"], *more)
        assert shown.out == "--- stderr ---\nfirst\n--- stdout ---\nsecond\n"


@pytest.mark.finding("F-67")
def test_only_what_the_command_writes_goes_down_a_pipe(home: Home) -> None:
    write_tool(home, SLEEPER)
    ran = home.run("tools", "run", "sleeper", f"script={NOISY}")
    assert ran.out == "to stdout\n"
    assert ran.err.startswith("to stderr\n")
    assert "succeeded" in ran.err
    failed = home.run("tools", "run", "sleeper", "script=exit 3")
    assert (failed.out, failed.code) == ("", 1)
    assert "exit code 3" in failed.err


@pytest.mark.finding("F-68")
def test_the_list_says_which_tools_need_a_say_so_and_a_command_that_waits_for_one_does_too(home: Home) -> None:
    write_tool(home, {**SLEEPER, "approve": "always"})
    write_tool(home, {**SLEEPER, "name": "free"})
    listed = home.run("tools", "list")
    rows = {line.split()[0]: line for line in listed.out.splitlines()}
    assert "each time" in rows["sleeper"]
    assert "each time" not in rows["free"]
    assert "SAY-SO: whether a person must allow a call" in listed.err
    assert {tool["name"]: tool["approve"] for tool in json.loads(home.run("tools", "list", "--json").out)} == {
        "sleeper": "always",
        "free": "never",
    }
    process = subprocess.Popen(
        [BIN / "sayso", "tools", "run", "sleeper", "script=true"],
        cwd=home.project,
        env=home.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        home.wait_for_ask()
        waiting = home.run("ops", "list")
        assert "waits for your say-so" in waiting.out
        assert "queued" not in waiting.out
        short = waiting.out.splitlines()[1].split()[0]
        deadline = time.monotonic() + SECONDS
        while not (asked := re.search("Decide it: sayso allow ([0-9a-f]{8})", home.run("ops", "show", short).out)):
            assert time.monotonic() < deadline
        assert "Run sleeper?" in home.run("show", asked[1]).out
        (told,) = json.loads(home.run("ops", "list", "--json").out)
        assert (told["status"], told["awaits_say_so"]) == ("queued", True)
    finally:
        process.terminate()
        process.wait(SECONDS)


def test_a_command_that_is_cancelled_while_it_waits_for_a_say_so_is_not_asked_about_any_more(home: Home) -> None:
    write_tool(home, {**SLEEPER, "approve": "always"})
    command = [str(BIN / "sayso"), "tools", "run", "sleeper", "script=touch ran"]
    process = subprocess.Popen(command, cwd=home.project, env=home.env, stderr=subprocess.PIPE, text=True)
    try:
        ask = home.wait_for_ask()
        with operations(home) as desk:
            (operation,) = desk.under_way()
        assert "Cancelled before it began, by" in home.run("ops", "cancel", operation.id[:8]).err
        assert "Cancelled before it began, by" in process.communicate(timeout=SECONDS)[1]
    finally:
        process.kill()
        process.wait(SECONDS)
    assert process.returncode == 1
    assert home.ask_of(ask).state is State.CANCELLED
    assert not (home.project / "ran").exists()
