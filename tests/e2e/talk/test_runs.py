"""Runs belong to the server: they outlive tabs and servers, end with all their processes, and say what went wrong."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import expect
from tests.e2e.talk.conftest import SignIn
from tests.e2e.talk.stage import OPTIONS, STAND_IN, Stage, ask, begin, card, new_stage, process_of, say
from tests.web.house import USER

from sayso.agents import stopping
from sayso.agents.desk import RunDesk
from sayso.agents.model import EventKind, Run, RunState
from sayso.asks.model import Ask, Settler, State

pytestmark = pytest.mark.usefixtures("read_quickly")

CODEX = STAND_IN.with_name("codex.py")
OLD_TOKEN = "6f0f2f9e-0000-4000-8000-00000000dead"


@pytest.fixture(scope="module")
def _fragile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with new_stage(relay_dir=str(tmp_path_factory.mktemp("relay"))) as stage:
        yield stage


@pytest.fixture
def fragile(_fragile: Stage) -> Iterator[Stage]:
    """A stage whose server tests may stop, if they start it again. No agent is at work on it before or after."""
    yield _fragile
    if _fragile.runs.open_here():
        stopped = _fragile.house.place.run("project", "stop")
        assert stopped.returncode == 0, stopped.stderr


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A stage on which agents have no line to anyone, and each user one agent at a time."""
    settings = {"mcp_ask_user_enabled": "false", "most_runs": "1", "codex_command": f"{sys.executable} {CODEX}"}
    with new_stage(relay_dir=str(tmp_path_factory.mktemp("relay") / "none"), **settings) as stage:
        yield stage


@pytest.mark.requirement("P-65")
def test_a_person_watches_an_agent_leaves_comes_back_and_goes_on(stage: Stage, sign_in: SignIn) -> None:
    page, go = sign_in(), stage.folder / "go-on"
    steps = ["say # A **plan**\\n\\n```\\ncode\\n```", 'tool Bash {"command": "ls -la"}', "part All **is**"]
    steps += [f"wait {go}", "say All **is** done"]
    conversation = begin(page, stage.project("plain", ask_user=False), *steps)
    turn = page.locator("#turn-1")
    expect(turn.locator(".spoken strong").first).to_have_text("A **plan**".replace("**", ""))
    expect(turn.locator(".spoken pre")).to_have_text("code\n")
    # A tool call is folded; its result is inside.
    tool = turn.locator("details.tool")
    expect(tool.locator("summary")).to_contain_text("Bash ls -la")
    expect(tool.locator("[data-result]")).to_be_hidden()
    tool.locator("summary").click()
    expect(tool.locator("[data-result]")).to_have_text("ok")
    expect(page.get_by_text("Claude is at work")).to_be_visible()
    # What is being said is there before it is whole, also for whoever comes in the middle.
    for _ in range(2):
        expect(page.locator(".spoken.partial")).to_have_text("All is")
        expect(page.locator(".spoken.partial strong")).to_have_text("is")
        page.reload()
    # The tab is closed. What happens meanwhile is there when somebody comes back, and what was there is told again.
    page.close()
    go.touch()
    stage.ended(conversation)
    page = sign_in("/talk")
    page.locator(f"a[href='talk/{conversation}']").click()
    expect(page.locator(".spoken")).to_have_text([re.compile("A plan"), "All is done"])
    expect(page.locator("#turn-1 [data-footer]")).to_contain_text(re.compile(r"Done\s+\d+(\.\d)? s · \$0\.0123"))
    # The next turn goes on with the same conversation of the agent's own.
    say(page, "remember")
    expect(page.locator("#turn-2 .spoken")).to_contain_text("Before: [")
    expect(page.locator("#turn-2 .spoken")).to_contain_text("done")
    first, second = stage.runs.turns(conversation, USER)
    assert first.session == second.session


def test_a_stop_ends_the_agent_and_every_process_of_its(stage: Stage, sign_in: SignIn) -> None:
    page, note = sign_in(), stage.folder / "child"
    begin(
        page,
        stage.project("plain", ask_user=False),
        f"child {note}",
        "say Child is there",
        f"wait {stage.folder / 'never'}",
    )
    expect(page.get_by_text("Child is there", exact=True)).to_be_visible()
    child = psutil.Process(int(note.read_text()))
    page.get_by_role("button", name="Stop Claude").click()
    expect(page.locator("#turn-1 [data-footer]")).to_contain_text(f"Stopped by {USER}.")
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE
    expect(page.get_by_label("Go on")).to_be_visible()


def _stop_on_the_page(stage: Stage, conversation: str) -> None:
    assert stage.visitor().post(f"/talk/{conversation}/stop").status == 303


def _stop_by_command(stage: Stage, conversation: str) -> None:
    done = stage.house.place.run("project", "stop", str(stage.latest(conversation).project.id))
    assert done.returncode == 0, done.stderr


def _stop_from_another_machine(stage: Stage, conversation: str) -> None:
    """That one can only note it; the server here has to do it."""
    run = stage.latest(conversation)
    elsewhere = RunDesk(stage.store, stage.folder / "none")
    elsewhere._host = "elsewhere"
    stopping.stop(elsewhere, stage.house.desk, run, Settler(person=USER, surface="terminal"))


@pytest.mark.finding("F-05")
@pytest.mark.parametrize("stop", [_stop_on_the_page, _stop_by_command, _stop_from_another_machine])
def test_an_agent_that_is_stopped_hears_nothing_of_what_it_asks_and_does_nothing_more(
    stage: Stage, tmp_path: Path, stop: Callable[[Stage, str], None]
) -> None:
    went_on = tmp_path / "went-on"
    conversation = stage.visitor().start(stage.project(permission_mode="acceptEdits"), f"touchy {went_on}")
    run, asks = stage.latest(conversation), _asks_of(stage, conversation, 2)
    tree = psutil.Process(_runner_of(run)).children(recursive=True)
    stop(stage, conversation)
    assert stage.ended(conversation).state is RunState.STOPPED
    assert not any(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in tree)
    assert not went_on.exists()
    assert [stage.house.desk.get(ask.id).state for ask in asks] == [State.CANCELLED] * 2


@pytest.mark.finding("F-05")
def test_an_agent_whose_runner_is_told_to_stop_or_whose_user_is_shut_out_hears_nothing_either(
    stage: Stage, tmp_path: Path
) -> None:
    signalled, shut_out = tmp_path / "signalled", tmp_path / "shut-out"
    mine = stage.visitor().start(stage.project(), f"touchy {signalled}")
    carols = stage.visitor("carol").start(stage.project("carols", owner="carol"), f"touchy {shut_out}")
    _asks_of(stage, mine, 2)
    _asks_of(stage, carols, 2, "carol")
    os.kill(_runner_of(stage.latest(mine)), signal.SIGTERM)
    stage.house.accounts.revoke_user("carol")
    assert stage.ended(mine).state is RunState.STOPPED
    assert stage.ended(carols, "carol").state is RunState.STOPPED
    assert not signalled.exists()
    assert not shut_out.exists()


@pytest.mark.finding("F-05")
def test_an_agent_that_takes_too_long_hears_nothing_either(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with new_stage(relay_dir=str(tmp_path_factory.mktemp("relay")), run_timeout="10s") as stage:
        conversation = stage.visitor().start(stage.project(), f"touchy {tmp_path / 'late'}")
        assert "run_timeout" in _how(stage.ended(conversation))[1]
        assert not (tmp_path / "late").exists()


def _asks_of(stage: Stage, conversation: str, count: int, user: str = USER) -> list[Ask]:
    """The open asks of a run, once there are so many."""

    def look() -> list[Ask] | None:
        run = stage.latest(conversation, user)
        asks = [ask for ask in stage.house.desk.inbox(most=1000) if ask.asker.run == run.id]
        return asks if len(asks) >= count else None

    return stage.until(look)


def _runner_of(run: Run) -> int:
    pid: int = json.loads((run.folder / "runner.json").read_text())["pid"]
    return pid


def test_agents_that_misbehave_end_with_a_clear_message(stage: Stage) -> None:
    visitor, project = stage.visitor(), stage.project("plain", ask_user=False)
    told = {
        "exit": visitor.start(project, "say Before", "exit 3"),
        "garbage": visitor.start(project, "garbage 50", "say After"),
        "huge": visitor.start(project, f"huge {9 * 1024 * 1024}", "say After"),
        "lose": visitor.start(project, "lose"),
    }
    ended = {name: stage.ended(conversation) for name, conversation in told.items()}
    assert _how(ended["exit"]) == (
        RunState.FAILED,
        "Claude ended with exit code 3. It said: something is wrong with me",
    )
    assert _how(ended["lose"]) == (RunState.FAILED, "Claude ended with signal 9.")
    for name in ("garbage", "huge"):
        assert _how(ended[name]) == (RunState.COMPLETED, "")
        assert stage.texts(ended[name]) == ["After"]
    notices = [event.body["text"] for event in stage.events(ended["garbage"], EventKind.NOTICE)]
    assert len(notices) == 21
    assert notices[-1] == "30 more lines that were not JSON are not shown."
    (too_long,) = stage.events(ended["huge"], EventKind.NOTICE)
    assert "bytes was too long and is not shown" in too_long.body["text"]
    page = visitor.get(f"/talk/{told['garbage']}").text
    assert "<script>" not in page.partition("<article")[2]


def _how(run: Run) -> tuple[RunState, str]:
    assert run.ending is not None
    return run.state, run.ending.message


@pytest.mark.requirement("P-61", "P-62", "P-63", "P-72")
def test_an_agent_has_its_own_line_to_the_relay_and_nobody_else_has(fragile: Stage, tmp_path: Path) -> None:
    stage, relay = fragile, fragile.relay_dir
    stage.house.web.stop()
    left_behind = [relay / f"{OLD_TOKEN}.json", relay / f"{OLD_TOKEN}.mcp.json"]
    for file in left_behind:
        file.write_text("{}")
        os.utime(file, (time.time() - 7200,) * 2)
    stage.house.restart()
    stage.until_true(lambda: not any(file.exists() for file in left_behind))
    visitor, note, go = stage.visitor(), tmp_path / "note", tmp_path / "go"
    project = stage.project(ask_user_timeout=77, model="opus", permission_mode="plan")
    conversation = visitor.start(project, f"environment {note}", "say Noted", f"wait {go}")
    stage.until_true(lambda: "Noted" in stage.texts(stage.latest(conversation)))
    run, noted = stage.latest(conversation), json.loads(note.read_text())
    # It was there before the agent was; the agent says what it found in it.
    config = relay / f"{run.token}.json"
    assert noted["environment"]["ASK_USER_CONFIG"] == str(config)
    assert noted["relay"]["streamToken"] == run.token
    assert (noted["relay"]["projectId"], noted["relay"]["timeout"]) == (project, 77)
    assert config.exists()
    flags = " ".join(noted["argv"])
    assert flags.startswith("-p --input-format stream-json --output-format stream-json --verbose")
    prompts = "--allowedTools mcp__ask-user__ask_user --permission-prompt-tool mcp__ask-user__approve"
    for wanted in (prompts, "--model opus", "--permission-mode plan"):
        assert wanted in flags
    assert _knows_the_relay(stage.house.web.pid, config) is False
    assert _knows_the_relay(noted["pid"], config) is True
    go.touch()
    stage.ended(conversation)
    stage.until_true(lambda: not any(relay.iterdir()))
    assert stage.latest(conversation).token == ""


def _knows_the_relay(pid: int, config: Path) -> bool:
    return psutil.Process(pid).environ().get("ASK_USER_CONFIG") == str(config)


@pytest.mark.requirement("P-69", "P-71")
def test_without_a_line_no_server_is_started_and_all_else_is_as_before(
    stage: Stage, bare: Stage, tmp_path: Path
) -> None:
    notes = [tmp_path / "project", tmp_path / "setting"]
    conversation = stage.visitor().start(stage.project("quiet", ask_user=False), f"environment {notes[0]}", "say Hello")
    other = bare.visitor().start(bare.project(), f"environment {notes[1]}", "say Hello")
    assert bare.texts(bare.ended(other)) == ["Hello"]
    added = bare.house.place.run("project", "add", ".", "--user", USER)
    assert added.returncode == 0, added.stderr
    assert not (bare.house.place.project / ".claude").exists()
    assert not bare.relay_dir.exists()
    assert stage.texts(stage.ended(conversation)) == ["Hello"]
    for note in notes:
        noted = json.loads(note.read_text())
        assert "ASK_USER_CONFIG" not in noted["environment"]
        assert not {"--mcp-config", "--permission-prompt-tool"} & set(noted["argv"])


def test_a_user_has_only_so_many_agents_at_once(bare: Stage, tmp_path: Path) -> None:
    visitor, go = bare.visitor(), tmp_path / "go"
    project = bare.project()
    conversation = visitor.start(project, f"wait {go}")
    refused = visitor.post("/talk", project=str(project), prompt="say Me too")
    assert refused.status == 429
    assert "1 of your agents are at work" in refused.text
    assert "say Me too" in refused.text, "what was written is not lost"
    # Another user's agent, and another kind of agent.
    bob = bare.visitor("bob")
    own = bob.start(bare.project("bobs", owner="bob", agent="codex"), "Hello")
    assert bare.texts(bare.ended(own, "bob")) == ["First: Hello"]
    assert bob.go_on(own, "More").status == 303
    assert bare.texts(bare.ended(own, "bob")) == ["Again: More"]
    first, second = bare.runs.turns(own, "bob")
    assert first.session == second.session != ""
    # Whoever is shut out takes their agents along.
    last = bob.start(bare.project("bobs-other", owner="bob"), f"wait {tmp_path / 'never'}")
    bare.house.accounts.revoke_user("bob")
    assert _how(bare.ended(last, "bob")) == (RunState.STOPPED, "Stopped by the server, because bob was revoked.")
    go.touch()
    bare.ended(conversation)
    assert visitor.go_on(conversation, "say Now").status == 303
    bare.ended(conversation)


def test_a_flood_is_stopped_and_memory_stays_bounded(stage: Stage) -> None:
    server, visitor = psutil.Process(stage.house.web.pid), stage.visitor()
    visitor.get("/talk")
    before = server.memory_info().rss
    conversation = visitor.start(stage.project("plain", ask_user=False), "say Here it comes", "flood 150000")
    run = stage.ended(conversation)
    # Either all of it was taken in and passed over, or it came too fast and the agent was stopped.
    assert run.state is RunState.COMPLETED or "so it was stopped" in _how(run)[1]
    assert server.memory_info().rss - before < 100 * 1024 * 1024
    assert visitor.get(f"/talk/{conversation}").status == 200


def test_a_run_and_its_open_question_outlive_the_server(fragile: Stage, sign_in: SignIn) -> None:
    stage, page = fragile, sign_in("/talk", to=fragile)
    conversation = begin(page, stage.project(), "say Before", ask("Still there?", options=OPTIONS), "say After")
    expect(card(page, "Still there?")).to_be_visible()
    agent = process_of(stage.latest(conversation))
    for how in (signal.SIGKILL, signal.SIGTERM):
        server = stage.house.web
        server.stop(how)
        assert agent.is_running()
        assert stage.open_ask(conversation).state is State.PENDING
        stage.house.restart()
        stage.until_true(lambda: stage.latest(conversation).process.startswith(f"{stage.house.web.pid}-"))
    assert "One agent goes on without the page." in server.said
    # The page comes back by itself, and so does the run: the same process hears the answer.
    expect(page.locator("[data-away]")).to_be_hidden()
    option = card(page, "Still there?").get_by_label("Option B")
    option.click()  # the card may be drawn once more just then
    option.check()
    card(page, "Still there?").get_by_role("button", name="Send answer").click()
    expect(page.locator("#turn-1 [data-footer]")).to_contain_text("Done")
    run = stage.ended(conversation)
    assert stage.texts(run) == ["Before", "Heard: User selected: Option B", "After"]
    assert run.ending is not None
    assert run.ending.cost_usd == 0.0123
    stage.until_true(lambda: not any(stage.relay_dir.iterdir()))


def test_nothing_is_left_of_an_agent_at_rest_whose_runner_dies_while_no_server_runs(fragile: Stage) -> None:
    stage, note = fragile, fragile.folder / "child at rest"
    conversation = stage.visitor().start(stage.project(), f"child {note}")
    run = stage.ended(conversation)
    runner = process_of(run).parent()
    assert runner is not None
    stage.house.web.stop(signal.SIGKILL)
    runner.kill()
    assert psutil.pid_exists(int(note.read_text()))
    stage.house.restart()
    stage.until_true(lambda: not psutil.pid_exists(int(note.read_text())))
    stage.until_true(lambda: not run.folder.exists())


def test_a_run_that_died_with_its_runner_is_ended_with_a_word(fragile: Stage) -> None:
    stage = fragile
    conversation = stage.visitor().start(stage.project(), "say Before", ask("Anyone?"))
    asked = stage.open_ask(conversation)
    runner = process_of(stage.latest(conversation)).parent()
    assert runner is not None
    stage.house.web.stop(signal.SIGKILL)
    runner.kill()
    stage.house.restart()
    run = stage.ended(conversation)
    assert run.state is RunState.LOST
    assert "Send another message to go on with the conversation." in _how(run)[1]
    assert stage.texts(run) == ["Before"]
    # The question is not lost: it can be answered, and whoever asks the same again gets the answer.
    assert stage.house.desk.get(asked.id).state.answerable
