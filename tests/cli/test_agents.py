"""`sayso agents`."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from tests.cli.program import SECONDS, SOMEONE, Home, choice

from sayso.asks.desk import AskDesk
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


CLIENT = """
import json, subprocess, sys
folder, *below = sys.argv[1:]
server = subprocess.Popen(["sayso", "server"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), file=server.stdin, flush=True)
def answer_to(number):
    return next(said for said in map(json.loads, server.stdout) if said.get("id") == number)
info = {"name": "tester", "version": "1"}
send(id=1, method="initialize", params={"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info})
answer_to(1)
send(method="notifications/initialized")
question = {"question": f"From {folder}?", "options": [{"label": "Yes"}, {"label": "No"}]}
send(id=2, method="tools/call", params={"name": "ask_user_questions", "arguments": {"questions": [question]}})
if below:
    # Another agent, which this one starts once it has asked.
    send(id=3, method="tools/call", params={"name": "get_answers", "arguments": {}})
    answer_to(3)
    subprocess.run([sys.executable, __file__, *below])
print(answer_to(2)["result"]["content"][0]["text"], flush=True)
"""


@contextmanager
def clients(home: Home, script: str) -> Iterator[subprocess.Popen[str]]:
    """What a shell starts, which leads a session as one in a terminal does. `$client` is a client that asks in the
    folders that it is given, in each through a client that the one before has started. One agent may ask one thing."""
    (home.folder / "client.py").write_text(CLIENT)
    for folder in ("a", "b"):
        (home.folder / folder).mkdir()
    env = {**home.env, "client": f"{sys.executable} {home.folder / 'client.py'}", "SAYSO_MAX_OPEN_ASKS": "1"}
    with subprocess.Popen(
        ["sh", "-c", script],
        cwd=home.folder,
        env=env,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as shell:
        try:
            yield shell
        finally:
            os.killpg(shell.pid, signal.SIGKILL)


def wait_for(home: Home, *folders: str) -> None:
    """Until so much is asked in these."""
    wanted, deadline = {f"From {home.folder / folder}?" for folder in folders}, time.monotonic() + SECONDS
    with closing(SqliteStore(home.state / "sayso.db", home.state / "bell")) as store:
        bell, desk = store.bell(), AskDesk(store)
        while {ask.questions[0].text for ask in desk.inbox()} != wanted:
            assert time.monotonic() < deadline, "it was never asked"
            bell.wait(1.0)


@pytest.mark.parametrize("of", ["a shell", "a script in a shell"])
def test_what_one_shell_starts_in_two_folders_is_two_agents(home: Home, of: str) -> None:
    script = f"$client {home.folder}/a & $client {home.folder}/b & wait"
    with clients(home, script if of == "a shell" else f"sh -c '{script}'; true"):
        wait_for(home, "a", "b")
        listed = home.run("agents", "--json").data
    assert sorted(each["project"] for each in listed) == [str(home.folder / "a"), str(home.folder / "b")]


def test_an_agent_that_an_agent_starts_may_not_ask_more_and_is_listed_with_its_own_project(home: Home) -> None:
    with clients(home, f"$client {home.folder}/a {home.folder}/b; true") as shell:
        assert shell.stdout is not None
        refused = shell.stdout.readline()
        wait_for(home, "a")
        listed = home.run("agents", "--json").data
    assert "You have 1 questions open, and 1 is the most that one agent may have." in refused
    assert [each["project"] for each in listed if each["waits"]] == [str(home.folder / "a")]
