"""Sessions in terminals as rows: at work, quiet, and with what was last said in them."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from tests.asks.samples import living

from sayso.agents.projects import Projects
from sayso.agents.takeover import Takeovers
from sayso.config import Config
from sayso.roster import AgentAtWork, Roster
from sayso.store import Store
from sayso.web import agent_wording, glances
from sayso.web.glances import Glances

TOLD: dict[str, Any] = {"type": "user", "message": {"content": "Fix <b>it</b>."}, "timestamp": "2026-01-01T10:00:00Z"}
DONE: dict[str, Any] = {
    "type": "assistant",
    "message": {"content": [{"type": "text", "text": "It is **fixed**."}], "stop_reason": "end_turn"},
    "timestamp": "2026-01-01T10:00:05Z",
}


class Home:
    """One person's sessions of Claude Code."""

    def __init__(self, folder: Path, store: Store) -> None:
        self._folder = folder / ".claude" / "projects" / "shop"
        self._folder.mkdir(parents=True)
        self.now = 0.0
        takeovers = Takeovers(Config(state_dir=folder, person="ada"), Projects(store), Roster(store))
        self.glances = Glances(takeovers, clock=lambda: self.now)

    def agent(self, *entries: dict[str, Any], **known: str) -> AgentAtWork:
        session = str(uuid.uuid4())
        self.says(session, *entries)
        return AgentAtWork(id=session[:12], name="one", asker=living(session=session, **known), since=1, seen_at=1)

    def says(self, session: str, *entries: dict[str, Any]) -> None:
        with (self._folder / f"{session}.jsonl").open("a") as file:
            file.write("".join(json.dumps(entry, separators=(",", ":")) + "\n" for entry in entries))

    def row(self, agent: AgentAtWork, user: str = "ada") -> tuple[str, str]:
        (told,) = self.glances.told([agent], user)
        return agent_wording.standing(told).word, agent_wording.doing(told, str)


@pytest.fixture
def home(tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    return Home(tmp_path, store)


def test_a_session_is_at_work_until_its_turn_is_over_and_says_what_was_said_last(home: Home) -> None:
    agent = home.agent(TOLD)
    assert home.row(agent) == ("At work", "You: Fix <b>it</b>.")
    version = home.glances.known(agent, "ada").version
    home.says(agent.asker.session, DONE)
    assert home.row(agent) == ("At work", "You: Fix <b>it</b>."), "it was looked at a moment ago"
    home.now += glances.EVERY
    assert home.glances.is_due([agent], "ada")
    assert home.row(agent) == ("Quiet", "It is fixed.")
    told = home.glances.known(agent, "ada")
    assert told.version != version
    assert agent_wording.moved_at(told) == told.said_at == 1_767_261_605_000


def test_nobody_else_is_told_and_what_cannot_be_read_is_called_neither_at_work_nor_quiet(home: Home) -> None:
    agent = home.agent(TOLD)
    assert home.row(agent, user="bob") == ("Open", "Asks nothing right now")
    assert home.row(home.agent()) == ("Open", "Asks nothing right now")
    assert home.row(home.agent(TOLD, run="1" * 24)) == ("Open", "Asks nothing right now"), "Talk has it already"
