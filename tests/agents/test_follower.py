"""Following an agent: nothing of what it printed is lost or told twice, and every end of it has a sentence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sayso.accounts import Accounts
from sayso.agents import follower, lines
from sayso.agents.agent import saying_name
from sayso.agents.desk import RunDesk
from sayso.agents.follower import Follower
from sayso.agents.model import Ending, EventKind, NewRun, Options, Run, RunState, Saying, Spoken
from sayso.agents.projects import Projects
from sayso.errors import RunHasEnded, StoreUnavailable
from sayso.running.folder import Reason, Status
from sayso.store.sqlite import SqliteStore

RESULT = {"type": "result", "is_error": False, "total_cost_usd": 0.25, "num_turns": 1, "session_id": "s-1"}


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    store = SqliteStore.in_memory()
    yield store
    store.close()


@pytest.fixture
def runs(store: SqliteStore, tmp_path: Path) -> RunDesk:
    return RunDesk(store, tmp_path / "runs")


@pytest.fixture
def run(store: SqliteStore, runs: RunDesk, tmp_path: Path) -> Run:
    Accounts(store).add_user("ada")
    project = Projects(store).add("ada", tmp_path, options=Options())
    run = runs.open(NewRun(project=project, prompt="Do it", token="t"), most=1)
    run.folder.mkdir(parents=True)
    return run


def said(text: str) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}


def prints(run: Run, *messages: dict[str, Any], stream: str = "stdout") -> None:
    with (run.folder / stream).open("a") as file:
        file.writelines(json.dumps(message) + "\n" for message in messages)


def status(reason: Reason = "exit", exit_code: int | None = 0, **more: Any) -> Status:
    return Status(reason=reason, exit_code=exit_code, **more)


def texts(runs: RunDesk, run: Run) -> list[str]:
    return [event.body["text"] for event in runs.events(run.id) if event.kind is EventKind.TEXT]


def test_a_line_longer_than_what_is_read_at_once_does_not_hide_what_follows(
    runs: RunDesk, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "CHUNK", 64)
    prints(run, said("long" * 100), RESULT)
    ended = Follower(runs, run).end(status())
    assert ended.state is RunState.COMPLETED
    assert texts(runs, run) == ["long" * 100]
    assert (ended.session, ended.ending and ended.ending.cost_usd) == ("s-1", 0.25)


def test_while_the_store_is_away_nothing_is_lost_and_nothing_told_twice(
    runs: RunDesk, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    following = Follower(runs, run)
    prints(run, said("one"))
    following.step()
    prints(run, said("two"))
    with monkeypatch.context() as away:
        away.setattr(runs, "take_in", _away)
        with pytest.raises(StoreUnavailable):
            following.step()
    prints(run, said("three"), RESULT)
    assert following.end(status()).state is RunState.COMPLETED
    assert texts(runs, run) == ["one", "two", "three"]


def _away(*_: object, **__: object) -> None:
    raise StoreUnavailable("The store is away.")


def test_another_server_goes_on_where_the_first_one_was(runs: RunDesk, run: Run) -> None:
    prints(run, said("one"), RESULT)
    with (run.folder / "stdout").open("a") as file:
        file.write('{"type": "assis')
    Follower(runs, run).step()
    with (run.folder / "stdout").open("a") as file:
        file.write('tant", "message": {"content": [{"type": "text", "text": "two"}]}}\n')
    ended = Follower(runs, runs.get(run.id)).end(status())
    assert texts(runs, run) == ["one", "two"]
    # The agent's own account was heard by the first.
    assert (ended.state, ended.ending and ended.ending.cost_usd) == (RunState.COMPLETED, 0.25)


@pytest.mark.parametrize(
    ("ended", "state", "message"),
    [
        (status(), "failed", "Claude ended without saying how its turn went. It said: [31mwarning"),
        (status(exit_code=2), "failed", "Claude ended with exit code 2. It said: [31mwarning"),
        (status(exit_code=None, signal=9), "failed", "Claude ended with signal 9. It said: [31mwarning"),
        (status("cancelled", None), "stopped", "Stopped from outside: its process was ended."),
        (status("timed_out", None), "failed", "It ran longer than run_timeout allows and was stopped."),
        (
            status("spawn_failed", None, text="command: 'claude' was not found."),
            "failed",
            "Claude could not be started",
        ),
        (status("lost", None), "lost", "The agent's process is gone without a word"),
    ],
)
def test_every_end_has_a_sentence(runs: RunDesk, run: Run, ended: Status, state: str, message: str) -> None:
    (run.folder / "stderr").write_text("\x1b[31mwarning\n")
    after = Follower(runs, run).end(ended)
    assert after.ending is not None
    assert after.state == state
    assert after.ending.message.replace("<U+001B>", "").replace("␛", "").startswith(message)


def test_a_failed_turn_is_told_in_the_agents_own_words(runs: RunDesk, run: Run) -> None:
    prints(run, {**RESULT, "is_error": True, "result": "Credit balance is too low"})
    after = Follower(runs, run).end(status(exit_code=1))
    assert (after.state, after.ending and after.ending.message) == (RunState.FAILED, "Credit balance is too low")


def test_an_agent_that_says_too_much_is_stopped(runs: RunDesk, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follower, "MOST_EVENTS", 10)
    prints(run, *(said(str(number)) for number in range(20)))
    following = Follower(runs, run)
    following.step()
    prints(run, said("more"))
    after = following.end(status("cancelled", None))
    assert after.state is RunState.FAILED
    assert after.ending is not None
    assert after.ending.message == "It printed more than 10 messages in one turn, so it was stopped."
    assert "more" not in texts(runs, run)


def test_a_session_name_that_could_be_a_flag_is_not_remembered(runs: RunDesk, run: Run) -> None:
    prints(
        run,
        {"type": "system", "subtype": "init", "session_id": "--dangerously-skip-permissions"},
        {**RESULT, "session_id": "\ud800"},
    )
    assert Follower(runs, run).end(status()).session == ""


def took_up(run: Run, number: int) -> dict[str, Any]:
    return {"type": "user", "isReplay": True, "uuid": saying_name(run.line, number), "message": {"content": "…"}}


def test_a_turn_is_over_when_its_agent_says_so_and_has_taken_up_all_that_was_said(runs: RunDesk, run: Run) -> None:
    following = Follower(runs, run)
    prints(run, took_up(run, 1), said("one"))
    following.step()
    runs.say(run.id, Spoken(what=Saying.MESSAGE, text="Wait"), by="ada")
    # The message crosses with the end of the turn: the agent will begin another with it.
    prints(run, RESULT)
    following.step()
    assert not following.turn_is_over
    # In one go, and told twice by the agent; another server hears the rest.
    prints(run, took_up(run, 2), took_up(run, 2), said("two"))
    following.step()
    assert not following.turn_is_over
    another = Follower(runs, runs.get(run.id))
    prints(run, {**RESULT, "total_cost_usd": 0.5, "user_message_uuids": [saying_name(run.line, 2)]})
    another.step()
    assert another.turn_is_over
    ended = runs.get(run.id)
    assert (ended.state, ended.token, ended.untaken) == (RunState.COMPLETED, "", 0)
    assert ended.ending == Ending(cost_usd=0.5, turns=1)
    assert texts(runs, run) == ["one", "two"]
    with pytest.raises(RunHasEnded):
        runs.say(run.id, Spoken(what=Saying.MESSAGE, text="Too late"), by="ada")


def test_what_is_queued_is_held_after_an_interrupt_also_where_the_agent_went_on_with_what_it_had_been_sent(
    runs: RunDesk, run: Run
) -> None:
    prints(run, took_up(run, 1))
    Follower(runs, run).step()
    runs.queue.add(run, "Deploy")
    runs.say(run.id, Spoken(what=Saying.MESSAGE, text="Mind the gap"), by="ada")
    runs.say(run.id, Spoken(what=Saying.INTERRUPT, text=""), by="ada")
    prints(run, {**RESULT, "is_error": True, "result": ""})
    Follower(runs, runs.get(run.id)).step()
    prints(run, took_up(run, 2), said("I mind it"), RESULT)
    Follower(runs, runs.get(run.id)).step()
    ended = runs.get(run.id)
    assert (ended.state, ended.ending and ended.ending.message) == (RunState.STOPPED, follower._WENT_ON)
    (queued,) = runs.queue.of(run.conversation)
    assert queued.is_held(ended)
    assert runs.queue.due() == []


def test_the_next_turn_of_the_same_agent_begins_where_the_last_one_ended(runs: RunDesk, run: Run) -> None:
    prints(run, took_up(run, 1), said("one"), RESULT)
    Follower(runs, run).step()
    # What the agent did of its own accord between the turns, and its end of that, is not the end of the next.
    prints(run, said("by myself"), RESULT)
    new = NewRun(project=run.project, prompt="More", token="t", conversation=run.id, line=run.id)
    second = runs.open(new, most=1)
    following = Follower(runs, second)
    following.step()
    assert not following.turn_is_over
    prints(run, took_up(run, 2), said("two"), RESULT)
    following.step()
    assert following.turn_is_over
    assert texts(runs, run) == ["one"]
    assert texts(runs, second) == ["by myself", "two"]
    assert second.folder == run.folder


def test_an_agent_says_what_it_will_not_do(runs: RunDesk, run: Run) -> None:
    asked = runs.say(run.id, Spoken(what=Saying.MODE, text="plan"), by="ada")
    reply = {"subtype": "error", "request_id": saying_name(run.line, asked.said), "error": "Not in this session"}
    prints(run, {"type": "control_response", "response": reply})
    Follower(runs, run).step()
    assert runs.get(run.id).options.permission_mode == ""
    (told,) = [event.body["text"] for event in runs.events(run.id) if event.kind is EventKind.NOTICE]
    assert told == "Claude did not do what you asked: Not in this session"


def _in_mode(mode: str) -> dict[str, Any]:
    return {"type": "system", "subtype": "status", "status": None, "permissionMode": mode}


def test_a_mode_that_the_agent_is_in_after_its_plan_was_allowed_holds_for_the_rest_and_is_told(
    runs: RunDesk, run: Run
) -> None:
    runs.choose(run.id, Spoken(what=Saying.MODE, text="plan"))
    prints(run, {"type": "system", "subtype": "status", "status": "requesting"}, _in_mode("plan"))
    prints(run, _in_mode("acceptEdits"), _in_mode("acceptEdits"))
    following = Follower(runs, run)
    following.step()
    assert runs.get(run.id).choices.permission_mode == "acceptEdits"
    told = [event.body["text"] for event in runs.events_of(run.id, EventKind.NOTICE)]
    assert told == ["Claude is in acceptEdits mode now."]


def test_no_agent_chooses_to_ask_for_nothing_nor_overrules_what_a_person_has_just_chosen(
    runs: RunDesk, run: Run
) -> None:
    prints(run, _in_mode("default"), _in_mode("bypassPermissions"), _in_mode("dontAsk"))
    Follower(runs, run).step()
    assert runs.get(run.id).choices.permission_mode == ""
    asked = runs.say(run.id, Spoken(what=Saying.MODE, text="plan"), by="ada")
    prints(run, _in_mode("acceptEdits"))
    following = Follower(runs, runs.get(run.id))
    following.step()
    assert runs.get(run.id).choices.permission_mode == "plan"
    reply = {"subtype": "success", "request_id": saying_name(run.line, asked.said), "response": {}}
    prints(run, {"type": "control_response", "response": reply}, _in_mode("plan"))
    following.step()
    prints(run, _in_mode("default"))
    following.step()
    assert runs.get(run.id).choices.permission_mode == "default"
