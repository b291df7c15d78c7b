"""One agent may have so many asks open and no more; what it is told, and that others are not in its way."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest
from tests.e2e.stdio.harness import WAIT, Place, new_place, question, text_of
from tests.postgres import Server

MOST = 5


@pytest.fixture(params=["sqlite", "postgresql"])
def narrow(request: pytest.FixtureRequest, postgres: Server) -> Iterator[Place]:
    """A machine on which agents may have few asks open."""
    if request.param == "sqlite":
        with new_place(max_open_asks=str(MOST)) as place:
            yield place
    else:
        with postgres.new_database() as store, new_place(max_open_asks=str(MOST), store=store) as place:
            yield place


@pytest.mark.finding("F-34")
def test_an_agent_that_asks_too_much_is_told_how_much_and_what_to_do(narrow: Place) -> None:
    with narrow.agent() as agent, narrow.person() as person:
        calls = [agent.ask(question(f"Number {number}?")) for number in range(MOST)]
        for number in range(MOST):
            person.wait_for_ask(f"Number {number}?")
        refused = agent.ask(question("One too many?")).result(WAIT)
        assert refused.is_error
        told = text_of(refused)
        assert f"You have {MOST} questions open, and {MOST} is the most that one agent may have." in told
        assert "was not asked" in told
        assert "max_open_asks" in told
        assert person.desk.inbox_size() == MOST
        person.answer(person.wait_for_ask("Number 0?"), "Yes")
        assert not calls[0].result(WAIT).is_error
        again = agent.ask(question("Is there room now?"))
        person.answer(person.wait_for_ask("Is there room now?"), "Yes")
        assert not again.result(WAIT).is_error


@pytest.mark.finding("F-34")
def test_another_agent_asks_while_one_has_too_much_open(narrow: Place) -> None:
    with narrow.agent() as agent, narrow.person() as person:
        for number in range(MOST):
            agent.ask(question(f"Number {number}?"))
            person.wait_for_ask(f"Number {number}?")
        assert agent.ask(question("One too many?")).result(WAIT).is_error
        other = subprocess.Popen(
            ["sh", "-c", "sayso ask 'An honest question?' --confirm; true"],
            cwd=narrow.project,
            env=narrow.environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        person.answer(person.wait_for_ask("An honest question?"), "Yes")
        assert other.communicate(timeout=WAIT)[0].strip().lower() == "yes"


@pytest.mark.finding("F-34")
def test_more_processes_of_one_agent_may_not_have_more_open(narrow: Place) -> None:
    def asks(text: str) -> subprocess.Popen[str]:
        words = ["sayso", "ask", text, "--confirm"]
        return subprocess.Popen(
            words, cwd=narrow.project, env=narrow.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    with narrow.person() as person:
        helpers = [asks(f"Helper {number}?") for number in range(MOST)]
        opened = [person.wait_for_ask(f"Helper {number}?") for number in range(MOST)]
        assert len({ask.asker.pid for ask in opened}) == MOST
        _, told = asks("One helper more?").communicate(timeout=WAIT)
        assert f"{MOST} is the most that one agent may have" in told
        for ask in opened:
            person.answer(ask, "Yes")
        for helper in helpers:
            helper.communicate(timeout=WAIT)
        with narrow.agent() as agent:
            agent.ask(question("Does a server know where it runs?"))
            assert person.wait_for_ask("Does a server know where it runs?").asker.leader
