"""The descent guard: an agent's own processes cannot settle what it asked."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest
from tests.cli.program import BIN, SECONDS, Home, choice

from sayso.asks.guard import kinship
from sayso.asks.model import Asker, State
from sayso.processes import name_of


def this_process(**changes: object) -> Asker:
    ours = name_of(os.getpid())
    assert ours is not None
    known: dict[str, object] = {
        "client": "agent",
        "host": socket.gethostname(),
        "pid": ours.pid,
        "started": ours.started,
    }
    return Asker(**{**known, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("arguments", [["answer", "ID", "SQLite"], ["reject", "ID", "--reason", "never mind"]])
def test_a_child_of_the_asking_agent_is_refused_and_it_is_recorded(home: Home, arguments: list[str]) -> None:
    ask = home.leave(choice(), asker=this_process())
    ran = home.run(*(ask.id if part == "ID" else part for part in arguments))
    assert ran.code == 5
    assert "an agent may not settle its own" in ran.error
    assert home.ask_of(ask).state is State.PENDING
    with home.desk() as desk:
        event = desk.events(ask.id)[-1]
    assert (event.kind, event.person, event.surface) == ("refused", "ada", "command line")
    assert event.detail == f"it descends from process {os.getpid()}"
    assert "refused: pending by ada in command line" in home.run("show", ask.id, "--events").out


def test_a_grandchild_through_a_shell_is_refused_too(home: Home) -> None:
    ask = home.leave(choice(), asker=this_process())
    script = f"sh -c '{BIN}/sayso answer {ask.id} SQLite; echo code=$?'; true"
    ran = subprocess.run(
        ["sh", "-c", script], capture_output=True, text=True, env=home.env, cwd=home.project, timeout=SECONDS
    )
    assert "code=5" in ran.stdout


def test_a_process_in_the_asking_session_is_refused(home: Home) -> None:
    ask = home.leave(choice(), asker=Asker(client="claude-code", session="abc-123"))
    ran = home.run("answer", ask.id, "SQLite", CLAUDE_CODE_SESSION_ID="abc-123")
    assert ran.code == 5
    assert "it runs in the session abc-123" in ran.error


@pytest.mark.parametrize(
    "asker",
    [
        this_process(host="another-machine"),
        this_process(started="0"),
        this_process(pid=0, started=""),
        Asker(client="agent", session="another-session"),
        Asker(client="agent", session=""),
    ],
    ids=["other host", "reused pid", "unknown process", "other session", "no session"],
)
def test_everybody_else_may_answer(home: Home, asker: Asker) -> None:
    ask = home.leave(choice(), asker=asker)
    assert home.run("answer", ask.id, "SQLite", CLAUDE_CODE_SESSION_ID="abc-123").code == 0


def test_a_sibling_of_the_agent_may_answer(home: Home) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as agent:
        name = name_of(agent.pid)
        assert name is not None
        ask = home.leave(choice(), asker=this_process(pid=name.pid, started=name.started))
        ran = home.run("answer", ask.id, "SQLite")
        assert agent.stdin is not None
        agent.stdin.write(b"\n")
    assert ran.code == 0


def test_an_empty_session_in_the_environment_is_no_kinship() -> None:
    assert kinship(Asker(session=""), {"CLAUDE_CODE_SESSION_ID": ""}) == ""
