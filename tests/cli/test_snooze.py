"""`sayso snooze`, and what `sayso list` says of it."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from tests.cli.program import Home, choice

from sayso.asks.model import Asker, NewAsk


def test_a_snoozed_ask_is_counted_and_not_listed_until_it_is_put_back(home: Home) -> None:
    ask, other = home.leave(choice("Which database?")), home.leave(choice("Which port?"))
    assert home.run("snooze", ask.id[:8], "1h").err.startswith("Snoozed until ")
    listed = home.run("list")
    assert "Which port?" in listed.out
    assert "Which database?" not in listed.out
    assert "1 snoozed: sayso list --snoozed" in listed.err
    assert home.run("list", "--count").out.strip() == "1"
    assert "You have snoozed it until " in home.run("show", ask.id).out
    assert home.run("show", ask.id, "--json").data["snoozed_until"]
    assert home.run("show", other.id, "--json").data["snoozed_until"] is None
    snoozed = home.run("list", "--snoozed")
    assert snoozed.out.splitlines()[0].split()[:3] == ["ID", "AGE", "BACK"]
    assert "Which database?" in snoozed.out
    assert other.id[:8] not in snoozed.out
    assert "It is back in your inbox." in home.run("snooze", ask.id[:8], "--end").err
    assert "It was not snoozed." in home.run("snooze", ask.id[:8], "--end").err
    assert "Which database?" in home.run("list").out
    assert "Nothing is snoozed." in home.run("list", "--snoozed").err


def test_scripts_are_told_when_it_comes_back_and_a_day_means_its_morning(home: Home) -> None:
    ask = home.leave(choice("Which database?"))
    data = home.run("snooze", ask.id[:8], "tomorrow", "--json").data
    assert data["id"] == ask.id
    assert datetime.fromisoformat(data["snoozed_until"]).hour == 8
    (listed,) = home.run("list", "--snoozed", "--json").data
    assert listed["snoozed_until"] == data["snoozed_until"]


def test_it_comes_back_before_its_agent_stops_waiting(home: Home) -> None:
    with home.desk() as desk:
        limited = NewAsk(tool="t", questions=(choice(),), asker=Asker(client="codex"), timeout_ms=3_600_000)
        desk.hold(limited)
        until = home.run("snooze", desk.inbox()[0].id[:8], "1d", "--json").data["snoozed_until"]
        assert datetime.fromisoformat(until) - datetime.now().astimezone() < timedelta(minutes=55)


@pytest.mark.parametrize("when", ["noonish", "-1h"])
def test_a_moment_that_nobody_understands_is_refused(home: Home, when: str) -> None:
    ask = home.leave(choice())
    ran = home.run("snooze", ask.id[:8], "--", when)
    assert ran.code == 2
    assert f"{when!r} is not a moment to come" in ran.err
    assert "snoozed" not in home.run("list").err


def test_an_agent_cannot_put_off_what_its_person_is_asked(home: Home) -> None:
    ask = home.leave(choice())
    ran = home.run("snooze", ask.id[:8], CLAUDECODE="1")
    assert ran.code == 5
    assert "an agent may not put off what a person is asked" in ran.err
    assert "snoozed" not in home.run("list").err
