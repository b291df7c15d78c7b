"""Who is at work: each session that a gate or a server has seen, until it has ended; those that need a person first."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.asks.samples import AGENT, ANNA, RED, FakeClock, ask
from tests.conftest import OpenStore, die

from sayso.accounts import Accounts
from sayso.agents.model import NewRun, Options
from sayso.agents.projects import Projects
from sayso.asks.desk import AskDesk
from sayso.asks.lookalikes import Lookalikes
from sayso.asks.model import Asker
from sayso.config import load
from sayso.desks import Desks
from sayso.errors import AmbiguousId, NotFound
from sayso.mcp_server.backend import Backend
from sayso.mcp_server.run_link import RunLink
from sayso.process_table import started
from sayso.records import replace
from sayso.roster import BELIEVED, AgentAtWork, Roster, agent_id, find_agent, of_agent
from sayso.store import Row, Store, Transaction
from sayso.store.sqlite import SqliteStore

SECONDS = 60.0
HERE = replace(AGENT, host=socket.gethostname(), pid=os.getpid(), started=started(os.getpid()))
OVER_HTTP = Asker(client="cloud", agent="a token", session="over-http", host="elsewhere", project="/p")

Clients = Callable[[], subprocess.Popen[bytes]]


@pytest.fixture
def clients() -> Iterator[Clients]:
    """Starts processes that live until they are ended, and sees to it that they are."""
    begun: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        begun.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))
        return begun[-1]

    yield start
    for process in begun:
        with process:
            process.kill()


def asker_for(process: subprocess.Popen[bytes], session: str) -> Asker:
    return replace(HERE, pid=process.pid, started=started(process.pid), session=session)


def names(agents: list[AgentAtWork]) -> list[str]:
    return [each.asker.session for each in agents]


def test_how_much_each_session_has_open_is_counted_however_little_of_it_is_listed(
    store: Store, clock: FakeClock
) -> None:
    desk, roster = AskDesk(store, clock=clock), Roster(store, clock)
    # One terminal, in which one session has followed the other, and a token that belongs to somebody.
    first, second = (replace(HERE, leader="1", session=f"session-{number}") for number in (1, 2))
    hers = replace(OVER_HTTP, owner="bob")
    for asker, many in ((first, 3), (second, 2), (hers, 4)):
        roster.note_server(asker)
        for number in range(many):
            clock.forward(1)
            desk.hold(ask(text=f"Number {number}?", asker=asker))
    desk.leave(ask(text="Nobody waits?", asker=first))
    everybody = {"session-1": (4, 3), "session-2": (2, 2), "over-http": (4, 4)}
    for person, seen in ((None, 3), ("bob", 3), ("ada", 2)):
        agents = roster.at_work(desk.inbox(person=person, most=2), [], person, desk.open_by_session(person))
        assert len(agents) == seen
        assert all(each.waits for each in agents)
        assert all((each.open, each.attended) == everybody[each.asker.session] for each in agents)
    listed = roster.at_work(desk.inbox(most=2), [])
    assert [(each.open, each.waits) for each in listed if each.asker == first] == [(2, True)]


def test_no_list_that_is_cut_short_is_taken_for_all_that_an_agent_has_open(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sayso.desks._MOST_ASKS", 2)
    config = load(environ={"HOME": str(tmp_path), "SAYSO_STATE_DIR": str(tmp_path / "state")}, cwd=tmp_path)
    desks = Desks(config, store)
    desks.roster.note_server(HERE)
    for number in range(5):
        desks.asks.hold(ask(text=f"Number {number}?", asker=HERE))
    (agent,) = desks.agents_at_work("ada")
    assert (len(agent.asks), agent.open) == (2, 5)


def test_an_agent_without_named_sessions_is_listed_once_for_each_of_its_projects(
    store: Store, clock: FakeClock
) -> None:
    desk, roster = AskDesk(store, clock=clock), Roster(store, clock)
    editor = replace(HERE, leader="1", session="")
    shop, blog = (replace(editor, project=f"/home/ada/{name}") for name in ("shop", "blog"))
    for asker, many in ((shop, 2), (blog, 1)):
        roster.note_server(asker)
        for number in range(many):
            desk.hold(ask(text=f"Number {number}?", asker=asker))
    for sizes in (None, desk.open_by_session()):
        listed = roster.at_work(desk.inbox(), [], None, sizes)
        assert sorted((each.asker.project, each.open) for each in listed) == [
            ("/home/ada/blog", 1),
            ("/home/ada/shop", 2),
        ]


def test_a_session_is_listed_once_however_it_was_seen(store: Store, clock: FakeClock) -> None:
    roster = Roster(store, clock)
    roster.note_gate(HERE, "Bash: npm test")
    clock.forward(1000)
    roster.note_server(HERE)
    (agent,) = roster.at_work([], [])
    assert (agent.asker, agent.doing, agent.since) == (HERE, "Bash: npm test", clock() - 1000)
    assert agent.seen_at == clock()
    assert agent.name == "ession"


def test_a_session_is_at_work_since_its_first_call_began_though_that_call_had_to_open_the_store(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = load(environ={"HOME": str(tmp_path), "SAYSO_STATE_DIR": str(tmp_path / "state")}, cwd=tmp_path)
    notes: list[Coroutine[Any, Any, None]] = []
    monkeypatch.setattr("sayso.mcp_server.backend.now_ms", lambda: 1_000)

    async def first_call() -> None:
        async with Backend(config, asker_of=lambda _: HERE, desks=Desks(config, store)) as backend:
            monkeypatch.setattr(backend, "send_out", notes.append)
            backend.note_at_work(HERE)
            assert not notes
            await backend.waiting()
            backend.note_at_work(HERE)
            for note in notes:
                await note

    asyncio.run(first_call())
    (agent,) = Roster(store).at_work([], [])
    assert (agent.asker, agent.since, len(notes)) == (HERE, 1_000, 1)


def test_the_server_of_a_run_is_its_users_alone_and_its_runs_from_the_first_note_on(
    store: Store, tmp_path: Path
) -> None:
    config = load(environ={"HOME": str(tmp_path), "SAYSO_STATE_DIR": str(tmp_path / "state")}, cwd=tmp_path)
    desks, token = Desks(config, store), "11111111-2222-4333-8444-555555555555"
    Accounts(store).add_user("ada")
    project = Projects(store).add("ada", tmp_path, options=Options())
    run = desks.runs.open(NewRun(project=project, prompt="Do it", token=token), most=9)

    async def first_call() -> None:
        async with Backend(config, asker_of=lambda _: HERE, desks=desks, link=RunLink(token)) as backend:
            await backend.waiting()
            backend.note_at_work(HERE)

    asyncio.run(first_call())
    (agent,) = Roster(store).at_work([], [], person="ada")
    assert (agent.asker.owner, agent.asker.run) == ("ada", run.id)
    assert Roster(store).at_work([], [], person="grace") == []


@pytest.mark.finding("F-70")
def test_two_sessions_of_one_client_in_one_project_are_told_apart(clients: Clients) -> None:
    store = SqliteStore.in_memory()
    roster = Roster(store)
    for number in (1, 2):
        roster.note_gate(asker_for(clients(), f"the-same-beginning-{number}"), f"Bash: echo {number}")
    first, second = roster.at_work([], [])
    assert first.name != second.name
    assert find_agent([first, second], first.name) == first
    assert find_agent([first, second], second.id[:8]) == second
    with pytest.raises(NotFound, match="sayso agents"):
        find_agent([first, second], "nobody")
    with pytest.raises(AmbiguousId):
        find_agent([first, replace(first, id=first.id + "x")], first.name)
    store.close()


def test_sessions_whose_names_end_alike_get_as_much_of_them_as_tells_them_apart(clients: Clients) -> None:
    store = SqliteStore.in_memory()
    roster = Roster(store)
    askers = [asker_for(clients(), session) for session in ("1-a700beef", "2-b700beef", "3-000c0ffee")]
    for asker in askers:
        roster.note_gate(asker, "Bash: ls")
    agents = roster.at_work([], [])
    assert sorted(each.name for each in agents) == ["a700beef", "b700beef", "c0ffee"]
    assert find_agent(agents, "a700beef").asker.session == "1-a700beef"
    with pytest.raises(AmbiguousId, match=r"a700beef\n +b700beef"):
        find_agent(agents, "00beef")
    others = Lookalikes(askers)
    assert [others.session(asker) for asker in askers] == ["a700beef", "b700beef", "c0ffee"]
    store.close()


def test_an_agent_leaves_when_its_client_has_ended(clients: Clients, clock: FakeClock) -> None:
    store = SqliteStore.in_memory()
    roster, ending = Roster(store, clock), clients()
    roster.note_gate(asker_for(ending, "one"), "")
    clock.forward(1)
    roster.note_gate(asker_for(clients(), "two"), "")
    assert names(roster.at_work([], [])) == ["one", "two"]
    ending.kill()
    ending.wait(SECONDS)
    assert names(roster.at_work([], [])) == ["two"]
    assert [row["id"] for row in store.read(lambda tx: tx.all("roster"))] == [agent_id(replace(HERE, session="two"))]
    store.close()


def test_an_agent_on_another_machine_leaves_with_its_server(open_shared: OpenStore) -> None:
    here, there = open_shared(), open_shared()
    Roster(there).note_server(replace(HERE, host="another machine"))
    assert len(Roster(here).at_work([], [])) == 1
    die(there, here)
    assert Roster(here).at_work([], []) == []


def test_an_agent_over_the_network_stays_while_it_calls_or_waits(clock: FakeClock) -> None:
    store = SqliteStore.in_memory()
    roster, desk = Roster(store, clock), AskDesk(store, clock=clock)
    roster.note_server(OVER_HTTP)
    held = desk.hold(replace(ask(), asker=OVER_HTTP))
    clock.forward(BELIEVED)
    (waiting,) = roster.at_work(desk.inbox(), [])
    assert waiting.waits
    desk.answer(held.ask.id, RED, ANNA)
    assert roster.at_work(desk.inbox(), []) == []
    store.close()


def test_a_session_that_its_client_has_left_for_another_leaves_after_a_while(clock: FakeClock) -> None:
    store = SqliteStore.in_memory()
    roster = Roster(store, clock)
    roster.note_gate(replace(HERE, session="before"), "")
    clock.forward(BELIEVED // 2)
    roster.note_gate(replace(HERE, session="after"), "")
    assert len(roster.at_work([], [])) == 2
    clock.forward(BELIEVED)
    assert names(roster.at_work([], [])) == ["after"]
    store.close()


def test_a_session_is_back_where_its_client_was_seen_in_it_and_has_gone_to_no_other(
    clients: Clients, clock: FakeClock
) -> None:
    store = SqliteStore.in_memory()
    roster, client = Roster(store, clock), clients()
    asked = replace(HERE, session="one", pid=1, started="long ago")
    assert not roster.is_back(asked, HERE), "nobody has seen it"
    roster.note_gate(asker_for(client, "one"), "Bash: make")
    assert roster.is_back(asked, HERE)
    assert not roster.is_back(asked, asker_for(client, "another")), "the same client has gone on"
    clock.forward(1)
    roster.note_gate(asker_for(client, "another"), "")
    assert not roster.is_back(asked, HERE)
    client.kill()
    client.wait(SECONDS)
    assert not roster.is_back(replace(asked, session="another"), HERE)
    store.close()


def test_whether_a_session_is_back_is_known_without_reading_through_all_that_are_at_work(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore.in_memory()
    roster = Roster(store, clock)
    theirs = replace(HERE, host="elsewhere", session="one", pid=7, started="long ago")
    roster.note_server(theirs)
    asked, find = list[str](), store.all

    def noting(query: str, **given: object) -> list[Row]:
        asked.append(query)
        return find(query, **given)

    monkeypatch.setattr(store, "all", noting)
    assert roster.is_back(theirs, HERE)
    assert not roster.is_back(replace(theirs, session="another"), HERE)
    assert set(asked) == {"on_roster"}
    store.close()


def test_those_that_wait_for_a_person_come_first_the_longest_wait_before_the_others(
    clients: Clients, clock: FakeClock
) -> None:
    store = SqliteStore.in_memory()
    roster, desk = Roster(store, clock), AskDesk(store, clock=clock)
    askers = {name: asker_for(clients(), name) for name in ("busy", "late", "early")}
    for asker in askers.values():
        roster.note_server(asker)
        clock.forward(1)
    for name in ("early", "late"):
        desk.hold(replace(ask(), asker=askers[name]))
        clock.forward(1)
    agents = roster.at_work(desk.inbox(), [])
    assert names(agents) == ["early", "late", "busy"]
    assert [each.waits for each in agents] == [True, True, False]
    store.close()


def test_a_person_sees_the_agents_that_ask_them_or_anybody() -> None:
    store = SqliteStore.in_memory()
    roster = Roster(store)
    roster.note_server(replace(OVER_HTTP, session="ours", owner="anna"))
    roster.note_server(replace(OVER_HTTP, session="theirs", owner="ben"))
    roster.note_server(replace(OVER_HTTP, session="anybody's"))
    assert sorted(names(roster.at_work([], [], "anna"))) == ["anybody's", "ours"]
    store.close()


def test_what_has_ended_of_an_agent_is_found_from_its_beginning_on(clock: FakeClock) -> None:
    store = SqliteStore.in_memory()
    desk = AskDesk(store, clock=clock)
    before = desk.leave(replace(ask("Before?"), asker=HERE))
    desk.answer(before.id, RED, ANNA)
    clock.forward(1000)
    since = clock()
    for session in (HERE.session, "another"):
        desk.answer(desk.leave(replace(ask(f"{session}?"), asker=replace(HERE, session=session))).id, RED, ANNA)
    found = of_agent(desk.ended_of(HERE, since), agent_id(HERE))
    assert [each.questions[0].text for each in found] == [f"{HERE.session}?"]
    store.close()


def test_ten_thousand_that_ended_are_taken_off_at_one_look(clock: FakeClock) -> None:
    store = SqliteStore.in_memory()
    roster = Roster(store, clock)

    def fill(tx: Transaction) -> None:
        values = {"owner": "", "process": "", "doing": "", "now": clock(), "since": clock()}
        for number in range(10_000):
            tx.run("put_on_roster", id=f"ended-{number}", body=f'{{"client": "gone", "session": "{number}"}}', **values)

    store.write(fill)
    clock.forward(BELIEVED)
    roster.note_gate(HERE, "")
    assert names(roster.at_work([], [])) == [HERE.session]
    assert len(store.read(lambda tx: tx.all("roster"))) == 1
    store.close()
