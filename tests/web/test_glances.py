"""Sessions in terminals as rows: at work, quiet, and with what was last said in them."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.asks.samples import living

from sayso.agents.desk import RunDesk
from sayso.agents.projects import Projects
from sayso.agents.takeover import Takeovers
from sayso.agents.terminal_sessions import QUEUE_PATIENCE
from sayso.bridge import in_thread
from sayso.clock import now_ms
from sayso.config import Config
from sayso.records import replace
from sayso.roster import AgentAtWork, Roster
from sayso.store import Store
from sayso.text import iso_time
from sayso.web import agent_wording, glances
from sayso.web.glances import Glances, SessionNews

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
        takeovers = Takeovers(
            Config(state_dir=folder, person="ada"), Projects(store), Roster(store), RunDesk(store, folder / "runs")
        )
        self.glances = Glances(takeovers, clock=lambda: self.now)

    def agent(self, *entries: dict[str, Any], **known: str) -> AgentAtWork:
        session = str(uuid.uuid4())
        self.says(session, *entries)
        return AgentAtWork(id=session[:12], name="one", asker=living(session=session, **known), since=1, seen_at=1)

    def says(self, session: str, *entries: dict[str, Any]) -> None:
        with (self._folder / f"{session}.jsonl").open("a") as file:
            file.write("".join(json.dumps(entry, separators=(",", ":")) + "\n" for entry in entries))

    def file(self, agent: AgentAtWork) -> Path:
        return self._folder / f"{agent.asker.session}.jsonl"

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
    assert home.glances.due_in({"ada"}) == glances.EVERY
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


def test_a_session_that_has_not_changed_is_never_read_again(home: Home) -> None:
    agent, stranger = home.agent(TOLD, DONE), home.agent(TOLD)
    stranger = replace(stranger, asker=replace(stranger.asker, client="cursor"))
    told = home.glances.told([agent, stranger], "ada")
    assert [agent_wording.standing(each).word for each in told] == ["Quiet", "Open"]
    home.now += 3600
    assert not home.glances.is_due([agent, stranger], "ada")
    assert (home.glances.due_in({"ada"}), home.glances.due_anyway_in({"ada"})) == (None, None)


def test_a_message_that_is_left_in_the_queue_of_a_terminal_is_no_turn_for_long(home: Home) -> None:
    queued = {"type": "queue-operation", "operation": "enqueue", "timestamp": iso_time(now_ms())}
    agent = home.agent(TOLD, DONE, queued)
    assert home.row(agent)[0] == "At work"
    assert home.glances.due_anyway_in({"ada"}) == QUEUE_PATIENCE / 1000
    home.now += QUEUE_PATIENCE / 1000
    assert home.glances.is_due([agent], "ada")


class Onlooker:
    """Looks at sessions whenever it is told that there may be something new."""

    def __init__(self, home: Home, *agents: AgentAtWork) -> None:
        self.home, self.agents = home, agents
        self.woken, self.looks, self.rung = 0, 0, asyncio.Event()
        self.news = SessionNews(home.glances, self._wake)

    def _wake(self) -> None:
        self.woken += 1
        self.rung.set()

    async def look(self) -> str:
        """What the last of them tells, after one look as a page that is open takes it."""
        self.rung.clear()
        self.looks += self.news.is_due(self.agents, "ada")
        if self.news.is_due(self.agents, "ada"):
            self.home.glances.told(self.agents, "ada")
        await self.news.go_on({"ada"}, in_thread)
        return agent_wording.doing(self.home.glances.known(self.agents[-1], "ada"), str)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system tells nothing, and files are looked at")
def test_what_another_process_writes_wakes_whoever_looks_and_nothing_else_does(home: Home) -> None:
    """However many sessions there are, they cost one descriptor, which is gone with the last onlooker."""
    agents = [home.agent(TOLD) for _ in range(20)]
    later = AgentAtWork(
        id="later", name="two", asker=living(session=str(uuid.uuid4()), project="shop"), since=1, seen_at=1
    )

    async def look() -> None:
        onlooker = Onlooker(home, later, *agents)
        assert await onlooker.look() == "You: Fix <b>it</b>."
        assert _watches() == 1
        # What else happens has them look, and read nothing.
        for _ in range(5):
            home.now += 60
            await onlooker.look()
        assert (onlooker.looks, onlooker.woken) == (1, 0)
        _written_elsewhere(home.file(agents[-1]), DONE)
        await asyncio.wait_for(onlooker.rung.wait(), 30)
        assert await onlooker.look() == "It is fixed."
        # Written to all the time, it is looked at again only after a while, and until then wakes nobody.
        for _ in range(3):
            _written_elsewhere(home.file(agents[-1]), TOLD)
        await asyncio.wait_for(onlooker.rung.wait(), 30)
        woken = onlooker.woken
        assert await onlooker.look() == "It is fixed."
        _written_elsewhere(home.file(agents[-1]), TOLD)
        assert onlooker.woken == woken
        home.now += glances.EVERY
        await asyncio.wait_for(onlooker.rung.wait(), 30)
        assert await onlooker.look() == "You: Fix <b>it</b>."
        # One that had said nothing yet.
        _written_elsewhere(home.file(later), TOLD, DONE)
        await asyncio.wait_for(onlooker.rung.wait(), 30)
        home.now += glances.EVERY
        await onlooker.look()
        assert home.glances.known(later, "ada").said == "It is fixed."
        onlooker.news.stop()

    asyncio.run(look())
    assert _watches() == 0


def _watches() -> int:
    """How many descriptors of this process the system tells changes by."""
    found = 0
    for each in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            found += os.readlink(f"/proc/self/fd/{each}") == "anon_inode:inotify"
    return found


def _written_elsewhere(file: Path, *entries: dict[str, Any]) -> None:
    lines = "".join(json.dumps(entry, separators=(",", ":")) + "\n" for entry in entries)
    subprocess.run(["tee", "-a", str(file)], input=lines.encode(), stdout=subprocess.DEVNULL, check=True)
