"""Agents that speak ACP in Talk, played by a stand-in: what they are told, what they may do, and how they end."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import psutil
import pytest
from tests.e2e.talk.stage import STAND_IN, Stage, new_stage, process_of
from tests.trusting import trust
from tests.web.house import USER

from sayso.agents.model import EventKind, Run, RunState
from sayso.asks.model import Answer, Settler, State
from sayso.permissions.desk import PermissionDesk

BY = Settler(person=USER, surface="web")
PICTURE = b"GIF89a\x01\x00\x01\x00\x00\x00\x00;"
COMMAND = (sys.executable, str(STAND_IN.with_name("acp.py")))


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A stage whose agents wait for the next message."""
    with new_stage(relay_dir=str(tmp_path_factory.mktemp("relay")), run_rest="1h") as stage:
        yield stage


def _project(stage: Stage, name: str, *flags: str, **options: str) -> int:
    return stage.project(name, agent="acp", command=(*COMMAND, *flags), **options)


def _how(run: Run) -> tuple[RunState, str]:
    assert run.ending is not None
    return run.state, run.ending.message


def _taken(stage: Stage, conversation: str) -> list[int]:
    events = stage.events(stage.latest(conversation), EventKind.TAKEN)
    return [event.body["number"] for event in events]


def _shown(stage: Stage, conversation: str, text: str) -> None:
    """Wait until it is on the page: a card is there a moment after its ask."""
    stage.until_true(lambda: text in stage.visitor().get(f"/talk/{conversation}").text)


def test_one_agent_serves_a_conversation_and_is_told_what_comes_meanwhile_when_its_turn_is_over(harbour: Stage) -> None:
    stage, visitor, go = harbour, harbour.visitor(), harbour.folder / "go-queue"
    project = _project(stage, "queued", permission_mode="plan")
    told = ("think Hm", "say Begun", "plan One | Two", "tool Look")
    conversation = visitor.start(project, *told, "garbage 2", "ask-client", f"wait {go}", "settings")
    stage.until_true(lambda: len(stage.events(stage.latest(conversation), EventKind.TOOL)) == 2)
    adapter = process_of(stage.latest(conversation))
    assert visitor.go_on(conversation, "remember").status == 303
    assert visitor.post(f"/talk/{conversation}/choose", model="haiku").status == 303
    stage.until_true(lambda: _taken(stage, conversation) == [1, 2])
    go.touch()
    stage.until_true(lambda: stage.latest(conversation).turn == 2)
    second = stage.ended(conversation)
    assert "think Hm" in stage.texts(second)[0]
    first = stage.runs.turns(conversation, USER)[0]
    assert _how(first) == (RunState.COMPLETED, "")
    assert stage.texts(first) == ["Begun", "Mode plan, model haiku"]
    assert [event.body["text"] for event in stage.events(first, EventKind.THINKING)] == ["Hm"]
    plan, _ = stage.events(first, EventKind.TOOL)
    assert plan.body["input"]["todos"][0] == {"content": "One", "status": "completed"}
    assert stage.events(first, EventKind.USAGE)[0].body == {"used": 1000, "window": 200_000}
    assert process_of(second) == adapter
    assert visitor.get(f"/talk/{conversation}").status == 200


def test_an_action_is_allowed_once_or_denied_with_words_that_are_the_next_thing_the_agent_is_told(
    harbour: Stage,
) -> None:
    stage, visitor, permissions = harbour, harbour.visitor(), PermissionDesk(harbour.house.desk)
    project, folder = _project(stage, "deciding", "--ends-at-no"), harbour.folder / "deciding"
    file = folder / "note.txt"
    conversation = visitor.start(project, "run touch made", f"edit {file} Hello", "run rm made", "say Never")
    first = stage.open_ask(conversation)
    assert (first.asker.owner, first.asker.client) == (USER, "stand-in")
    _shown(stage, conversation, "touch made")
    permissions.allow(first.id, first.digest, BY)
    stage.until_true(lambda: stage.open_ask(conversation).id != first.id)
    second = stage.open_ask(conversation)
    _shown(stage, conversation, "+Hello")
    permissions.allow(second.id, second.digest, BY)
    stage.until_true(lambda: stage.open_ask(conversation).id not in (first.id, second.id))
    permissions.deny(stage.open_ask(conversation).id, BY, "Keep it")
    run = stage.ended(conversation)
    assert _how(run) == (RunState.COMPLETED, "")
    # The stand-in takes what it is told for a script of its own.
    assert stage.texts(run) == ["Ran touch made", "I do not understand: About"]
    assert (folder / "made").exists()
    assert file.read_text() == "Hello"
    assert [event.body["error"] for event in stage.events(run, EventKind.TOOL_RESULT)] == [False, False, True]


def test_rules_decide_first_but_allow_nothing_whose_input_the_agent_does_not_tell(harbour: Stage) -> None:
    stage, visitor, permissions = harbour, harbour.visitor(), PermissionDesk(harbour.house.desk)
    rules = stage.house.place.home / ".config" / "sayso" / "rules.toml"
    rules.parent.mkdir(parents=True, exist_ok=True)
    rules.write_text('[[rule]]\nallow = ["Bash(touch *)"]\n[[rule]]\ndeny = ["Bash(rm *)"]\n')
    script = ("run touch ruled", "run rm ruled", "always touch ruled", "untold rm ruled", "untold touch untold")
    try:
        conversation = visitor.start(_project(stage, "ruled"), *script)
        asked = stage.open_ask(conversation)
        assert asked.wanted is not None
        assert asked.wanted["action"]["data"]["input"] == {"command": "touch untold"}
        _shown(stage, conversation, "does not tell the whole input")
        permissions.deny(asked.id, BY)
        run = stage.ended(conversation)
    finally:
        rules.unlink()
    denied = [f"Denied {command}" for command in ("rm ruled", "touch ruled", "rm ruled", "touch untold")]
    assert stage.texts(run)[:5] == ["Ran touch ruled", *denied]
    assert len(stage.events(run, EventKind.ASK)) == 1
    assert any("no way to allow just this" in event.body["text"] for event in stage.events(run, EventKind.NOTICE))


def test_an_interrupt_takes_the_open_question_along_and_the_agent_stays(harbour: Stage) -> None:
    stage, visitor = harbour, harbour.visitor()
    conversation = visitor.start(_project(stage, "interrupted"), "question Which harbour?", "run make")
    question = stage.open_ask(conversation)
    stage.house.desk.answer(question.id, [Answer(question="1", chosen=("2",))], BY)
    stage.until_true(lambda: stage.open_ask(conversation).id != question.id)
    asked = stage.open_ask(conversation)
    adapter = process_of(stage.latest(conversation))
    assert visitor.post(f"/talk/{conversation}/interrupt").status == 303
    run = stage.ended(conversation)
    assert _how(run) == (RunState.STOPPED, "Interrupted.")
    assert stage.texts(run) == [f"Heard: {json.dumps({'0': 'South'})} this"]
    assert stage.house.desk.get(asked.id).state is State.EXPIRED
    assert visitor.go_on(conversation, "say Still here").status == 303
    assert stage.texts(stage.ended(conversation)) == ["Still here"]
    assert process_of(stage.latest(conversation)) == adapter


def test_a_killed_agent_leaves_nothing_behind_and_the_next_process_goes_on_where_it_was(harbour: Stage) -> None:
    stage, visitor, note = harbour, harbour.visitor(), harbour.folder / "acp-child"
    conversation = visitor.start(_project(stage, "killed"), "say One")
    stage.ended(conversation)
    assert visitor.go_on(conversation, f"child {note}", "run touch killed").status == 303
    asked = stage.open_ask(conversation)
    adapter = process_of(stage.latest(conversation))
    (agent,) = [each for each in adapter.children() if str(COMMAND[1]) in each.cmdline()]
    agent.kill()
    assert _how(stage.ended(conversation)) == (RunState.FAILED, "The agent ended with signal 9.")
    assert not psutil.pid_exists(int(note.read_text()))
    assert stage.house.desk.get(asked.id).state is State.EXPIRED
    assert visitor.go_on(conversation, "remember").status == 303
    assert stage.texts(stage.ended(conversation)) == ['Before: ["say One"]']
    # The same with the adapter itself, which has no time to take back what it asked.
    assert visitor.go_on(conversation, "run touch killed").status == 303
    asked = stage.open_ask(conversation)
    process_of(stage.latest(conversation)).kill()
    stage.ended(conversation)
    assert stage.house.desk.get(asked.id).state is State.EXPIRED


def test_an_agent_that_cannot_go_on_or_begin_says_so(harbour: Stage) -> None:
    stage, visitor = harbour, harbour.visitor()
    conversation = visitor.start(_project(stage, "forgetful", "--no-load"), "exit 3")
    assert _how(stage.ended(conversation))[0] is RunState.FAILED
    assert visitor.go_on(conversation, "remember").status == 303
    run = stage.ended(conversation)
    assert stage.texts(run) == ["Before: []"]
    assert "begins anew, and knows nothing" in stage.events(run, EventKind.NOTICE)[0].body["text"]
    conversation = visitor.start(_project(stage, "signed-out", "--signed-out"), "say Never")
    state, message = _how(stage.ended(conversation))
    assert state is RunState.FAILED
    assert message.startswith("The agent could not begin: Authentication required")


def test_an_agent_that_loads_what_a_project_brings_starts_there_only_once_that_is_trusted(harbour: Stage) -> None:
    stage, visitor = harbour, harbour.visitor()
    project = _project(stage, "fresh")
    (stage.folder / "fresh" / ".gemini").mkdir()
    (stage.folder / "fresh" / ".gemini" / "settings.json").write_text('{"mcpServers": {"x": {"command": "evil"}}}')
    conversation = visitor.start(project, "say Hello")
    state, message = _how(stage.ended(conversation))
    assert state is RunState.FAILED
    assert "may load what this project brings (.gemini/settings.json)" in message
    trust(stage.house.place.config().state_dir, stage.folder / "fresh")
    assert visitor.go_on(conversation, "say Hello").status == 303
    assert stage.texts(stage.ended(conversation)) == ["Hello"]


def test_a_picture_is_refused_until_the_agent_has_told_that_it_takes_them_and_then_goes_with_a_queued_message(
    harbour: Stage,
) -> None:
    stage, visitor, go = harbour, harbour.visitor(), harbour.folder / "go-pictures"
    project = _project(stage, "pictured")
    refused = visitor.post_with("/talk", PICTURE, project=str(project), prompt="pictures")
    assert (refused.status, "picture: cannot be sent: The agent takes none" in refused.text) == (422, True)
    assert ">pictures</textarea>" in refused.text
    conversation = visitor.start(project, "say Begun", f"wait {go}")
    stage.until_true(lambda: bool(stage.events(stage.latest(conversation), EventKind.OFFERS)))
    assert visitor.post_with(f"/talk/{conversation}", PICTURE, prompt="pictures").status == 303
    assert "1 picture</span>" in visitor.get(f"/talk/{conversation}").text
    go.touch()
    stage.until_true(lambda: stage.latest(conversation).turn == 2)
    second = stage.ended(conversation)
    assert stage.texts(second) == ["Pictures: image/gif"]
    assert f"runs/{second.id}/pictures/" in visitor.get(f"/talk/{conversation}").text
