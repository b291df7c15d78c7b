"""Codex in Talk, by its app-server: spoken to while it works, asked for permissions, left behind by nobody."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress

import psutil
import pytest
from tests.e2e.talk.stage import STAND_IN, Stage, new_stage, process_of
from tests.web.house import USER

from sayso.agents.model import EventKind, Run, RunState
from sayso.asks.model import Answer, Settler, State
from sayso.permissions.action import AllowScope
from sayso.permissions.desk import PermissionDesk

BY = Settler(person=USER, surface="web")
QUESTION = {
    "id": "harbour",
    "header": "Harbour",
    "question": "Which harbour?",
    "options": [{"label": "North", "description": "cold"}, {"label": "South", "description": "far"}],
}


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A stage with Codex, which waits for the next message."""
    command = f"{sys.executable} {STAND_IN.with_name('codex.py')}"
    relay = str(tmp_path_factory.mktemp("relay"))
    with new_stage(relay_dir=relay, run_rest="1h", command_grace="300ms", codex_command=command) as stage:
        yield stage


def _how(run: Run) -> tuple[RunState, str]:
    assert run.ending is not None
    return run.state, run.ending.message


def test_one_codex_serves_a_conversation_and_takes_messages_while_it_works_whatever_happens_to_the_server(
    harbour: Stage,
) -> None:
    stage, visitor, go = harbour, harbour.visitor(), harbour.folder / "go-steer"
    conversation = visitor.start(stage.project("steered", agent="codex"), "say Begun", f"wait {go}", "say Ended")
    stage.until_true(lambda: "Begun" in stage.texts(stage.latest(conversation)))
    adapter = process_of(stage.latest(conversation))
    assert visitor.go_on(conversation, "say Steered").status == 303
    stage.house.web.stop(signal.SIGKILL)
    assert len(stage.events(stage.latest(conversation), EventKind.TAKEN)) == 1
    go.touch()
    stage.house.restart()
    first = stage.ended(conversation)
    assert _how(first) == (RunState.COMPLETED, "")
    assert stage.texts(first) == ["Begun", "Ended", "Steered"]
    assert len(stage.events(first, EventKind.TAKEN)) == 2
    # One of each turn: the message may have been too late for the first.
    usage, *_ = stage.events(first, EventKind.USAGE)
    assert usage.body == {"used": 1200, "window": 200_000}
    assert visitor.go_on(conversation, "say More", "plan One Two").status == 303
    second = stage.ended(conversation)
    assert stage.texts(second) == ["More"]
    (plan,) = stage.events(second, EventKind.TOOL)
    assert (plan.body["name"], plan.body["input"]["todos"][0]) == (
        "TodoWrite",
        {"content": "One", "status": "in_progress"},
    )
    assert process_of(second) == adapter
    assert visitor.get(f"/talk/{conversation}").status == 200


def test_an_interrupted_codex_stays_and_its_next_turn_has_the_mode_and_the_model_that_were_chosen(
    harbour: Stage,
) -> None:
    stage, visitor, never = harbour, harbour.visitor(), harbour.folder / "never"
    project = stage.project("interrupted", agent="codex", permission_mode="default")
    conversation = visitor.start(project, "settings", f"wait {never}", "say Never")
    stage.until_true(lambda: bool(stage.texts(stage.latest(conversation))))
    assert visitor.post(f"/talk/{conversation}/choose", mode="acceptEdits", model="small").status == 303
    assert visitor.post(f"/talk/{conversation}/interrupt").status == 303
    first = stage.ended(conversation)
    assert _how(first) == (RunState.STOPPED, "Interrupted.")
    assert json.loads(*stage.texts(first)) == {"approvalPolicy": "on-request", "sandbox": "read-only"}
    assert visitor.go_on(conversation, "settings").status == 303
    second = stage.ended(conversation)
    told = json.loads(*stage.texts(second))
    assert (told["sandboxPolicy"], told["model"]) == ({"type": "workspaceWrite"}, "small")
    assert process_of(first) == process_of(second)


def test_what_codex_wants_to_do_is_decided_in_the_conversation_and_a_no_brings_its_words(harbour: Stage) -> None:
    stage, visitor, permissions = harbour, harbour.visitor(), PermissionDesk(harbour.house.desk)
    project, folder = stage.project("deciding", agent="codex"), stage.folder / "deciding"
    file = folder / "note.txt"
    conversation = visitor.start(
        project, "command touch made", "command touch made", "command rm made", f"change {file} Hello"
    )
    first = stage.open_ask(conversation)
    assert (first.asker.owner, first.asker.client) == (USER, "codex-mcp-client")
    assert "touch made" in visitor.get(f"/talk/{conversation}").text
    # A server that is killed meanwhile takes nothing along: the agent's own process holds on to what it asks.
    stage.house.web.stop(signal.SIGKILL)
    stage.house.restart()
    permissions.allow(first.id, first.digest, BY, scope=AllowScope.SESSION)
    stage.until_true(lambda: stage.open_ask(conversation).id != first.id)
    second = stage.open_ask(conversation)
    permissions.deny(second.id, BY, "Keep it")
    stage.until_true(lambda: stage.open_ask(conversation).id not in (first.id, second.id))
    third = stage.open_ask(conversation)
    # On the card, and at the tool.
    stage.until_true(lambda: visitor.get(f"/talk/{conversation}").text.count("+Hello") == 2)
    permissions.allow(third.id, third.digest, BY)
    run = stage.ended(conversation)
    spoken = stage.texts(run)
    assert spoken[:3] == ["Ran touch made", "Ran touch made", "Declined rm made"]
    assert "Keep it" in spoken[3]
    assert (folder / "made").exists()
    assert file.read_text() == "Hello\n"
    denied = [event.body.get("denied", False) for event in stage.events(run, EventKind.TOOL_RESULT)]
    assert denied == [False, False, True, False]
    assert [event.body["ask"] for event in stage.events(run, EventKind.ASK)] == [first.id, second.id, third.id]
    # What was allowed for the rest of a run is asked again in the next.
    assert visitor.go_on(conversation, "command touch made").status == 303
    again = stage.open_ask(conversation)
    permissions.deny(again.id, BY)
    stage.ended(conversation)


def test_rules_decide_what_codex_may_do_before_anybody_is_asked(harbour: Stage) -> None:
    stage, visitor = harbour, harbour.visitor()
    rules = stage.house.place.home / ".config" / "sayso" / "rules.toml"
    rules.parent.mkdir(parents=True, exist_ok=True)
    rules.write_text('[[rule]]\nallow = ["Bash(touch ruled)"]\n[[rule]]\ndeny = ["Bash(rm *)"]\n')
    try:
        conversation = visitor.start(stage.project("ruled", agent="codex"), "command touch ruled", "command rm ruled")
        run = stage.ended(conversation)
    finally:
        rules.unlink()
    assert stage.texts(run)[:2] == ["Ran touch ruled", "Declined rm ruled"]
    assert (stage.folder / "ruled" / "ruled").exists()
    assert stage.events(run, EventKind.ASK) == []


def test_codex_asks_its_own_questions_and_hears_what_was_chosen(harbour: Stage) -> None:
    stage, visitor = harbour, harbour.visitor()
    conversation = visitor.start(stage.project("asking", agent="codex"), f"question {json.dumps(QUESTION)}")
    asked = stage.open_ask(conversation)
    assert asked.questions[0].text == "Which harbour?"
    stage.house.desk.answer(asked.id, [Answer(question="harbour", chosen=("2",))], BY)
    run = stage.ended(conversation)
    assert stage.texts(run) == [f"Heard: {json.dumps({'answers': {'harbour': {'answers': ['South']}}})}"]
    stage.until_true(lambda: stage.house.desk.get(asked.id).delivered)


def test_what_codex_wants_no_more_or_is_interrupted_at_is_open_no_more(harbour: Stage) -> None:
    stage, visitor = harbour, harbour.visitor()
    conversation = visitor.start(
        stage.project("fickle", agent="codex"), "take-back make", f"question {json.dumps(QUESTION)}"
    )
    asked = stage.open_ask(conversation)
    (stage.folder / "fickle" / "take-it-back").touch()
    stage.until_true(lambda: stage.house.desk.get(asked.id).state is not State.PENDING)
    assert stage.house.desk.get(asked.id).state is State.EXPIRED
    stage.until_true(lambda: stage.open_ask(conversation).id != asked.id)
    question = stage.open_ask(conversation)
    assert visitor.post(f"/talk/{conversation}/interrupt").status == 303
    assert _how(stage.ended(conversation)) == (RunState.STOPPED, "Interrupted.")
    assert stage.house.desk.get(question.id).state is State.CANCELLED


@pytest.mark.parametrize("victim", ["codex", "the adapter"])
def test_a_killed_codex_ends_its_run_with_nothing_left_behind_and_the_next_message_resumes(
    harbour: Stage, victim: str
) -> None:
    stage, visitor, note = harbour, harbour.visitor(), harbour.folder / f"child of {victim}"
    project = stage.project("killed", agent="codex")
    conversation = visitor.start(project, f"child {note}", "command touch killed")
    asked = stage.open_ask(conversation)
    adapter = process_of(stage.latest(conversation))
    family = [adapter, *adapter.children(recursive=True)]
    child = int(note.read_text())
    (family[1] if victim == "codex" else adapter).kill()
    assert _how(stage.ended(conversation)) == (RunState.FAILED, "Codex ended with signal 9.")
    assert not psutil.pid_exists(child)
    assert not any(process.is_running() for process in family)
    stage.house.desk.release_the_dead()
    assert stage.house.desk.get(asked.id).state is State.EXPIRED
    assert visitor.go_on(conversation, "Hello").status == 303
    assert stage.texts(stage.ended(conversation)) == ["Again: Hello"]


def test_a_conversation_that_codex_does_not_know_any_more_says_so(harbour: Stage) -> None:
    stage, visitor = harbour, harbour.visitor()
    conversation = visitor.start(stage.project("forgotten", agent="codex"), "exit 3")
    run = stage.ended(conversation)
    assert _how(run) == (RunState.FAILED, "Codex ended with exit code 3. It said: something is wrong with me")
    for memory in stage.house.place.home.glob(f"{run.session}.codex"):
        with suppress(OSError):
            memory.unlink()
    assert visitor.go_on(conversation, "Hello").status == 303
    state, message = _how(stage.ended(conversation))
    assert state is RunState.FAILED
    assert message == (f"Codex could not go on with this conversation: no rollout found for thread id {run.session}")
