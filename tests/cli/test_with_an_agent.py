"""A real MCP client asks through `sayso server`; a person answers with the other commands."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import new_home
from tests.cli.program import BIN, SECONDS, Home

AGENT = Path(__file__).with_name("agent_program.py")


class Agent:
    """An agent that can be told to ask or to run a command, and the machine it is on."""

    def __init__(self, home: Home, process: subprocess.Popen[str]) -> None:
        self.home = home
        self._process = process

    def ask(self) -> dict[str, Any]:
        """Have it ask, and see the ask as another process does."""
        self.obey("ask")
        self.home.wait_for_ask()
        (seen,) = self.home.run("list", "--json").data
        told: dict[str, Any] = seen
        return told

    def obey(self, line: str) -> None:
        assert self._process.stdin is not None
        print(line, file=self._process.stdin, flush=True)

    def told(self) -> dict[str, Any]:
        """What it prints next."""
        assert self._process.stdout is not None
        told: dict[str, Any] = json.loads(self._process.stdout.readline())
        return told


@pytest.fixture(scope="module", params=[("auto", "sayso"), ("legacy", "auq")], ids=["auto-sayso", "legacy-auq"])
def agent(request: pytest.FixtureRequest) -> Iterator[Agent]:
    mode, program = request.param
    with (
        new_home() as home,
        subprocess.Popen(
            [sys.executable, AGENT, BIN / program, mode],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=home.project,
            env={**home.env, "PYTHONWARNINGS": "default", "SAYSO_LOG_LEVEL": "warning"},
            text=True,
        ) as process,
    ):
        try:
            yield Agent(home, process)
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(SECONDS) == 0
        finally:
            process.kill()


@pytest.mark.requirement("A-26")
def test_an_ask_is_visible_to_another_process_whose_answer_comes_back(agent: Agent) -> None:
    ask = agent.ask()
    assert (ask["status"], ask["attended"], ask["tool"]) == ("pending", True, "ask_user_questions")
    assert ask["questions"][0]["question"] == "Which database?"
    ran = agent.home.run("answer", ask["id"][:8], "postgresql")
    assert (ran.code, ran.err) == (0, "Answered. The agent has your answer.\n")
    result = agent.told()
    assert "→ PostgreSQL" in result["text"]
    assert result["data"]["answered_by"] == "ada"
    assert agent.home.run("show", ask["id"], "--json").data["delivered"] is True


@pytest.mark.requirement("A-35", "A-36")
def test_a_rejection_reaches_the_agent_with_its_reason(agent: Agent) -> None:
    ran = agent.home.run("reject", agent.ask()["id"], "--reason", "Look it up yourself")
    assert (ran.code, ran.err) == (0, "Rejected. The agent has been told.\n")
    result = agent.told()
    assert "rejected" in result["text"]
    assert "Look it up yourself" in result["text"]
    assert not result["is_error"]


@pytest.mark.requirement("A-35", "A-37")
def test_a_rejection_without_a_reason_reaches_the_agent(agent: Agent) -> None:
    assert agent.home.run("reject", agent.ask()["id"]).code == 0
    result = agent.told()
    assert "rejected" in result["text"]
    assert result["data"]["reason"] is None


def test_the_agent_cannot_answer_itself_and_a_person_still_can(agent: Agent) -> None:
    ask = agent.ask()
    agent.obey(f"{BIN}/sayso answer {ask['id']} SQLite")
    assert agent.told() == {"code": 5}
    assert agent.home.run("answer", ask["id"], "PostgreSQL").code == 0
    assert "PostgreSQL" in agent.told()["text"]
    events = agent.home.run("show", ask["id"], "--events", "--json").data["events"]
    assert "refused" in [event["kind"] for event in events]
