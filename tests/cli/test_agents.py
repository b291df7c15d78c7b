"""`sayso agents`."""

from __future__ import annotations

import os
import socket
from contextlib import closing

import pytest
from tests.cli.program import SOMEONE, Home, choice

from sayso.asks.model import Answer, Asker, NewAsk
from sayso.process_table import started
from sayso.records import replace
from sayso.roster import Roster
from sayso.store.sqlite import SqliteStore


def agent(home: Home, session: str) -> Asker:
    """One that lives as long as this test."""
    here = {"host": socket.gethostname(), "pid": os.getpid(), "started": started(os.getpid())}
    return Asker(client="claude-code", session=session, project=str(home.project), branch="main", **here)  # type: ignore[arg-type]


def note(home: Home, asker: Asker, doing: str = "") -> None:
    with closing(SqliteStore(home.state / "sayso.db")) as store:
        Roster(store).note_gate(asker, doing)


@pytest.mark.finding("F-70")
def test_agents_at_work_are_listed_with_what_they_do_those_that_wait_first(home: Home) -> None:
    note(home, agent(home, "first-111111"), "Bash: npm test\x1b[31m")
    note(home, agent(home, "second-222222"))
    with home.desk() as desk:
        desk.hold(NewAsk(tool="t", questions=(choice("Which database?"),), asker=agent(home, "second-222222")))
        ran = home.run("agents")
        data = home.run("agents", "--json").data
    header, second, first = ran.out.splitlines()
    assert header.split() == ["AGENT", "SINCE", "CLIENT", "PROJECT", "BRANCH", "DOING"]
    assert second.split(maxsplit=5)[::5] == ["222222", "waits for you: Which database?"]
    assert first.split(maxsplit=5)[2:] == ["claude-code", "~/project", "main", "last: Bash: npm test<U+001B>[31m"]
    assert [each["name"] for each in data] == ["222222", "111111"]
    assert [each["waits"] for each in data] == [True, False]


def test_one_agent_is_shown_with_what_it_asks_and_asked_and_nothing_of_another(home: Home) -> None:
    one, other = agent(home, "first-111111"), agent(home, "second-222222")
    note(home, one)
    note(home, other)
    for asker in (one, other):
        with home.desk() as desk:
            asked = desk.leave(NewAsk(tool="t", questions=(choice(f"Ended {asker.session}?"),), asker=asker))
            desk.answer(asked.id, [Answer(question="1", text="yes")], SOMEONE)
            desk.leave(NewAsk(tool="t", questions=(choice(f"Open {asker.session}?"),), asker=asker))
    shown = home.run("agents", "111111").out
    assert "It asks" in shown
    assert "Open first-111111?" in shown
    assert "It asked before" in shown
    assert "Ended first-111111?" in shown
    assert "222222" not in shown
    assert home.run("agents", "nobody").code == 3
    data = home.run("agents", "222222", "--json").data
    assert [ask["questions"][0]["question"] for ask in data["history"]] == ["Ended second-222222?"]


def test_who_has_gone_is_not_listed(home: Home) -> None:
    note(home, replace(agent(home, "gone"), started="another process"))
    ran = home.run("agents")
    assert ran.out == ""
    assert "No agent is at work." in ran.err
