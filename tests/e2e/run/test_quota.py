"""One agent may have so many commands under way and no more."""

from __future__ import annotations

import pytest
from tests.e2e.run.kit import background, data_of, waited_for, worker
from tests.e2e.stdio.harness import Place

MOST = 3


@pytest.mark.finding("F-34")
def test_an_agent_that_starts_too_many_commands_is_told_how_many_and_what_to_do(place: Place) -> None:
    background(place)
    waited_for(place)
    with worker(place, environment={"SAYSO_MAX_OPEN_COMMANDS": str(MOST)}) as agent:
        ids = [agent.start("bg", script="sleep 600") for _ in range(MOST)]
        refused = agent.do("bg", script="echo one too many")
        assert refused.is_error
        told = str(refused.content)
        assert f"You have {MOST} commands under way, and {MOST} is the most that one agent may have." in told
        assert "was not started" in told
        assert "max_open_commands" in told
        agent.do("cancel", id=ids[0])
        assert data_of(agent.do("fg", script="echo room"))["stdout"] == "room\n"
        for operation in ids[1:]:
            agent.do("cancel", id=operation)
