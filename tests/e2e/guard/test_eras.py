"""The SDK's client and the SDK's server with a guard between them, in both eras of the protocol."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from tests.e2e.clients.process import wait_until
from tests.e2e.guard.conftest import REFERENCE, GuardedPlace, accept, allow, wanted
from tests.e2e.stdio.harness import MODES, WAIT, Agent, Person, data_of, new_place


async def fill_in(context: Any, params: Any) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"name": "Ada"})


@pytest.fixture(scope="module")
def site() -> Iterator[GuardedPlace]:
    with new_place(heartbeat="100ms") as place:
        site = GuardedPlace(place)
        site.server = [sys.executable, str(REFERENCE)]
        yield site


@pytest.fixture(scope="module")
def person(site: GuardedPlace) -> Iterator[Person]:
    with site.person() as person:
        yield person


@pytest.fixture(scope="module", params=MODES)
def agent(request: pytest.FixtureRequest, site: GuardedPlace, person: Person) -> Iterator[Agent]:
    """A client of the SDK's own server, whose tools a person has accepted. All tests of an era have the same: to start
    that server takes a second."""
    for accepted in (site.state / "guarded").glob("*.json"):
        accepted.unlink()
    with site.agent(request.param, form=fill_in) as agent:
        assert agent.tools() == []
        accept(person)
        assert wait_until(lambda: bool(agent.tools()), WAIT)
        yield agent


@pytest.fixture
def rules(site: GuardedPlace) -> Iterator[Path]:
    rules = site.home / ".config" / "sayso" / "rules.toml"
    rules.parent.mkdir(parents=True, exist_ok=True)
    yield rules
    rules.unlink()


def test_a_guarded_server_works_as_it_does_alone(agent: Agent, person: Person) -> None:
    echo = agent.call("echo", {"text": "hello"})
    _, action = wanted(person, "echo")
    assert action.data["input"] == {"text": "hello"}
    allow(person, "echo")
    assert data_of(echo.result(WAIT))["text"] == "hello"

    form = agent.call("ask", {})
    allow(person, "ask")
    assert data_of(form.result(WAIT)) == {"action": "accept", "content": {"name": "Ada"}}

    grown = agent.call("grow", {})
    allow(person, "grow")
    assert data_of(grown.result(WAIT)) == {"tools": 9}
    agent.tools()  # a client of 2026-07-28 hears of it only where it listens
    changed, action = wanted(person, "tools of plain")
    assert list(action.data["tools"]) == ["grown"]
    person.reject(changed, "no more tools")


def test_rules_decide_about_the_tools_of_a_guarded_server(rules: Path, agent: Agent, person: Person) -> None:
    rules.write_text(
        '[[rule]]\nallow = ["mcp__plain__echo"]\n[[rule]]\ndeny = ["mcp__plain__say"]\nbecause = "Quiet."\n'
    )
    assert data_of(agent.call("echo", {"text": "hello"}).result(WAIT))["text"] == "hello"
    denied = agent.call("say", {"text": "x"}).result(WAIT)
    assert denied.is_error
    assert "Quiet." in str(denied.content)
    assert person.desk.inbox() == []


def test_a_call_that_was_allowed_is_cancelled_at_the_server(agent: Agent, person: Person) -> None:
    waiting = agent.call("wait", {"label": "long"})
    allow(person, "wait")
    denied = agent.call("say", {"text": "x"})
    person.reject(wanted(person, "say")[0], "be quiet")
    assert denied.result(WAIT).is_error
    waiting.cancel()
    agent.log.wait_for("wait cancelled: long")
