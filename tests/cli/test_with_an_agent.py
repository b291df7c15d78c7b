"""A real MCP client asks through `sayso server`; a person answers with the other commands."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.cli.program import BIN, SECONDS, Home

AGENT = Path(__file__).with_name("agent_program.py")


@contextmanager
def agent(home: Home, mode: str = "auto", program: str = "sayso") -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, AGENT, BIN / program, mode],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=home.project,
        env={**home.env, "PYTHONWARNINGS": "default", "SAYSO_LOG_LEVEL": "warning"},
        text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=SECONDS)


def listed(home: Home) -> dict[str, Any]:
    """What another process sees of the agent's ask, once it is there."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if found := home.run("list", "--json").data:
            ask: dict[str, Any] = found[0]
            return ask
    raise AssertionError("the ask never came")


def received(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, err
    result: dict[str, Any] = json.loads(out)
    return result


@pytest.mark.requirement("A-26")
@pytest.mark.parametrize(("mode", "program"), [("auto", "sayso"), ("legacy", "auq")])
def test_an_ask_is_visible_to_another_process_whose_answer_comes_back(home: Home, mode: str, program: str) -> None:
    with agent(home, mode, program) as process:
        ask = listed(home)
        assert (ask["status"], ask["attended"], ask["tool"]) == ("pending", True, "ask_user_questions")
        assert ask["questions"][0]["question"] == "Which database?"
        ran = home.run("answer", ask["id"][:8], "postgresql")
        assert (ran.code, ran.err) == (0, "Answered. The agent has it.\n")
        result = received(process)
    assert "→ PostgreSQL" in result["text"]
    assert result["data"]["answered_by"] == "ada"
    assert home.run("show", ask["id"], "--json").data["delivered"] is True


@pytest.mark.requirement("A-35", "A-36")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_rejection_reaches_the_agent_with_its_reason(home: Home, mode: str) -> None:
    with agent(home, mode) as process:
        ran = home.run("reject", listed(home)["id"], "--reason", "Look it up yourself")
        assert (ran.code, ran.err) == (0, "Rejected. The agent has it.\n")
        result = received(process)
    assert "rejected" in result["text"]
    assert "Look it up yourself" in result["text"]
    assert not result["is_error"]


@pytest.mark.requirement("A-35", "A-37")
def test_a_rejection_without_a_reason_reaches_the_agent(home: Home) -> None:
    with agent(home) as process:
        assert home.run("reject", listed(home)["id"]).code == 0
        result = received(process)
    assert "rejected" in result["text"]
    assert result["data"]["reason"] is None


def test_the_agent_cannot_answer_itself_and_a_person_still_can(home: Home) -> None:
    with agent(home) as process:
        ask = listed(home)
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(f"{BIN}/sayso answer {ask['id']} SQLite\n")
        process.stdin.flush()
        assert process.stderr.readline() == "code=5\n"
        assert home.run("answer", ask["id"], "PostgreSQL").code == 0
        assert "PostgreSQL" in received(process)["text"]
    events = home.run("show", ask["id"], "--events", "--json").data["events"]
    assert "refused" in [event["kind"] for event in events]
