"""`sayso server` as a command: its options, its end. What it says to clients is tested elsewhere."""

from __future__ import annotations

import json

import pytest
from tests.cli.program import Home
from tests.cli.pseudo_terminal import Terminal

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def greeted(home: Home, *flags: str, program: str = "sayso") -> str:
    ran = home.run("server", *flags, program=program, stdin=json.dumps(HELLO) + "\n")
    assert ran.code == 0, ran.err
    name: str = json.loads(ran.out)["result"]["serverInfo"]["name"]
    return name


def test_it_serves_until_its_input_ends_and_leaves_nothing_behind(home: Home) -> None:
    assert greeted(home) == "sayso"
    assert not home.state.exists()


def test_the_profile_comes_from_the_flag_or_the_programs_name(home: Home) -> None:
    assert greeted(home, "--profile", "auq") == "AskUserQuestions"
    assert greeted(home, program="auq") == "AskUserQuestions"
    assert greeted(home, "--profile", "all", program="auq") == "sayso"


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--profile", "fancy"),
        ("--ask-timeout", "soon"),
        ("--max-questions", "0"),
        ("--max-options", "many"),
        ("--log-level", "loud"),
        ("--log-file", "/dev/null/x"),
    ],
)
def test_a_wrong_option_is_one_error_before_anything_is_served(home: Home, flag: str, value: str) -> None:
    ran = home.run("server", flag, value, stdin=json.dumps(HELLO) + "\n")
    assert (ran.code, ran.out) == (2, "")
    assert repr(value) in ran.error


def test_what_it_logs_goes_to_the_named_file(home: Home) -> None:
    log = home.folder / "logs" / "server.log"
    greeted(home, "--log-file", str(log), "--log-level", "debug")
    assert log.exists()


def test_in_a_terminal_it_says_what_it_waits_for_and_ends_on_ctrl_c(home: Home) -> None:
    with Terminal(home, "server") as terminal:
        terminal.expect("Waiting for an MCP client")
        terminal.expect("Ctrl-C ends it.")
        terminal.interrupt()
        assert "Traceback" not in terminal.screen
