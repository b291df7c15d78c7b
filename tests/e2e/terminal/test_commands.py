"""The commands of a real agent in a real terminal: followed as they print, and stopped to the last process."""

from __future__ import annotations

import pytest
from tests.e2e.run.kit import background, fresh_token, gone, worker
from tests.e2e.stdio.harness import Place
from tests.e2e.terminal.harness import terminal


@pytest.mark.finding("F-68")
def test_what_an_agent_runs_is_followed_and_stopped_in_the_terminal(place: Place) -> None:
    background(place)
    background(place, "careful", approve="always")
    token, gate = fresh_token(), place.project / "gate"
    with terminal(place) as anna, worker(place, name="claude-code") as agent:
        anna.start()
        anna.sees("No questions.")
        anna.keys("r")
        anna.sees("No command has been run.")
        script = f"echo first; until test -e {gate}; do sleep 0.05; done; echo second; sleep {token} & wait"
        running = agent.start("bg", script=script)
        anna.sees("> bash -c", "running")
        anna.keys("Enter")
        anna.sees("first")
        gate.touch()
        anna.sees("second")
        anna.resize(40, 20)
        anna.keys("x")
        anna.sees("Stop bg?")
        anna.keys("Enter")
        anna.sees("cancelled")
        anna.keys("Escape")
        anna.sees("> bash -c")
        told = agent.ended(running)
        anna.resize(90, 40)
        careful = agent.start("careful", script="echo allowed")
        anna.sees("waits for your say-so")
        anna.keys("g", "Enter")
        anna.sees("Run careful?", "y allows it")
        anna.keys("y")
        anna.sees("> bash -c 'echo allowed'", "succeeded")
        assert agent.ended(careful)["stdout"] == "allowed\n"
    assert (told["status"], told["cancelled_by"]) == ("cancelled", "anna in the terminal")
    assert told["stdout"] == "first\nsecond\n"
    assert gone(token)
