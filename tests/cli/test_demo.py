"""`sayso demo`: the whole way of a question, and nothing left behind."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Iterator

import psutil
import pytest
from tests.cli.program import SECONDS, Home
from tests.cli.pseudo_terminal import Terminal


@pytest.fixture(autouse=True)
def _nothing_left_behind(home: Home) -> Iterator[None]:
    """No process that has anything to do with this home, and no file in it but the project's folder."""
    yield
    left = [process for process in psutil.process_iter() if _mentions(process, str(home.folder))]
    psutil.wait_procs(left, timeout=20)
    assert [process for process in left if process.is_running()] == []
    assert [entry.name for entry in home.folder.iterdir()] == ["project"]


def _mentions(process: psutil.Process, folder: str) -> bool:
    try:
        return process.environ().get("HOME") == folder
    except psutil.Error:
        return False


def test_a_person_answers_three_questions_and_sees_what_the_agent_received(home: Home) -> None:
    with Terminal(home, "demo") as terminal:
        asked = terminal.expect("own words: ")
        assert "demo-agent" in asked
        assert "3 questions" in asked
        assert "1) SQLite (recommended)" in asked
        terminal.type("1")
        terminal.reply("own words: ", "1,3")
        terminal.reply("own words: ", "on Friday")
        terminal.reply("Send them?", "y")
        terminal.expect("Answered. The agent has it.")
        shown = terminal.expect("What the agent received")
        assert terminal.end() == 0
        shown = terminal.screen[terminal.screen.index("What the agent received") :]
    for words in ("→ SQLite", "→ Formatter", "→ Unit tests", "→ Other: on Friday"):
        assert words in shown
    for words in ("claude mcp add sayso -- sayso server", "codex mcp add sayso -- sayso server", '"mcpServers"'):
        assert words in shown


def test_a_rejection_is_shown_as_the_agent_received_it(home: Home) -> None:
    with Terminal(home, "demo") as terminal:
        terminal.reply("own words: ", "/r")
        terminal.reply("Why?", "just looking")
        assert terminal.end() == 0
        assert "The user rejected these questions. Reason: just looking" in terminal.screen


def test_leaving_sends_nothing_and_still_tells_how_to_connect(home: Home) -> None:
    with Terminal(home, "demo") as terminal:
        terminal.reply("own words: ", "/q")
        assert terminal.end() == 0
        assert "the agent received nothing" in terminal.screen
        assert "claude mcp add" in terminal.screen


def test_ctrl_c_at_a_prompt_ends_it_cleanly(home: Home) -> None:
    with Terminal(home, "demo") as terminal:
        terminal.expect("own words: ")
        assert terminal.interrupt() == 130
        assert "Traceback" not in terminal.screen


def test_ctrl_c_while_the_agent_starts_ends_it_cleanly(home: Home) -> None:
    with Terminal(home, "demo") as terminal:
        terminal.expect("A scripted agent starts")
        terminal.press(b"\x03")
        assert terminal.end() == 130
        assert "Traceback" not in terminal.screen


def test_without_a_terminal_and_without_input_it_answers_nothing_and_ends(home: Home) -> None:
    ran = home.run("demo")
    assert ran.code == 0, ran.err
    assert "nothing is answered for you" in ran.out
    assert "the agent received nothing" in ran.out
    assert ran.err == ""


def test_without_a_terminal_an_answer_from_elsewhere_is_shown(home: Home) -> None:
    with home.start("demo", stdin=subprocess.PIPE) as demo:
        state, ask_id = _how_to_answer(demo)
        values = ["-q", "1=PostgreSQL", "-q", "2=#1", "-q", "3=never"]
        assert home.run("answer", ask_id, *values, SAYSO_STATE_DIR=state).err == "Answered. The agent has it.\n"
        out, err = demo.communicate(timeout=SECONDS)
    assert (demo.returncode, err) == (0, "")
    assert "→ PostgreSQL" in out
    assert "→ Other: never" in out


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_cleanly(home: Home, number: signal.Signals) -> None:
    with home.start("demo", stdin=subprocess.PIPE) as demo:
        _how_to_answer(demo)
        demo.send_signal(number)
        _, err = demo.communicate(timeout=SECONDS)
    assert (demo.returncode, err) == (128 + number, "")


def _how_to_answer(demo: subprocess.Popen[str]) -> tuple[str, str]:
    assert demo.stdout is not None
    while line := demo.stdout.readline():
        if found := re.search(r"SAYSO_STATE_DIR=(\S+) sayso answer (\w+)", line):
            return found[1], found[2]
    raise AssertionError("it never said how to answer")
