"""`sayso project stop`, with the real command: agents are told to end, and what they ask is cancelled."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.program import Home, confirm

from sayso.accounts import Accounts
from sayso.agents.desk import RunDesk
from sayso.agents.model import NewRun, Options, Run
from sayso.agents.projects import Projects
from sayso.asks.desk import AskDesk
from sayso.asks.model import Asker, NewAsk, State
from sayso.store import Store
from sayso.store.sqlite import SqliteStore


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    """The store that the program uses."""
    opened = SqliteStore(home.state / "sayso.db", home.state / "bell")
    yield opened
    opened.close()


def begun(home: Home, store: Store, user: str, folder: str) -> Run:
    """A run of a user's agent in a project of theirs."""
    (home.folder / folder).mkdir()
    Accounts(store).add_user(user)
    project = Projects(store).add(user, home.folder / folder, options=Options())
    new = NewRun(project=project, prompt="Do it", token=str(uuid.uuid4()))
    return RunDesk(store, home.state / "runs").open(new, most=3)


def asked_by(user: str, run: str, text: str = "May I?") -> NewAsk:
    return NewAsk(tool="ask_user", questions=(confirm(text),), asker=Asker(client="claude-code", owner=user, run=run))


def test_stop_cancels_what_the_stopped_agents_ask_and_nothing_else(home: Home, store: Store) -> None:
    desk, runs = AskDesk(store), RunDesk(store, home.state / "runs")
    stopped, going_on = begun(home, store, "mira", "shop"), begun(home, store, "ada", "other")
    waiting = desk.hold(asked_by("mira", stopped.id))
    timed_out = desk.time_out(desk.hold(asked_by("mira", stopped.id, "Could I?")))
    others = [desk.hold(asked_by("ada", going_on.id)), desk.hold(asked_by("mira", ""))]

    ran = home.run("project", "stop", "shop")

    assert (ran.code, ran.err) == (0, "1 agent told to stop.\n")
    assert (runs.get(stopped.id).stopped_by, runs.get(going_on.id).stopped_by) == ("ada", "")
    # The call that waits for it hears of it, and whoever looks sees who it was.
    assert waiting.ask.id in [ask.id for ask in desk.ended_waits()]
    last = desk.events(waiting.ask.id)[-1]
    assert (last.after, last.person, last.surface) == (State.CANCELLED, "ada", "command line")
    assert desk.get(timed_out.id).state is State.TIMED_OUT
    assert [desk.get(held.ask.id).state for held in others] == [State.PENDING, State.PENDING]


def test_a_project_whose_settings_cannot_be_written_is_not_added(home: Home, store: Store) -> None:
    folder = home.folder / "shop"
    folder.mkdir()
    (folder / ".claude").write_text("not a folder")
    ran = home.run("project", "add", str(folder))
    assert ran.code == 1
    assert "settings.local.json" in ran.err
    assert Projects(store).all() == []


def test_an_agent_that_is_not_installed_is_told_when_a_project_is_added_for_it(home: Home) -> None:
    ran = home.run("project", "add", ".", "--agent", "codex", PATH="/nowhere")
    assert ran.code == 0
    assert "Codex is not there yet (codex is not on PATH). Install it with `npm install -g @openai/codex" in ran.err
    assert "is not there yet" not in home.run("project", "add", ".", "--agent", "acp", "--command", "sh").err


def test_the_root_of_the_machine_is_a_project_with_a_name(store: Store) -> None:
    assert Projects(store).add("ada", Path("/"), options=Options()).name == "/"


def test_a_project_says_what_starts_an_agent_that_speaks_acp_and_knows_its_modes(home: Home) -> None:
    ran = home.run("project", "add", ".", "--agent", "acp", "--command", "goose 'a cp'", "--worktree", "--json")
    assert (ran.code, ran.data["agent"], ran.data["command"]) == (0, "acp", ["goose", "a cp"])
    assert ran.data["worktree"] is True
    for wrong, why in (
        (("--agent", "acp"), "command: is missing."),
        (("--command", "x"), "command: is only for agents that speak ACP. For claude, set claude_command."),
        (("--agent", "copilot", "--permission-mode", "dontAsk"), "Copilot has default, plan."),
    ):
        ran = home.run("project", "add", ".", *wrong)
        assert ran.code == 2
        assert why in ran.err


@pytest.mark.parametrize("mine", [None, "{}\n"])
def test_what_adding_a_project_writes_into_it_is_said_and_goes_with_it(home: Home, mine: str | None) -> None:
    file = home.folder / "shop" / ".claude" / "settings.local.json"
    file.parent.parent.mkdir()
    if mine:
        file.parent.mkdir()
        file.write_text(mine)
    assert f"Written to {file}: how the agent reaches you." in home.run("project", "add", str(file.parent.parent)).err
    assert "Written to" not in home.run("project", "add", str(file.parent.parent)).err, "nothing has changed"
    assert home.run("project", "remove", str(file.parent.parent)).code == 0
    assert (file.read_text() if mine else file.parent.exists()) == (mine or False)


def test_a_folder_that_does_not_exist_is_no_project(home: Home) -> None:
    assert "'/nonexist' is not an existing directory." in home.run("project", "add", "/nonexist").error
