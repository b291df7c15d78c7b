"""Cleaning up behind a call's back: it happens, it is told, it never holds a call up, and its failure fails nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from uuid import uuid4

import pytest
from tests.e2e.stdio.harness import WAIT, Agent, Person, Place, data_of, question

from sayso.asks.desk import AskDesk
from sayso.asks.model import Asker, Kind, NewAsk, Option, Question, Settler
from sayso.clock import now_ms
from sayso.store import open_store

LONG_AGO = 60 * 86_400_000
MANY = 800

SLOW = """
CREATE TRIGGER slow BEFORE DELETE ON asks BEGIN
    SELECT count(*) FROM (
        WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 6000) SELECT x FROM n
    );
END
"""
FAILING = "CREATE TRIGGER failing BEFORE DELETE ON asks BEGIN SELECT raise(ABORT, 'no tidying today'); END"


def put_ended_asks(place: Place, count: int) -> None:
    """Rejected sixty days ago: far beyond the seven days that ended asks are kept."""
    store = open_store(place.config())
    with closing(store):
        desk = AskDesk(store, clock=lambda: now_ms() - LONG_AGO)
        options = (Option(id="1", label="a"), Option(id="2", label="b"))
        asked = Question(id="1", text="Long ago?", kind=Kind.SELECT, options=options)
        first = desk.leave(NewAsk(tool="ask_user_questions", questions=(asked,), asker=Asker(client="old")))
        desk.reject(first.id, "", Settler(person="ada", surface="test"))
    with closing(sqlite3.connect(place.database)) as connection, connection:
        connection.execute("CREATE TEMP TABLE copy AS SELECT * FROM asks WHERE id = ?", (first.id,))
        for _ in range(count - 1):
            connection.execute("UPDATE copy SET id = ?", (uuid4().hex,))
            connection.execute("INSERT INTO asks SELECT * FROM copy")


def run_sql(place: Place, statement: str) -> None:
    with closing(sqlite3.connect(place.database)) as connection, connection:
        connection.execute(statement)


def old_asks(person: Person) -> int:
    return sum(ask.asker.client == "old" for ask in person.asks())


def ask_and_answer(agent: Agent, person: Person, text: str) -> None:
    call = agent.ask(question(text))
    person.answer(person.wait_for_ask(text), "Yes")
    assert data_of(call.result(WAIT))["outcome"] == "answered"


@pytest.mark.requirement("A-38", "A-40")
def test_a_call_cleans_up_expired_sessions_only_and_logs_how_many(mode: str, place: Place) -> None:
    put_ended_asks(place, 3)
    with place.agent(mode) as agent, place.person() as person:
        assert old_asks(person) == 3
        waiting = agent.ask(question("Still open?"))
        still_open = person.wait_for_ask("Still open?")
        ask_and_answer(agent, person, "Shall we tidy up?")
        agent.log.wait_for("Cleaned up 3 expired sessions")
        assert {ask.questions[0].text for ask in person.asks()} == {"Still open?", "Shall we tidy up?"}
        person.answer(still_open, "Yes")
        waiting.result(WAIT)


@pytest.mark.requirement("A-41")
def test_nothing_is_logged_when_there_was_nothing_to_clean_up(mode: str, place: Place) -> None:
    with place.agent(mode) as agent, place.person() as person:
        ask_and_answer(agent, person, "Is it tidy?")
    assert "lean" not in agent.log.whole()
    assert "Session completed successfully" in agent.log.whole()


@pytest.mark.requirement("A-39")
def test_calls_are_opened_and_answered_while_a_slow_cleanup_goes_on(place: Place) -> None:
    put_ended_asks(place, MANY)
    run_sql(place, SLOW)
    with place.agent() as agent, place.person() as person:
        ask_and_answer(agent, person, "The call that set it off?")
        person.wait_until(lambda: old_asks(person) < MANY or None)
        ask_and_answer(agent, person, "A call in the midst of it?")
        assert old_asks(person) > 0
        agent.log.wait_for(f"Cleaned up {MANY} expired sessions")
        assert old_asks(person) == 0
        told = [" ".join(line.split(": ", 1)[1].split()[:2]) for line in agent.log.lines]
        assert told == ["Session completed", "Session completed", "Cleaned up"]


def test_a_server_that_is_told_to_end_leaves_the_rest_of_a_slow_cleanup_for_another_time(place: Place) -> None:
    put_ended_asks(place, MANY)
    run_sql(place, SLOW)
    with place.person() as person:
        with place.agent() as agent:
            ask_and_answer(agent, person, "Shall we stop?")
            person.wait_until(lambda: old_asks(person) < MANY or None)
            agent.server.terminate()
            agent.server.wait(WAIT)
        assert agent.exit_code == 0
        assert 0 < old_asks(person) < MANY


@pytest.mark.requirement("A-42", "A-43")
def test_a_failing_cleanup_is_a_warning_and_the_call_goes_on(mode: str, place: Place) -> None:
    put_ended_asks(place, 3)
    run_sql(place, FAILING)
    with place.agent(mode) as agent, place.person() as person:
        ask_and_answer(agent, person, "Does it matter?")
        line = agent.log.wait_for("Cleaning up expired sessions failed")
        assert " WARNING " in line
        assert "no tidying today" in line
        ask_and_answer(agent, person, "Nor the second time?")
        assert old_asks(person) == 3
