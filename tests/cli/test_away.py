"""`sayso away` and `sayso back`."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from tests.cli.program import Home, choice

from sayso.config import system_user


def test_away_is_said_wherever_asks_are_listed_until_one_is_back(home: Home) -> None:
    home.leave(choice("Which database?"))
    said = home.run("away")
    assert said.code == 0
    assert said.err.startswith("You are away since ")
    listed = home.run("list")
    assert "You are away since" in listed.err
    assert "sayso back" in listed.err
    assert "Which database?" in listed.out
    assert home.run("back").err.startswith("You are here.")
    assert "away" not in home.run("list").err


def test_away_can_have_an_end_and_is_told_to_scripts(home: Home) -> None:
    data = home.run("away", "--until", "2h", "--json").data
    assert data["away"] is True
    since, until = (datetime.fromisoformat(data[name]) for name in ("since", "until"))
    assert timedelta(hours=1) < until - since < timedelta(hours=3)
    back = home.run("back", "--json").data
    assert back["away"] is False


@pytest.mark.parametrize("when", ["noonish", ""])
def test_a_moment_that_nobody_understands_is_refused_with_those_that_are_understood(home: Home, when: str) -> None:
    ran = home.run("away", "--until", when)
    assert ran.code == 2
    assert f"{when!r} is not a moment to come" in ran.err
    assert "monday" in ran.err
    assert "away" not in home.run("list").err


@pytest.mark.parametrize("command", ["away", "back"])
def test_an_agent_cannot_say_it_for_its_person(home: Home, command: str) -> None:
    ran = home.run(command, CLAUDECODE="1")
    assert ran.code != 0
    assert "an agent may not say whether a person is there" in ran.err


def test_somebody_else_decides_meanwhile_which_is_logged_and_ends_with_it(home: Home) -> None:
    unknown = home.run("away", "--until", "2h", "--delegate", "nobody")
    assert unknown.code == 2
    assert 'nobody here is called "nobody"' in unknown.error
    assert "away" not in home.run("list").err
    assert home.run("user", "add", "bo").code == 0
    assert "--delegate takes --until" in home.run("away", "--delegate", "bo").err
    assert (
        f"bo decides in your place, where rules name {system_user()}."
        in home.run("away", "--until", "2h", "--delegate", "bo").err
    )
    (listed,) = home.run("log").out.splitlines()[1:]
    assert "delegated" in listed
    assert f"bo decides for {system_user()} → until " in listed
    assert home.run("log", "show", listed[:8]).code == 0
    assert "Nobody decides in your place any more." in home.run("back").err
    assert home.run("log", "verify").code == 0
