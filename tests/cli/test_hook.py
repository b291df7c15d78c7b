"""`sayso hook`: an answer that came after its call had ended reaches its agent at the next step, once."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import subprocess
from typing import Any

import pytest
from tests.cli.program import SECONDS, SOMEONE, Home, Ran, text

from sayso.asks.model import Answer, Ask, Asker, Question
from sayso.processes import name_of
from sayso.records import replace

LONG = "x" * 20_000


def agent(home: Home, **more: Any) -> Asker:
    """Claude Code in the project, by now gone."""
    return replace(Asker(client="claude-code", project=str(home.project), host=socket.gethostname()), **more)


def asked(home: Home, asker: Asker, question: str = "Which port?") -> Ask:
    return home.leave(Question(id="1", text=question), asker=asker)


def answered(home: Home, ask: Ask, answer: str = "8080") -> None:
    with home.desk() as desk:
        desk.answer(ask.id, [Answer(question="1", text=answer)], SOMEONE)


def step(home: Home, event: str = "PostToolUse", **more: str) -> Ran:
    given = {"hook_event_name": event, "cwd": str(home.project), "session_id": "s-1", **more}
    ran = home.run("hook", stdin=json.dumps(given))
    assert (ran.code, ran.err) == (0, "")
    return ran


def context(ran: Ran, event: str = "PostToolUse") -> str:
    output = ran.data["hookSpecificOutput"]
    assert output["hookEventName"] == event
    return str(output["additionalContext"])


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "PostToolUse"])
def test_an_answer_that_came_late_is_handed_over_once(home: Home, event: str) -> None:
    ask = asked(home, agent(home, session="s-0"))
    assert step(home, event).out == ""
    answered(home, ask)
    told = context(step(home, event), event)
    assert "Which port?" in told
    assert "→ 8080" in told
    assert "Another session, not you, asked this" in told
    assert home.ask_of(ask).delivered
    assert step(home, event).out == ""


def test_of_many_steps_at_the_same_time_one_tells_the_answer(home: Home) -> None:
    answered(home, asked(home, agent(home)))
    event = json.dumps({"hook_event_name": "PostToolUse", "cwd": str(home.project)})
    steps = [home.start("hook", stdin=subprocess.PIPE) for _ in range(6)]
    told = [one.communicate(event, timeout=SECONDS)[0] for one in steps]
    assert sum("8080" in text for text in told) == 1


def test_a_refusal_is_handed_over_with_its_reason(home: Home) -> None:
    ask = asked(home, agent(home))
    with home.desk() as desk:
        desk.reject(ask.id, "not before the release", SOMEONE)
    assert "not before the release" in context(step(home))


def test_other_projects_clients_machines_and_living_sessions_keep_their_answers(home: Home) -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as at_work:
        other = name_of(at_work.pid)
        assert other is not None
        for asker in (
            agent(home, project="/elsewhere"),
            agent(home, client="codex-mcp-client"),
            agent(home, host="another-host"),
            agent(home, session="s-2", pid=other.pid, started=other.started),
        ):
            answered(home, asked(home, asker))
        assert step(home).out == ""


def test_an_agent_gets_its_own_and_those_of_the_dead_but_not_those_of_another_that_lives(home: Home) -> None:
    ours = name_of(os.getpid())
    assert ours is not None
    mine = agent(home, pid=ours.pid, started=ours.started)
    gone = agent(home, pid=ours.pid, started="another moment", session="s-0")
    for question, asker in (("Mine?", mine), ("Of the dead?", gone), ("By session?", agent(home, session="s-1"))):
        answered(home, asked(home, asker, question))
    told = context(step(home))
    assert all(question in told for question in ("Mine?", "Of the dead?", "By session?"))


def test_an_answer_too_long_for_a_hook_is_only_announced_and_stays(home: Home) -> None:
    ask = asked(home, agent(home))
    answered(home, ask, LONG)
    told = context(step(home))
    assert ask.id in told
    assert "get_answers" in told
    assert not home.ask_of(ask).delivered


def test_many_answers_come_in_portions(home: Home) -> None:
    asks = [asked(home, agent(home), f"Question {number}?") for number in range(3)]
    for ask in asks:
        answered(home, ask, "y" * 3000)
    told = [context(step(home)) for _ in range(3)]
    assert [f"Question {number}?" in text for number, text in enumerate(told)] == [True] * 3
    assert step(home).out == ""


@pytest.mark.parametrize("stdin", ["", "{", "[]", '{"cwd": "/nowhere"}', '{"cwd": 7}'])
def test_whatever_it_is_given_it_neither_fails_nor_speaks(home: Home, stdin: str) -> None:
    home.leave(text())
    ran = home.run("hook", stdin=stdin)
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_a_store_that_does_not_work_does_not_trouble_the_agent(home: Home) -> None:
    home.state.mkdir()
    (home.state / "sayso.db").write_bytes(b"no store" * 1000)
    assert step(home).out == ""


def test_a_store_that_is_busy_does_not_keep_the_agent_waiting(home: Home) -> None:
    answered(home, asked(home, agent(home)))
    with sqlite3.connect(home.state / "sayso.db", isolation_level=None) as busy:
        busy.execute("BEGIN IMMEDIATE")
        assert step(home).out == ""
        busy.execute("ROLLBACK")
    busy.close()
    assert "→ 8080" in context(step(home))


def test_without_a_store_nothing_is_made(home: Home) -> None:
    assert step(home).out == ""
    assert not home.state.exists()
